// SPDX-License-Identifier: MIT
#include "collect/patterns.hpp"

#include <algorithm>
#include <string_view>

#include "schema/filter.hpp"

namespace eventlog::core {
namespace {

bool is_pattern_character(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '*' || c == '?';
}

bool is_sound(std::string_view part) noexcept {
    return !part.empty() && std::all_of(part.begin(), part.end(), is_pattern_character);
}

bool are_sound_names(std::string_view names) noexcept {
    return std::all_of(names.begin(), names.end(),
                       [](char c) { return is_pattern_character(c) || c == ','; });
}

/// False if it does not fit.
bool append(packed_patterns& packed, std::string_view text) noexcept {
    if (text.size() > packed.text.size() - packed.size) {
        return false;
    }
    std::copy(text.begin(), text.end(), packed.text.begin() + packed.size);
    packed.size += static_cast<std::uint32_t>(text.size());
    return true;
}

/// Without substr, which may throw.
std::string_view tail(std::string_view text, std::size_t from) noexcept {
    return {text.data() + from, text.size() - from};
}

/// The rule with an event and a level that filters know. False if it does not fit.
bool append_rule(packed_patterns& packed, std::string_view pattern) noexcept {
    constexpr std::string_view debug = "@debug";
    const std::size_t end = std::min(pattern.find_first_of("@/"), pattern.size());
    const std::string_view names{pattern.data(), end};
    std::string_view conditions = tail(pattern, end);
    const bool has_debug = conditions.starts_with(debug) &&
                           (conditions.size() == debug.size() || conditions[debug.size()] == '/');
    if (has_debug) {
        conditions = tail(conditions, debug.size());
    }
    return append(packed, names) &&
           append(packed, names.find(':') == std::string_view::npos ? ":*" : "") &&
           append(packed, has_debug ? "@verbose" : "") && append(packed, conditions);
}

bool is_sound_rule(std::string_view text) noexcept {
    filter_rule rule;
    return parse_rule(text, rule) && !rule.in_session && is_sound(rule.provider) &&
           is_sound(rule.event) && are_sound_names(rule.keywords) && are_valid_masks(rule.keywords);
}

}  // namespace

eventlog_error pack_patterns(const char* const* patterns, std::size_t count,
                             packed_patterns& packed, error_text& error) noexcept {
    if (patterns == nullptr && count != 0) {
        error.set("There are no patterns. Hand over an array of texts.");
        return EVENTLOG_ERROR_ARGUMENT;
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (patterns[i] == nullptr) {
            error.set("Pattern %zu is NULL. Hand over a text.", i);
            return EVENTLOG_ERROR_ARGUMENT;
        }
        const std::uint32_t begin = packed.size;
        const bool fits = append_rule(packed, patterns[i]);
        if (fits && !is_sound_rule({packed.text.data() + begin, packed.size - begin})) {
            error.set("'%s' is not a pattern for events. Write PROVIDER:EVENT with letters, "
                      "digits, _, * and ?, then, if need be, @LEVEL or @NUMBER (1 to 5), and "
                      "/KEYWORD,KEYWORD or /0xMASK.",
                      patterns[i]);
            return EVENTLOG_ERROR_PATTERN;
        }
        if (!fits || !append(packed, {"\0", 1})) {
            error.set("The patterns are longer than %u characters together. Use * to select the "
                      "same events with fewer.",
                      std::uint32_t{EVENTLOG_FILTER_SIZE_MAX});
            return EVENTLOG_ERROR_TOO_LARGE;
        }
    }
    return EVENTLOG_ERROR_NONE;
}

}  // namespace eventlog::core
