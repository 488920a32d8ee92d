// SPDX-License-Identifier: MIT
//
// eventlog::dynamic_timed_scope: emits one event with the duration of a scope, of a provider that
// is defined at run time.
#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <eventlog/detail/dynamic_value.hpp>
#include <eventlog/detail/push_emit.h>
#include <eventlog/eventlog.h>

namespace eventlog {
inline namespace v0 {

/// The counterpart of eventlog::timed_scope for providers that are defined at run time. The event's
/// first field is EVENTLOG_DURATION_FIELD (timed_scope.h); the values are those of the fields
/// behind it. Made by dynamic_provider::time() and dynamic_session::time():
///
///     auto scope = database.time(query, std::uint32_t{0});
///     std::get<0>(scope.values()) = run_query();
///
/// Values with texts or bytes are made at the end, by a callable that returns a std::tuple, whose
/// references must live until then:
///
///     auto longer = database.time(statement, [&] { return std::tuple(sql, rows); });
///
/// Without a listener at the begin nothing is emitted, no clock is read and the callable is not
/// called. A callable that throws ends the program, if a listener was there.
///
/// An object belongs to one thread at a time. It may be moved to another thread, which then emits
/// the event. The provider must outlive it. Construction and end take no lock and do not allocate.
/// The child of a fork() has a copy: if it is destroyed there, the child emits the event, too.
template <class Source>
class [[nodiscard]] dynamic_timed_scope {
    static constexpr bool keeps_values = detail::is_tuple<Source>;

  public:
    /// Called by time(); `begun` has begun.
    dynamic_timed_scope(const eventlog_timed_scope& begun, Source source) noexcept
        : scope_(begun), source_(std::move(source)) {}
    /// Calls end().
    ~dynamic_timed_scope() { static_cast<void>(end()); }
    /// The other object has ended, without an event.
    dynamic_timed_scope(dynamic_timed_scope&& other) noexcept
        : scope_(other.scope_), source_(std::move(other.source_)) {
        other.cancel();
    }
    dynamic_timed_scope& operator=(dynamic_timed_scope&&) = delete;
    dynamic_timed_scope(const dynamic_timed_scope&) = delete;
    dynamic_timed_scope& operator=(const dynamic_timed_scope&) = delete;

    /// The values that will be emitted, in a std::tuple, to fill in what is known later.
    [[nodiscard]] Source& values() noexcept requires keeps_values { return source_; }

    /// Emits the event before the destruction, with the errors of eventlog_timed_scope_end. Does
    /// nothing, without an error, if the scope has ended or had no listener.
    eventlog_error end() noexcept {
        if (!eventlog_timed_scope_is_measured(&scope_)) {
            return EVENTLOG_ERROR_NONE;
        }
        const auto emit = [this](const auto&... values) noexcept {
            const eventlog_value list[] = {detail::dynamic_value(values)..., eventlog_absent()};
            return eventlog_timed_scope_end(&scope_, list, sizeof...(values));
        };
        if constexpr (keeps_values) {
            return std::apply(emit, source_);
        } else {
            eventlog_timed_scope_stop(&scope_);
            return detail::emit_tuple(source_, emit);
        }
    }
    /// Ends the scope without an event.
    void cancel() noexcept { eventlog_timed_scope_cancel(&scope_); }

  private:
    eventlog_timed_scope scope_;
    Source source_;
};

namespace detail {

template <class Type>
inline constexpr bool is_span = false;
template <class Element, std::size_t Extent>
inline constexpr bool is_span<std::span<Element, Extent>> = true;

/// Whether a value refers to memory that it does not own.
template <class Value>
inline constexpr bool is_borrowed_value = std::is_same_v<Value, eventlog_value> ||
                                          (!std::is_same_v<Value, std::string> &&
                                           std::is_convertible_v<const Value&, std::string_view>) ||
                                          is_span<Value>;
template <class Value>
inline constexpr bool is_borrowed_value<std::optional<Value>> = is_borrowed_value<Value>;

/// A scope that keeps values.
template <class... Values>
auto make_timed_scope(const eventlog_timed_scope& begun, Values... values) noexcept {
    static_assert(!(false || ... || is_borrowed_value<Values>),
                  "eventlog: a value refers to text or bytes, which may not live until the end of "
                  "the timed scope. Pass a callable that returns a std::tuple of the values; it is "
                  "called at the end.");
    return dynamic_timed_scope<std::tuple<Values...>>(begun,
                                                      std::tuple<Values...>(std::move(values)...));
}

/// A scope that keeps a callable.
template <std::invocable Maker>
auto make_timed_scope(const eventlog_timed_scope& begun, Maker make) noexcept {
    return dynamic_timed_scope<Maker>(begun, std::move(make));
}

}  // namespace detail
}  // namespace v0
}  // namespace eventlog

#include <eventlog/detail/pop_emit.h>
