// SPDX-License-Identifier: MIT
//
// eventlog::timed_scope: emits one event with the duration of a scope.
#pragma once

#include <time.h>

#include <cstdint>
#include <type_traits>
#include <utility>

#include <eventlog/detail/field_types.hpp>
#include <eventlog/detail/names.hpp>
#include <eventlog/detail/push_emit.h>
#include <eventlog/provider.hpp>
#include <eventlog/session.hpp>
#include <eventlog/wrappers.hpp>

namespace eventlog {
inline namespace v0 {

namespace detail {

/// The clock of std::chrono::steady_clock, in nanoseconds.
[[nodiscard, gnu::visibility("hidden")]] inline std::int64_t steady_nanoseconds() noexcept {
    timespec time{};
    static_cast<void>(::clock_gettime(CLOCK_MONOTONIC, &time));
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// Whether a field refers to memory that it does not own.
template <class Field>
inline constexpr bool is_borrowed =
    variable_field<remove_optional_t<Field>> && !string_field<remove_optional_t<Field>>;

/// Whether a member of the struct, or of a struct in it, is borrowed.
template <class Struct, class Types = member_types<Struct>>
inline constexpr bool borrows_memory = false;

template <class Member>
inline constexpr bool is_borrowed_member = is_borrowed<Member>;
template <nested_field Member>
inline constexpr bool is_borrowed_member<Member> = borrows_memory<Member>;

template <class Struct, class... Members>
inline constexpr bool borrows_memory<Struct, type_list<Members...>> = (false || ... ||
                                                                       is_borrowed_member<Members>);

/// What a timed scope keeps until its end: an event, or a callable that makes it.
template <class Provider, class Source>
struct scope_source {
    using event = Source;
    static_assert(!borrows_memory<Source>,
                  "eventlog: this event refers to text or bytes, which may not live until the end "
                  "of the timed scope. Pass a callable that returns the event; it is called at "
                  "the end.");
};
template <class Provider, class Source>
requires(std::is_invocable_v<Source&> &&
         !Provider::template lists<timed<Source>>) struct scope_source<Provider, Source> {
    using event = std::remove_cvref_t<std::invoke_result_t<Source&>>;
};

}  // namespace detail

/// Emits a timed event with the time from the object's construction to its end. Made by
/// provider::time() and session::time():
///
///     struct query { std::uint32_t rows; };
///     struct statement { std::string_view sql; std::uint32_t rows; };
///     using database = eventlog::provider<"database", eventlog::timed<query>,
///                                         eventlog::timed<statement>>;
///
///     auto scope = database::time(query{});
///     scope.event().rows = run(sql);
///
/// An event with texts is made at the end, by a callable, whose references must live until then:
///
///     auto scope = database::time([&] { return statement{sql, rows}; });
///
/// Without a listener at the begin nothing is emitted, and no clock is read: the begin is one load
/// and a branch. A callable that throws ends the program, if a listener was there.
///
/// An object belongs to one thread at a time. It may be moved to another thread, which then emits
/// the event. Construction and end take no lock and do not allocate. The child of a fork() has a
/// copy: if it is destroyed there, the child emits the event, too.
template <class Provider, class Source, bool InSession>
class [[nodiscard]] timed_scope {
    using event_type = typename detail::scope_source<Provider, Source>::event;
    static_assert(Provider::template lists<timed<event_type>>,
                  "eventlog: this event is not timed in this provider. Write eventlog::timed<...> "
                  "around it in the provider's list.");
    static_assert(InSession || !event_info_of<event_type>.session_bound,
                  "eventlog: this timed event belongs to a session. Call time() of the "
                  "eventlog::session object.");
    static_assert(!InSession || event_info_of<event_type>.session_bound,
                  "eventlog: this timed event does not belong to a session. Call time() of the "
                  "provider, or set .session_bound = true in its eventlog::event_info.");
    static constexpr bool keeps_event = std::is_same_v<event_type, Source>;

  public:
    /// Called by provider::time() and session::time().
    [[gnu::visibility("hidden")]] explicit timed_scope(Source source,
                                                       std::uint64_t session = 0) noexcept
        : source_(std::move(source)), session_(session) {
        if (Provider::template enabled<event_type>()) [[unlikely]] {
            began_ = detail::steady_nanoseconds();
        }
    }
    /// Calls end().
    [[gnu::visibility("hidden")]] ~timed_scope() { end(); }
    /// The other object has ended, without an event.
    [[gnu::visibility("hidden")]] timed_scope(timed_scope&& other) noexcept
        : source_(std::move(other.source_)),
          session_(other.session_),
          began_(std::exchange(other.began_, 0)) {}
    timed_scope& operator=(timed_scope&&) = delete;
    timed_scope(const timed_scope&) = delete;
    timed_scope& operator=(const timed_scope&) = delete;

    /// The event that will be emitted, to fill in what is known later.
    [[nodiscard]] Source& event() noexcept requires keeps_event { return source_; }

    /// Emits the event before the destruction. Does nothing if the scope has ended.
    [[gnu::visibility("hidden")]] void end() noexcept {
        if (began_ != 0) [[unlikely]] {
            const std::int64_t duration = detail::steady_nanoseconds() - std::exchange(began_, 0);
            if constexpr (keeps_event) {
                emit(detail::make_timed<event_type>(duration, source_));
            } else {
                emit(detail::make_timed<event_type>(duration, source_()));
            }
        }
    }
    /// Ends the scope without an event.
    void cancel() noexcept { began_ = 0; }

  private:
    [[gnu::visibility("hidden")]] void emit(const timed<event_type>& ended) const noexcept {
        if constexpr (InSession) {
            detail::session_access::emit<Provider>(session_, ended);
        } else {
            Provider::emit(ended);
        }
    }

    Source source_;
    std::uint64_t session_;
    std::int64_t began_ = 0;  // 0: not begun, or ended
};

}  // namespace v0
}  // namespace eventlog

#include <eventlog/detail/pop_emit.h>
