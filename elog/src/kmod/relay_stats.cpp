// SPDX-License-Identifier: MIT
#include "kmod/relay_stats.hpp"

#include <charconv>
#include <system_error>

#include "base/proc_file.hpp"
#include "base/user_error.hpp"

namespace elog {
namespace {

[[noreturn]] void throw_broken_stats() {
    throw user_error("The relay channel does not say what it has lost: it is of another version of "
                     "the kernel module. Load the one that belongs to this elog.");
}

template <class Number>
Number parse(std::string_view word) {
    Number number = 0;
    const char* const end = word.data() + word.size();
    const auto [parsed, wrong] = std::from_chars(word.data(), end, number);
    if (wrong != std::errc() || parsed != end) {
        throw_broken_stats();
    }
    return number;
}

/// Returns the number behind the word `name`, which must be next.
std::uint64_t take_named(std::string_view& line, std::string_view name) {
    if (take_until(line, ' ') != name) {
        throw_broken_stats();
    }
    return parse<std::uint64_t>(take_until(line, ' '));
}

void take_cpu(std::string_view name, std::string_view line, relay_stats& stats) {
    constexpr std::string_view prefix = "cpu";
    if (!name.starts_with(prefix)) {
        throw_broken_stats();
    }
    const auto cpu = parse<std::uint32_t>(name.substr(prefix.size()));
    if (cpu >= stats.cpus.size()) {
        throw_broken_stats();
    }
    relay_counts& counts = stats.cpus[cpu];
    counts.is_there = true;
    counts.recorded = take_named(line, "recorded");
    counts.lost = take_named(line, "lost");
}

}  // namespace

relay_stats parse_relay_stats(std::string_view text, std::uint32_t cpu_count) {
    relay_stats stats;
    stats.cpus.resize(cpu_count);
    while (!text.empty()) {
        std::string_view line = take_until(text, '\n');
        const std::string_view name = take_until(line, ' ');
        take_cpu(name, line, stats);
    }
    return stats;
}

}  // namespace elog
