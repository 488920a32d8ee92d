// SPDX-License-Identifier: MIT
#include "live/sampling.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/usage_error.hpp"
#include "schema/stored_filter.hpp"

namespace elog {
std::uint64_t parse_max_rate(std::string_view text) {
    using namespace std::string_view_literals;
    constexpr std::array<std::pair<std::string_view, double>, 4> units{
        {{""sv, 1}, {"k"sv, 1e3}, {"K"sv, 1e3}, {"M"sv, 1e6}}};
    constexpr auto rate_max = static_cast<double>(max_rate_max);
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, number);
    const std::string_view unit(after, static_cast<std::size_t>(end - after));
    for (const auto& [name, factor] : units) {
        // A product such as 2.3k is a whole number only after rounding.
        const double rate = std::round(number * factor);
        const bool is_whole = std::abs(number * factor - rate) <= rate * 1e-12;
        if (error == std::errc{} && unit == name && rate >= 1 && rate <= rate_max && is_whole) {
            return static_cast<std::uint64_t>(rate);
        }
    }
    throw usage_error("--max-rate is a whole number of events per second from 1 to 1000000000, and "
                      "not '{}': write for example 500, 10k or 1M.",
                      text);
}

void add_max_rate(subscription_options& options, const std::optional<std::string>& max_rate) {
    if (max_rate) {
        options.sampling.max_rate = parse_max_rate(*max_rate);
    }
}

std::unique_ptr<record_sampler> make_sampler(const subscription_options& options) {
    if (!options.sampling.omits_any()) {
        return nullptr;
    }
    return std::make_unique<record_sampler>(options.patterns, options.sampling);
}

std::unique_ptr<record_sampler> make_sampler(const eventlog_region& header) {
    const stored_filter filter = unpack_filter(
        {header.filter, std::min<std::size_t>(header.filter_size, sizeof header.filter)});
    if (!filter.sampling.omits_any()) {
        return nullptr;
    }
    const std::vector<std::uint64_t> sessions(
        header.sessions,
        header.sessions + std::min<std::size_t>(header.session_count, EVENTLOG_SESSIONS_MAX));
    return std::make_unique<record_sampler>(patterns_of(filter, sessions), filter.sampling);
}

std::string explain_sampling(const subscription_options& options) {
    const bool is_limited = options.sampling.max_rate != 0;
    if (!options.sampling.is_sampled()) {
        return is_limited ? "elog omits       events over --max-rate\n" : "";
    }
    return is_limited ? "elog omits       events by 1/N of -e, then those over --max-rate\n"
                      : "elog omits       events by 1/N of -e\n";
}

}  // namespace elog
