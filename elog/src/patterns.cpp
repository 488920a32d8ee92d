// SPDX-License-Identifier: MIT
#include "patterns.hpp"

#include <linux/eventlog.h>

#include <algorithm>

#include "failure.hpp"
#include "glob.hpp"

namespace elog {
namespace {

bool is_pattern_character(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '*' || c == '?';
}

bool is_sound(std::string_view part) noexcept {
    return !part.empty() && std::all_of(part.begin(), part.end(), is_pattern_character);
}

std::string_view with_nul(const std::string& text) noexcept {
    return {text.c_str(), text.size() + 1};
}

}  // namespace

void event_patterns::add(std::string_view pattern) {
    const auto colon = pattern.find(':');
    const std::string_view provider = pattern.substr(0, colon);
    const std::string_view event =
        colon == std::string_view::npos ? std::string_view("*") : pattern.substr(colon + 1);
    if (!is_sound(provider) || !is_sound(event)) {
        throw failure(
            "'{}' is not a pattern for events: write PROVIDER:EVENT with letters, digits, _, * and "
            "?, for example 'shop:order_*'.",
            pattern);
    }
    patterns_.push_back(fmt::format("{}:{}", provider, event));
    if (packed().size() > EVENTLOG_FILTER_SIZE_MAX) {
        throw failure("The patterns are longer than {} characters together. Use * to say it in "
                      "fewer.",
                      EVENTLOG_FILTER_SIZE_MAX);
    }
}

bool event_patterns::matches(std::string_view provider, std::string_view event) const noexcept {
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
        if (matches(i, provider, event)) {
            return true;
        }
    }
    return false;
}

bool event_patterns::matches(std::size_t index, std::string_view provider,
                             std::string_view event) const noexcept {
    return eventlog::core::filter_wants(with_nul(patterns_[index]), provider, event);
}

std::string event_patterns::packed() const {
    std::string list;
    for (const std::string& pattern : patterns_) {
        list += with_nul(pattern);
    }
    return list;
}

}  // namespace elog
