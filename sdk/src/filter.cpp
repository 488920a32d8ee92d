// SPDX-License-Identifier: MIT
#include "filter.hpp"

#include <algorithm>
#include <iterator>

#include "glob.hpp"

namespace eventlog::core {
namespace {

// Not with substr, which may throw: programs in C would need the library of C++ to link to the
// static library.
std::string_view head(std::string_view text, std::size_t size) noexcept {
    return {text.data(), std::min(size, text.size())};
}
std::string_view tail(std::string_view text, std::size_t from) noexcept {
    return {text.data() + from, text.size() - from};
}

/// Takes what stands behind the last `mark` off the text. False if there is no such mark.
bool take_behind(std::string_view& text, char mark, std::string_view& found) noexcept {
    const auto at = text.rfind(mark);
    if (at == std::string_view::npos) {
        return false;
    }
    found = tail(text, at + 1);
    text = head(text, at);
    return true;
}

std::string_view take_name(std::string_view& names) noexcept {
    const auto comma = names.find(',');
    const std::string_view name = head(names, comma);
    names.remove_prefix(comma == std::string_view::npos ? names.size() : comma + 1);
    return name;
}

}  // namespace

bool parse_level(std::string_view name, level& found) noexcept {
    constexpr std::string_view names[] = {"error", "warn", "info", "verbose", "trace"};
    for (std::size_t i = 0; i < std::size(names); ++i) {
        if (names[i] == name) {
            found = static_cast<level>(i + 1);
            return true;
        }
    }
    return false;
}

bool parse_rule(std::string_view text, filter_rule& rule) noexcept {
    rule = filter_rule{};
    if (text.ends_with('#')) {
        rule.in_session = true;
        text.remove_suffix(1);
    }
    if (take_behind(text, '/', rule.keywords) && rule.keywords.empty()) {
        return false;
    }
    std::string_view severity;
    if (take_behind(text, '@', severity) && !parse_level(severity, rule.most_verbose)) {
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

bool take_rule(std::string_view& list, filter_rule& rule) noexcept {
    while (!list.empty()) {
        const auto end = list.find('\0');
        const std::string_view text = head(list, end);
        list.remove_prefix(end == std::string_view::npos ? list.size() : end + 1);
        // The list comes from shared memory and may be damaged.
        if (parse_rule(text, rule)) {
            return true;
        }
    }
    return false;
}

keyword_names::keyword_names(schema_reader schema) noexcept {
    while (count_ < keywords_.size() && schema.next_keyword(keywords_[count_])) {
        ++count_;
    }
}

std::uint64_t keyword_names::mask_of(std::string_view names) const noexcept {
    std::uint64_t mask = 0;
    while (!names.empty()) {
        const std::string_view name = take_name(names);
        for (std::size_t i = 0; i < count_; ++i) {
            if (glob_match(name, keywords_[i].name)) {
                mask |= std::uint64_t{1} << keywords_[i].bit;
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
    while (best != verdict::wanted && take_rule(list, rule)) {
        const verdict found = judge(rule, provider, event, names);
        best = found > best ? found : best;
    }
    return best;
}

}  // namespace eventlog::core
