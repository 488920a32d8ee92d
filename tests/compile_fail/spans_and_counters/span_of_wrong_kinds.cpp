// SPDX-License-Identifier: MIT
//
// expect: the events of a span must have .kind = eventlog::kind::begin and eventlog::kind::end
#include <chrono>
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct query_begin {
    std::uint32_t number;
};
struct query_end {
    std::chrono::nanoseconds took;
};
using bad = eventlog::provider<"bad", query_begin, query_end>;

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<query_begin>{
    .kind = eventlog::kind::begin};

void run_it() {
    const eventlog::span<bad, query_begin, query_end> query(query_begin{1});
}
