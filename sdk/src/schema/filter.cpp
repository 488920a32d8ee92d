// SPDX-License-Identifier: MIT
#include "schema/filter.hpp"

#include <algorithm>
#include <iterator>

#include "platform/glob.hpp"

namespace eventlog::core {
namespace {

// substr may throw, and then programs in C would need the C++ library to link the static library.
std::string_view head(std::string_view text, std::size_t size) noexcept {
    return {text.data(), std::min(size, text.size())};
}
std::string_view tail(std::string_view text, std::size_t from) noexcept {
    return {text.data() + from, text.size() - from};
}

/// Splits off the part behind the last `mark`. False if the text has no such mark.
bool split_suffix(std::string_view& text, char mark, std::string_view& found) noexcept {
    const auto at = text.rfind(mark);
    if (at == std::string_view::npos) {
        return false;
    }
    found = tail(text, at + 1);
    text = head(text, at);
    return true;
}

/// Removes and returns the part of a list up to the separator; it may be empty.
std::string_view take_entry(std::string_view& list, char separator) noexcept {
    const auto end = list.find(separator);
    const std::string_view entry = head(list, end);
    list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
    return entry;
}

/// The value of a decimal number; 0 if it is none or out of range.
std::uint32_t parse_pid(std::string_view text) noexcept {
    std::uint64_t pid = 0;
    for (const char digit : text) {
        if (digit < '0' || digit > '9' || pid > UINT32_MAX) {
            return 0;
        }
        pid = pid * 10 + static_cast<std::uint64_t>(digit - '0');
    }
    return pid > UINT32_MAX ? 0 : static_cast<std::uint32_t>(pid);
}

}  // namespace

bool parse_level(std::string_view name, level& found) noexcept {
    constexpr std::string_view names[] = {"error", "warn", "info", "verbose", "trace"};
    for (std::size_t i = 0; i < std::size(names); ++i) {
        const bool is_number = name.size() == 1 && name[0] == static_cast<char>('1' + i);
        if (is_number || names[i] == name) {
            found = static_cast<level>(i + 1);
            return true;
        }
    }
    return false;
}

bool is_keyword_mask(std::string_view keyword) noexcept {
    return keyword.starts_with("0x") || keyword.starts_with("0X");
}

bool parse_keyword_mask(std::string_view keyword, std::uint64_t& mask) noexcept {
    constexpr std::size_t digits_max = 16;
    mask = 0;
    const std::string_view digits = tail(keyword, 2);
    if (!is_keyword_mask(keyword) || digits.empty() || digits.size() > digits_max) {
        return false;
    }
    for (const char c : digits) {
        const char lower = static_cast<char>(c | 0x20);
        const bool is_digit = c >= '0' && c <= '9';
        if (!is_digit && (lower < 'a' || lower > 'f')) {
            return false;
        }
        mask = mask << 4U | static_cast<std::uint64_t>(is_digit ? c - '0' : lower - 'a' + 10);
    }
    return true;
}

bool are_valid_masks(std::string_view keywords) noexcept {
    while (!keywords.empty()) {
        const std::string_view keyword = take_entry(keywords, ',');
        std::uint64_t ignored = 0;
        if (is_keyword_mask(keyword) && !parse_keyword_mask(keyword, ignored)) {
            return false;
        }
    }
    return true;
}

bool parse_rule(std::string_view text, filter_rule& rule) noexcept {
    rule = filter_rule{};
    if (text.ends_with('#')) {
        rule.in_session = true;
        text.remove_suffix(1);
    }
    if (split_suffix(text, '/', rule.keywords) && rule.keywords.empty()) {
        return false;
    }
    std::string_view severity;
    if (split_suffix(text, '@', severity) && !parse_level(severity, rule.most_verbose)) {
        return false;
    }
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) {
        return false;
    }
    rule.provider = head(text, colon);
    rule.event = tail(text, colon + 1);
    return true;
}

bool next_rule(std::string_view& list, filter_rule& rule) noexcept {
    while (!list.empty()) {
        const std::string_view text = take_entry(list, '\0');
        // The list comes from shared memory and may be damaged.
        if (!is_process_entry(text) && parse_rule(text, rule)) {
            return true;
        }
    }
    return false;
}

bool is_process_entry(std::string_view entry) noexcept {
    return entry.starts_with('=') || entry.starts_with('~');
}

bool wants_process(std::string_view list, std::uint32_t pid, std::string_view name) noexcept {
    bool names_any = false;
    while (!list.empty()) {
        const std::string_view entry = take_entry(list, '\0');
        if (!is_process_entry(entry)) {
            continue;
        }
        names_any = true;
        const std::string_view wanted = tail(entry, 1);
        if (entry.starts_with('=') ? pid != 0 && parse_pid(wanted) == pid
                                   : glob_match(wanted, name)) {
            return true;
        }
    }
    return !names_any;
}

std::uint64_t keyword_names::mask_of(std::string_view names) const noexcept {
    std::uint64_t mask = 0;
    for (std::string_view left = names; !left.empty();) {
        std::uint64_t bits = 0;
        if (parse_keyword_mask(take_entry(left, ','), bits)) {
            mask |= bits;
        }
    }
    schema_reader schema = schema_;
    keyword_description keyword;
    while (schema.next_keyword(keyword)) {
        for (std::string_view left = names; !left.empty();) {
            if (glob_match(take_entry(left, ','), keyword.name)) {
                mask |= std::uint64_t{1} << keyword.bit;
            }
        }
    }
    return mask;
}

verdict judge(const filter_rule& rule, std::string_view provider, const event_description& event,
              const keyword_names& names) noexcept {
    if (!glob_match(rule.provider, provider) || !glob_match(rule.event, event.name) ||
        event.severity > rule.most_verbose) {
        return verdict::unwanted;
    }
    if (!rule.keywords.empty() && event.keywords != 0 &&
        (event.keywords & names.mask_of(rule.keywords)) == 0) {
        return verdict::unwanted;
    }
    if (!rule.in_session) {
        return verdict::wanted;
    }
    return event.session_bound ? verdict::in_session : verdict::unwanted;
}

verdict judge(std::string_view list, std::string_view provider, const event_description& event,
              const keyword_names& names) noexcept {
    verdict best = verdict::unwanted;
    filter_rule rule;
    while (best != verdict::wanted && next_rule(list, rule)) {
        const verdict found = judge(rule, provider, event, names);
        best = found > best ? found : best;
    }
    return best;
}

}  // namespace eventlog::core
