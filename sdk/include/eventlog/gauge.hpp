// SPDX-License-Identifier: MIT
//
// provider::gauge<Event>: a number that emits an event whenever it changes.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <eventlog/detail/members.hpp>
#include <eventlog/detail/push_emit.h>
#include <eventlog/metadata.hpp>
#include <eventlog/provider.hpp>
#include <eventlog/session.hpp>

namespace eventlog {
inline namespace v0 {

/// Holds a number and emits Event, whose only field it is, whenever it changes. Programs name it
/// provider::gauge<Event>:
///
///     struct queue_length { std::int64_t requests; };
///     using shop = eventlog::provider<"shop", eventlog::gauge<queue_length>>;
///     constinit shop::gauge<queue_length> queue;
///
///     queue.add(1);
///
/// Any thread and any signal handler. Two concurrent changes may be emitted in either order, each
/// with the value that it made. The child of a fork() continues with a copy.
///
/// If the event is session-bound, each session has a gauge of its own. The session is the first
/// argument, in front of the initial value, as in in_flight(connection, 0). The gauge keeps only
/// its number, so the session may be moved, or end, before the gauge does.
template <class Provider, class Event>
class gauge_object {
    static_assert(Provider::template lists<gauge<Event>>,
                  "eventlog: this event is not a gauge of this provider. Write "
                  "eventlog::gauge<...> around it in the provider's list.");
    static_assert(detail::member_count<Event> == 1,
                  "eventlog: the event of a gauge must have exactly one field, the number.");

    static constexpr bool in_session = event_info_of<Event>.session_bound;

  public:
    /// The type of the event's field.
    using number = detail::first_member_of<Event>;
    static_assert(std::is_integral_v<number> && !std::is_same_v<number, bool> &&
                      __atomic_always_lock_free(sizeof(number), nullptr),
                  "eventlog: a gauge's number must be an integer.");

    /// The initial value is 0 or `value`. Emits nothing, so a gauge may be constinit.
    constexpr gauge_object() noexcept : gauge_object(number{}) {}
    constexpr explicit gauge_object(number value) noexcept : value_(value) {
        static_assert(!in_session, "eventlog: the event of this gauge belongs to a session. Pass "
                                   "the eventlog::session object in front of the value.");
    }
    /// A gauge in a session.
    explicit gauge_object(const session<Provider>& owner, number value = {}) noexcept
        : session_(owner.id()), value_(value) {
        static_assert(
            in_session,
            "eventlog: the event of this gauge does not belong to a session. Construct the "
            "gauge without one, or set .session_bound = true in its eventlog::event_info.");
    }

    ~gauge_object() = default;
    gauge_object(const gauge_object&) = delete;
    gauge_object& operator=(const gauge_object&) = delete;

    /// Adds atomically and emits the sum. Wraps around, as atomic integers do. Does not wait.
    [[gnu::visibility("hidden")]] void add(number difference) noexcept {
        // Unsigned, because signed overflow is undefined.
        using bits = std::make_unsigned_t<number>;
        const number before = __atomic_fetch_add(&value_, difference, __ATOMIC_RELAXED);
        emit_value(static_cast<number>(
            static_cast<bits>(static_cast<bits>(before) + static_cast<bits>(difference))));
    }
    /// Stores `value` and emits it, also if it has not changed. Does not wait.
    [[gnu::visibility("hidden")]] void set(number value) noexcept {
        __atomic_store_n(&value_, value, __ATOMIC_RELAXED);
        emit_value(value);
    }
    /// The current number. Emits nothing.
    [[nodiscard]] number value() const noexcept {
        return __atomic_load_n(&value_, __ATOMIC_RELAXED);
    }

    /// Emits the current number, for the callback of on_new_listener.
    [[gnu::visibility("hidden")]] void emit_current() const noexcept { emit_value(value()); }

  private:
    [[gnu::always_inline]] void emit_value(number value) const noexcept {
        if constexpr (in_session) {
            detail::session_access::emit<Provider>(session_, Event{value});
        } else {
            Provider::emit(Event{value});
        }
    }

    std::uint64_t session_ = 0;
    // Accessed by the compiler's builtins: <atomic> would add three quarters to the time that
    // eventlog.hpp takes to compile.
    alignas(sizeof(number)) number value_;
};

}  // namespace v0
}  // namespace eventlog

#include <eventlog/detail/pop_emit.h>
