// SPDX-License-Identifier: MIT
//
// eventlog::span: something that begins, lasts and ends.
#pragma once

#include <time.h>

#include <cstdint>
#include <utility>

#include <eventlog/detail/members.hpp>
#include <eventlog/detail/values.hpp>
#include <eventlog/provider.hpp>
#include <eventlog/traits.hpp>

namespace eventlog {

/// Emits Begin when it is made and End when it is destroyed. The first field of End is a
/// std::chrono::nanoseconds, which the span fills in; the others are filled in through result().
///
///     struct query_begin { std::string_view sql; };
///     struct query_end { std::chrono::nanoseconds took; std::uint32_t rows; };
///     // ...with .kind = eventlog::kind::begin and end in eventlog::traits_of
///
///     eventlog::span<database, query_begin, query_end> span(query_begin{sql});
///     span.result().rows = run(sql);
///
/// Whether anyone listens is asked at both ends: a span that nobody heard begin can be heard end.
/// The clock is read only if somebody listens to End when it begins; a listener that comes in
/// between gets a duration of 0.
template <class Provider, class Begin, class End>
class [[nodiscard]] span {
    static_assert(traits_of<Begin>.kind == kind::begin && traits_of<End>.kind == kind::end,
                  "eventlog: the events of a span say so: .kind = eventlog::kind::begin and end in "
                  "eventlog::traits_of.");
    using duration = detail::first_member_of<End>;
    static_assert(detail::is_nanoseconds<duration>,
                  "eventlog: the first field of an event that ends a span is its duration. Make it "
                  "a std::chrono::nanoseconds.");

  public:
    explicit span(Begin begin) noexcept {
        if (Provider::template enabled<End>()) {
            began_ = now();
        }
        Provider::emit(std::move(begin));
    }
    ~span() {
        if (Provider::template enabled<End>()) {
            detail::first_member(end_) = duration{began_ == 0 ? 0 : now() - began_};
            Provider::emit(std::move(end_));
        }
    }
    span(const span&) = delete;
    span& operator=(const span&) = delete;

    /// What End is going to say. Texts must live until the span ends.
    [[nodiscard]] End& result() noexcept { return end_; }

  private:
    /// Of the clock that std::chrono::steady_clock reads, in nanoseconds.
    [[nodiscard]] static std::int64_t now() noexcept {
        timespec time{};
        static_cast<void>(::clock_gettime(CLOCK_MONOTONIC, &time));
        return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    }

    std::int64_t began_ = 0;
    End end_{};
};

}  // namespace eventlog
