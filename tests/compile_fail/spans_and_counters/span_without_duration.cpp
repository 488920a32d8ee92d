// SPDX-License-Identifier: MIT
//
// expect: the first field of an event that ends a span must be its duration
#include <chrono>
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct query_begin {
    std::uint32_t number;
};
struct query_end {
    std::chrono::milliseconds took;
};
using bad = eventlog::provider<"bad", query_begin, query_end>;

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<query_begin>{
    .kind = eventlog::kind::begin};
template <>
inline constexpr eventlog::event_info eventlog::event_info_of<query_end>{.kind =
                                                                             eventlog::kind::end};

void run_it() {
    const eventlog::span<bad, query_begin, query_end> query(query_begin{1});
}
