// SPDX-License-Identifier: MIT
//
// eventlog::span: something that begins, lasts and ends.
#pragma once

#include <chrono>
#include <type_traits>
#include <utility>

#include <boost/pfr/core.hpp>

#include <eventlog/provider.hpp>
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
template <class Provider, class Begin, class End>
class [[nodiscard]] span {
    static_assert(traits_of<Begin>.kind == kind::begin && traits_of<End>.kind == kind::end,
                  "eventlog: the events of a span say so: .kind = eventlog::kind::begin and end in "
                  "eventlog::traits_of.");
    static_assert(
        std::is_same_v<std::remove_cvref_t<decltype(boost::pfr::get<0>(std::declval<End&>()))>,
                       std::chrono::nanoseconds>,
        "eventlog: the first field of an event that ends a span is its duration. Make it "
        "a std::chrono::nanoseconds.");

    using clock = std::chrono::steady_clock;

  public:
    explicit span(Begin begin) noexcept {
        if (Provider::template enabled<End>()) {
            began_ = clock::now();
        }
        Provider::emit(std::move(begin));
    }
    ~span() {
        if (Provider::template enabled<End>()) {
            boost::pfr::get<0>(end_) = began_ == clock::time_point{}
                                           ? std::chrono::nanoseconds{0}
                                           : std::chrono::nanoseconds(clock::now() - began_);
            Provider::emit(std::move(end_));
        }
    }
    span(const span&) = delete;
    span& operator=(const span&) = delete;

    /// What End is going to say. Texts must live until the span ends.
    [[nodiscard]] End& result() noexcept { return end_; }

  private:
    clock::time_point began_{};
    End end_{};
};

}  // namespace eventlog
