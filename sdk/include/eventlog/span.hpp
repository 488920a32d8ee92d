// SPDX-License-Identifier: MIT
//
// eventlog::span: an activity with a duration.
#pragma once

#include <time.h>

#include <cstdint>

#include <eventlog/detail/members.hpp>
#include <eventlog/detail/values.hpp>
#include <eventlog/metadata.hpp>
#include <eventlog/provider.hpp>
#include <eventlog/session.hpp>

namespace eventlog {

/// Emits Begin when it is constructed and End when it is destroyed. The first field of End is a
/// std::chrono::nanoseconds, which the span fills in; the caller fills in the remaining fields
/// through result().
///
///     struct query_begin { std::string_view sql; };
///     struct query_end { std::chrono::nanoseconds took; std::uint32_t rows; };
///     template <>
///     inline constexpr eventlog::event_info eventlog::event_info_of<query_begin>{
///         .kind = eventlog::kind::begin};
///     template <>
///     inline constexpr eventlog::event_info eventlog::event_info_of<query_end>{
///         .kind = eventlog::kind::end};
///     using database = eventlog::provider<"database", query_begin, query_end>;
///
///     eventlog::span<database, query_begin, query_end> span(query_begin{sql});
///     span.result().rows = run(sql);
///
/// Both ends test for listeners separately: a listener may receive End without Begin. The clock is
/// read at the begin only if End has a listener then; a listener that appears in between receives a
/// duration of 0.
///
/// If both events are session-bound, the session is the first argument, as in span(client,
/// query_begin{sql}). The span keeps only its number, so the session may be moved, or end, before
/// the span does.
///
/// An object belongs to one thread at a time. Construction and destruction take no lock and do not
/// allocate; otherwise they have the contract of Provider::emit.
///
/// The child of a fork() has a copy. If the copy is destroyed, it emits End a second time, as an
/// event of the child. A child that leaves by exec or _exit does not.
template <class Provider, class Begin, class End>
class [[nodiscard]] span {
    static_assert(event_info_of<Begin>.kind == kind::begin && event_info_of<End>.kind == kind::end,
                  "eventlog: the events of a span must have .kind = eventlog::kind::begin and "
                  "eventlog::kind::end in eventlog::event_info_of.");
    static_assert(event_info_of<Begin>.session_bound == event_info_of<End>.session_bound,
                  "eventlog: only one of the events of a span belongs to a session. Set "
                  ".session_bound = true in the eventlog::event_info of both, or for neither.");
    using duration = detail::first_member_of<End>;
    static_assert(detail::is_nanoseconds<duration>,
                  "eventlog: the first field of an event that ends a span must be its duration, a "
                  "std::chrono::nanoseconds.");

    static constexpr bool in_session = event_info_of<Begin>.session_bound;

  public:
    /// Emits `begin`. Any thread, any signal handler, any child of a fork().
    explicit span(Begin begin) noexcept {
        static_assert(!in_session, "eventlog: the events of this span belong to a session. Pass "
                                   "the eventlog::session object in front of the event.");
        start();
        Provider::emit(begin);
    }
    /// Emits `begin` in a session.
    span(const session<Provider>& owner, Begin begin) noexcept : session_(owner.id()) {
        static_assert(
            in_session,
            "eventlog: the events of this span do not belong to a session. Construct the "
            "span without one, or set .session_bound = true in its eventlog::event_info.");
        start();
        Provider::emit_in_session(session_, begin);
    }
    /// Emits result() with the duration.
    ~span() {
        if (Provider::template enabled<End>()) {
            detail::first_member(end_) = duration{began_ == 0 ? 0 : now() - began_};
            if constexpr (in_session) {
                Provider::emit_in_session(session_, end_);
            } else {
                Provider::emit(end_);
            }
        }
    }
    span(const span&) = delete;
    span& operator=(const span&) = delete;

    /// The fields of End. Texts must live until the span ends.
    [[nodiscard]] End& result() noexcept { return end_; }

  private:
    void start() noexcept {
        if (Provider::template enabled<End>()) {
            began_ = now();
        }
    }
    /// The clock of std::chrono::steady_clock, in nanoseconds.
    [[nodiscard]] static std::int64_t now() noexcept {
        timespec time{};
        static_cast<void>(::clock_gettime(CLOCK_MONOTONIC, &time));
        return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    }

    std::uint64_t session_ = 0;
    std::int64_t began_ = 0;
    End end_{};
};

}  // namespace eventlog
