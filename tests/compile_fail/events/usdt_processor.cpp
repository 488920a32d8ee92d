// SPDX-License-Identifier: MIT
//
// expect: USDT probes are supported on x86-64 and aarch64 only
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

// From here on as on another processor.
#undef __x86_64__
#undef __aarch64__
#include <eventlog/eventlog.hpp>

struct beat {
    std::uint64_t number;
};
using heart = eventlog::provider<"heart", beat>;
template <>
inline constexpr eventlog::provider_info eventlog::provider_info_of<heart>{.usdt = true};

void beat_once() {
    heart::emit(beat{1});
}
