// SPDX-License-Identifier: MIT
//
// Five equal events, of which subscriptions want some.
#pragma once

#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

namespace bench {

struct by_one {
    std::uint64_t sequence;
    std::uint32_t bytes;
    std::uint32_t window;
    std::string_view reason;
};

struct by_two {
    std::uint64_t sequence;
    std::uint32_t bytes;
    std::uint32_t window;
    std::string_view reason;
};

struct by_four {
    std::uint64_t sequence;
    std::uint32_t bytes;
    std::uint32_t window;
    std::string_view reason;
};

struct by_eight {
    std::uint64_t sequence;
    std::uint32_t bytes;
    std::uint32_t window;
    std::string_view reason;
};

struct by_sixteen {
    std::uint64_t sequence;
    std::uint32_t bytes;
    std::uint32_t window;
    std::string_view reason;
};

using wanted = eventlog::provider<"wanted", by_one, by_two, by_four, by_eight, by_sixteen>;

}  // namespace bench
