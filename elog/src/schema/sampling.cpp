// SPDX-License-Identifier: MIT
#include "schema/sampling.hpp"

#include <charconv>
#include <cstddef>
#include <system_error>

#include "base/user_error.hpp"

namespace elog {
namespace {

constexpr std::string_view blanks = " \t";

std::string_view trimmed(std::string_view text) noexcept {
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

/// The N of 1/N; 0 if the text is not such a rate.
std::uint64_t parse_every(std::string_view text) noexcept {
    if (!text.starts_with("1/")) {
        return 0;
    }
    text.remove_prefix(2);
    std::uint64_t every = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), every);
    const bool is_whole = error == std::errc{} && end == text.data() + text.size();
    return is_whole && every <= sampling_every_max ? every : 0;
}

}  // namespace

sampled_pattern parse_sampled_pattern(std::string_view text) {
    const std::string_view whole = trimmed(text);
    const std::size_t blank = whole.find_first_of(blanks);
    if (blank == std::string_view::npos) {
        return {whole, 1};
    }
    const std::string_view rate = trimmed(whole.substr(blank));
    const std::uint64_t every = parse_every(rate);
    if (every == 0) {
        throw user_error("'{}' behind the pattern '{}' is not a sampling rate: write 1/N with N "
                         "from 1 to {}, for example 'shop:order_* 1/100' for every 100th event.",
                         rate, whole.substr(0, blank), sampling_every_max);
    }
    return {whole.substr(0, blank), every};
}

}  // namespace elog
