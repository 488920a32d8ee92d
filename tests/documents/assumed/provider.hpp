// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct segment {
    std::uint64_t sequence;
};
extern const segment* packet;
std::uint32_t size_of(const segment* packet);
