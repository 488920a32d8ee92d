// SPDX-License-Identifier: MIT
//
// eventlog::counter: a number that goes up and down, and says so.
#pragma once

#include <atomic>
#include <type_traits>
#include <utility>

#include <eventlog/detail/members.hpp>
#include <eventlog/provider.hpp>
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
/// each with the value that it made.
template <class Provider, class Event>
class counter {
    static_assert(traits_of<Event>.kind == kind::counter,
                  "eventlog: the event of a counter says so: .kind = eventlog::kind::counter in "
                  "eventlog::traits_of.");
    static_assert(detail::member_count<Event> == 1,
                  "eventlog: the event of a counter has one field, the number.");

  public:
    using number = detail::first_member_of<Event>;
    static_assert(std::is_integral_v<number> && std::atomic<number>::is_always_lock_free,
                  "eventlog: a counter's number is an integer.");

    constexpr counter() noexcept = default;
    constexpr explicit counter(number value) noexcept : value_(value) {}

    void add(number difference) noexcept {
        tell(static_cast<number>(value_.fetch_add(difference, std::memory_order_relaxed) +
                                 difference));
    }
    void set(number value) noexcept {
        value_.store(value, std::memory_order_relaxed);
        tell(value);
    }
    [[nodiscard]] number value() const noexcept { return value_.load(std::memory_order_relaxed); }

    /// Says the present value once more: for on_dump.
    void announce() const noexcept { tell(value()); }

  private:
    [[gnu::always_inline]] static void tell(number value) noexcept { Provider::emit(Event{value}); }

    std::atomic<number> value_{0};
};

}  // namespace eventlog
