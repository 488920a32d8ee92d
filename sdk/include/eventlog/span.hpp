// SPDX-License-Identifier: MIT
//
// eventlog::span: something that begins, lasts and ends.
#pragma once

#include <time.h>

#include <cstdint>

#include <eventlog/detail/members.hpp>
#include <eventlog/detail/values.hpp>
#include <eventlog/provider.hpp>
#include <eventlog/session.hpp>
#include <eventlog/traits.hpp>

namespace eventlog {

/// Emits Begin when it is made and End when it is destroyed. The first field of End is a
/// std::chrono::nanoseconds, which the span fills in; the others are filled in through result().
///
///     struct query_begin { std::string_view sql; };
///     struct query_end { std::chrono::nanoseconds took; std::uint32_t rows; };
///     template <>
///     inline constexpr eventlog::event_traits eventlog::traits_of<query_begin>{
///         .kind = eventlog::kind::begin};
///     template <>
///     inline constexpr eventlog::event_traits eventlog::traits_of<query_end>{
///         .kind = eventlog::kind::end};
///     using database = eventlog::provider<"database", query_begin, query_end>;
///
///     eventlog::span<database, query_begin, query_end> span(query_begin{sql});
///     span.result().rows = run(sql);
///
/// Whether anyone listens is asked at both ends: a span that nobody heard begin can be heard end.
/// The clock is read only if somebody listens to End when it begins; a listener that comes in
/// between gets a duration of 0.
///
/// Where both events are session-bound, the span is made in a session, whose number they carry: the
/// session comes first, as in span(client, query_begin{sql}).
///
/// It remembers the number alone, so the session may be moved, or end, before the span does. An
/// object belongs to one thread at a time. It is made and destroyed without a lock and without
/// allocating; what emits, and when nothing is emitted, is that of Provider::emit.
///
/// The child of a fork() has a copy of it, which emits End once more, as an event of the child, if
/// it is destroyed there. A child that leaves by exec or _exit does not.
template <class Provider, class Begin, class End>
class [[nodiscard]] span {
    static_assert(traits_of<Begin>.kind == kind::begin && traits_of<End>.kind == kind::end,
                  "eventlog: the events of a span say so: .kind = eventlog::kind::begin and end in "
                  "eventlog::traits_of.");
    static_assert(traits_of<Begin>.session_bound == traits_of<End>.session_bound,
                  "eventlog: only one of the events of a span belongs to a session. Say "
                  ".session_bound = true in eventlog::traits_of for both, or for neither.");
    using duration = detail::first_member_of<End>;
    static_assert(detail::is_nanoseconds<duration>,
                  "eventlog: the first field of an event that ends a span is its duration. Make it "
                  "a std::chrono::nanoseconds.");

    static constexpr bool in_session = traits_of<Begin>.session_bound;

  public:
    /// Emits `begin`. Any thread, any signal handler, any child of a fork().
    explicit span(Begin begin) noexcept {
        static_assert(!in_session,
                      "eventlog: the events of this span belong to a session. Make the span with "
                      "the eventlog::session object in front of the event.");
        start();
        Provider::emit(begin);
    }
    /// The same, of one session.
    span(const session<Provider>& owner, Begin begin) noexcept : session_(owner.id()) {
        static_assert(in_session,
                      "eventlog: the events of this span do not belong to a session. Make the span "
                      "without one, or say .session_bound = true in eventlog::traits_of.");
        start();
        Provider::emit_in_session(session_, begin);
    }
    /// Emits result() with how long it took.
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

    /// What End is going to say. Texts must live until the span ends.
    [[nodiscard]] End& result() noexcept { return end_; }

  private:
    void start() noexcept {
        if (Provider::template enabled<End>()) {
            began_ = now();
        }
    }
    /// Of the clock that std::chrono::steady_clock reads, in nanoseconds.
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
