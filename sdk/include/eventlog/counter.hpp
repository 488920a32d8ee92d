// SPDX-License-Identifier: MIT
//
// eventlog::counter: a number that goes up and down, and says so.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <eventlog/detail/members.hpp>
#include <eventlog/provider.hpp>
#include <eventlog/session.hpp>
#include <eventlog/traits.hpp>

namespace eventlog {

/// Keeps a number and emits Event, whose only field it is, whenever it changes.
///
///     struct queue_length { std::int64_t requests; };
///     template <>
///     inline constexpr eventlog::event_traits eventlog::traits_of<queue_length>{
///         .kind = eventlog::kind::counter};
///     using shop = eventlog::provider<"shop", queue_length>;
///     constinit eventlog::counter<shop, queue_length> queue;
///
///     queue.add(1);
///
/// Any thread and any signal handler. Two changes at the same time may be emitted in either order,
/// each with the value that it made. The child of a fork() goes on from the number that it was,
/// with a copy of its own.
///
/// Where the event is session-bound, there is a counter for each session, and it is made with the
/// session in front of the value that it begins with, as in in_flight(connection, 0). It remembers
/// the number alone, so the session may be moved, or end, before the counter does.
template <class Provider, class Event>
class counter {
    static_assert(traits_of<Event>.kind == kind::counter,
                  "eventlog: the event of a counter says so: .kind = eventlog::kind::counter in "
                  "eventlog::traits_of.");
    static_assert(detail::member_count<Event> == 1,
                  "eventlog: the event of a counter has one field, the number.");

    static constexpr bool in_session = traits_of<Event>.session_bound;

  public:
    /// What the event's field is.
    using number = detail::first_member_of<Event>;
    static_assert(std::is_integral_v<number> && !std::is_same_v<number, bool> &&
                      std::atomic<number>::is_always_lock_free,
                  "eventlog: a counter's number is an integer.");

    /// Begins with 0, or with `value`. Emits nothing, so it may be constinit.
    constexpr counter() noexcept : counter(number{}) {}
    constexpr explicit counter(number value) noexcept : value_(value) {
        static_assert(!in_session,
                      "eventlog: the event of this counter belongs to a session. Make the counter "
                      "with the eventlog::session object in front of its value.");
    }
    /// The same, of one session.
    explicit counter(const session<Provider>& owner, number value = {}) noexcept
        : session_(owner.id()), value_(value) {
        static_assert(in_session,
                      "eventlog: the event of this counter does not belong to a session. Make the "
                      "counter without one, or say .session_bound = true in eventlog::traits_of.");
    }

    /// Adds, in one step, and emits the sum. Past its largest number it goes on with its smallest,
    /// as atomic integers do. Waits for nobody.
    void add(number difference) noexcept {
        // Without a sign, in which a sum may leave the range.
        using bits = std::make_unsigned_t<number>;
        const number before = value_.fetch_add(difference, std::memory_order_relaxed);
        emit_value(static_cast<number>(
            static_cast<bits>(static_cast<bits>(before) + static_cast<bits>(difference))));
    }
    /// Becomes `value`, and emits it, also if it was that before. Waits for nobody.
    void set(number value) noexcept {
        value_.store(value, std::memory_order_relaxed);
        emit_value(value);
    }
    /// The number at this moment. Emits nothing.
    [[nodiscard]] number value() const noexcept { return value_.load(std::memory_order_relaxed); }

    /// Says the present value once more: for on_dump.
    void announce() const noexcept { emit_value(value()); }

  private:
    [[gnu::always_inline]] void emit_value(number value) const noexcept {
        if constexpr (in_session) {
            Provider::emit_in_session(session_, Event{value});
        } else {
            Provider::emit(Event{value});
        }
    }

    std::uint64_t session_ = 0;
    std::atomic<number> value_;
};

}  // namespace eventlog
