// SPDX-License-Identifier: MIT
#include "live/sampling.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "cli/usage_error.hpp"

namespace elog {
namespace {

constexpr double rate_max = 1e9;

}  // namespace

std::uint64_t parse_max_rate(std::string_view text) {
    using namespace std::string_view_literals;
    constexpr std::array<std::pair<std::string_view, double>, 4> units{
        {{""sv, 1}, {"k"sv, 1e3}, {"K"sv, 1e3}, {"M"sv, 1e6}}};
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
    if (options.overwrite && options.sampling.omits_any()) {
        throw usage_error("With --overwrite programs keep the newest events in memory, where elog "
                          "cannot omit any: leave out {} or --overwrite.",
                          max_rate ? "--max-rate" : "the sampling rate 1/N of -e");
    }
}

std::unique_ptr<record_sampler> make_sampler(const subscription_options& options) {
    if (!options.sampling.omits_any()) {
        return nullptr;
    }
    return std::make_unique<record_sampler>(options.patterns, options.sampling);
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
