// SPDX-License-Identifier: MIT
#include "cli/quantities.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "cli/usage_error.hpp"

namespace elog {
namespace {

struct quantity {
    double number = 0;
    std::string_view unit;
    bool sound = false;
};

quantity split(std::string_view text) noexcept {
    quantity result;
    const char* end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, result.number);
    result.sound = error == std::errc{} && result.number >= 0;
    result.unit = {after, static_cast<std::size_t>(end - after)};
    return result;
}

[[noreturn]] void refuse_duration(std::string_view text) {
    throw usage_error("'{}' is not a duration: write for example 10s, 500ms, 2m or 1h.", text);
}

}  // namespace

std::chrono::nanoseconds parse_duration(std::string_view text) {
    const std::chrono::nanoseconds duration = parse_distance(text);
    if (duration.count() == 0) {
        refuse_duration(text);
    }
    return duration;
}

std::chrono::nanoseconds parse_distance(std::string_view text) {
    using namespace std::string_view_literals;
    constexpr std::array<std::pair<std::string_view, double>, 5> units{
        {{""sv, 1e9}, {"s"sv, 1e9}, {"ms"sv, 1e6}, {"m"sv, 6e10}, {"h"sv, 3.6e12}}};
    const quantity given = split(text);
    for (const auto& [unit, nanoseconds] : units) {
        if (given.sound && given.unit == unit && given.number * nanoseconds < 9e18) {
            return std::chrono::nanoseconds(static_cast<std::int64_t>(given.number * nanoseconds));
        }
    }
    refuse_duration(text);
}

std::uint64_t parse_size(std::string_view text) {
    using namespace std::string_view_literals;
    constexpr std::array<std::pair<std::string_view, double>, 7> units{{{""sv, 1},
                                                                        {"K"sv, 1024},
                                                                        {"KiB"sv, 1024},
                                                                        {"M"sv, 1048576},
                                                                        {"MiB"sv, 1048576},
                                                                        {"G"sv, 1073741824},
                                                                        {"GiB"sv, 1073741824}}};
    const quantity given = split(text);
    for (const auto& [unit, bytes] : units) {
        if (given.sound && given.number > 0 && given.unit == unit && given.number * bytes < 9e18) {
            return static_cast<std::uint64_t>(given.number * bytes);
        }
    }
    throw usage_error("'{}' is not a size: write for example 256K, 1M or 16MiB.", text);
}

}  // namespace elog
