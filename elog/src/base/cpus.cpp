// SPDX-License-Identifier: MIT
#include "base/cpus.hpp"

#include <linux/eventlog.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string>

namespace elog {
namespace {

constexpr std::size_t rings_of_cpus_max = EVENTLOG_RINGS_MAX - 1;

std::string read_line(const char* path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

}  // namespace

std::vector<bool> parse_cpu_list(std::string_view text) {
    std::vector<bool> cpus;
    const char* cursor = text.data();
    const char* const end = cursor + text.size();
    while (cursor != end) {
        std::size_t first = 0;
        auto [after, error] = std::from_chars(cursor, end, first);
        if (error != std::errc{}) {
            break;
        }
        std::size_t last = first;
        if (after != end && *after == '-') {
            const auto range = std::from_chars(after + 1, end, last);
            if (range.ec != std::errc{}) {
                break;
            }
            after = range.ptr;
        }
        if (last < first || last >= rings_of_cpus_max) {
            break;
        }
        cpus.resize(std::max(cpus.size(), last + 1), false);
        std::fill(cpus.begin() + static_cast<std::ptrdiff_t>(first),
                  cpus.begin() + static_cast<std::ptrdiff_t>(last + 1), true);
        cursor = after == end || *after != ',' ? end : after + 1;
    }
    return cpus;
}

system_cpus read_cpus() {
    system_cpus cpus;
    const std::size_t possible =
        parse_cpu_list(read_line("/sys/devices/system/cpu/possible")).size();
    const long configured = ::sysconf(_SC_NPROCESSORS_CONF);
    // Without /sys the C library's number is the best known one.
    cpus.possible = static_cast<std::uint32_t>(
        possible != 0 ? possible
                      : std::clamp<std::size_t>(static_cast<std::size_t>(std::max(configured, 1L)),
                                                1, rings_of_cpus_max));
    cpus.online = parse_cpu_list(read_line("/sys/devices/system/cpu/online"));
    if (cpus.online.empty()) {
        cpus.online.assign(cpus.possible, true);
    }
    cpus.online.resize(cpus.possible, false);
    return cpus;
}

}  // namespace elog
