// SPDX-License-Identifier: MIT
#include "schema/patterns.hpp"

#include <linux/eventlog.h>

#include <algorithm>
#include <utility>

#include "base/characters.hpp"
#include "base/user_error.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;

bool is_pattern_character(char c) noexcept {
    return is_letter(c) || is_digit(c) || c == '*' || c == '?';
}

bool is_sound(std::string_view part) noexcept {
    return !part.empty() && std::all_of(part.begin(), part.end(), is_pattern_character);
}

bool are_sound_names(std::string_view names) noexcept {
    return std::all_of(names.begin(), names.end(),
                       [](char c) { return is_pattern_character(c) || c == ','; });
}

std::string_view with_nul(const std::string& text) noexcept {
    return {text.c_str(), text.size() + 1};
}

/// The conditions with a level that applications and the kernel module know.
std::string with_stored_level(std::string_view conditions) {
    constexpr std::string_view alias = "@debug";
    const std::string_view behind = conditions.substr(std::min(alias.size(), conditions.size()));
    const bool has_alias =
        conditions.starts_with(alias) && (behind.empty() || behind[0] == '/' || behind[0] == '#');
    return has_alias ? fmt::format("@verbose{}", behind) : std::string(conditions);
}

/// The rule as a subscription stores it: with an event, * if the pattern has none.
std::string normalized(std::string_view pattern) {
    const auto end = pattern.find_first_of("@/#");
    const std::string_view names = pattern.substr(0, end);
    const std::string_view conditions =
        end == std::string_view::npos ? std::string_view{} : pattern.substr(end);
    return fmt::format("{}{}{}", names, names.find(':') == std::string_view::npos ? ":*" : "",
                       with_stored_level(conditions));
}

bool is_sound_rule(const std::string& text) noexcept {
    core::filter_rule rule;
    return core::parse_rule(text, rule) && is_sound(rule.provider) && is_sound(rule.event) &&
           are_sound_names(rule.keywords) && core::are_valid_masks(rule.keywords);
}

/// The properties of an event that a rule compares.
core::event_description facts_of(const event_schema& event) noexcept {
    core::event_description facts;
    facts.name = event.name;
    facts.severity = event.severity;
    facts.keywords = event.keywords;
    facts.session_bound = event.session_bound;
    return facts;
}

core::keyword_names names_of(const provider_schema& provider) noexcept {
    core::schema_reader reader;
    core::error_text ignored;
    // The schema has been parsed from these bytes, so opening succeeds; else there are no keywords.
    static_cast<void>(reader.open(provider.binary, ignored));
    return core::keyword_names(reader);
}

}  // namespace

std::optional<eventlog::level> find_wanted_level(std::string_view word) noexcept {
    eventlog::level found{};
    if (word == "debug") {
        return eventlog::level::verbose;
    }
    return core::parse_level(word, found) ? std::optional(found) : std::nullopt;
}

void event_patterns::add(std::string_view pattern) {
    const std::string rule = normalized(pattern);
    if (!is_sound_rule(rule)) {
        throw user_error(
            "'{}' is not a pattern for events: write PROVIDER:EVENT with letters, digits, _, * and "
            "?, for example 'shop:order_*', then, if need be, @LEVEL (error, warn, info, verbose "
            "or debug, trace, or 1 to 5), /KEYWORD,KEYWORD (names, or bits as in 0x3) and # for "
            "the sessions of --session.",
            pattern);
    }
    patterns_.push_back(rule);
    check_size();
}

void event_patterns::check_size() const {
    if (packed().size() > EVENTLOG_FILTER_SIZE_MAX) {
        throw user_error("The patterns are longer than {} characters together. Use * to select "
                         "the same events with fewer.",
                         EVENTLOG_FILTER_SIZE_MAX);
    }
}

bool event_patterns::replace(std::vector<std::string> rules) {
    std::swap(patterns_, rules);
    // packed() may add a # to each.
    if (packed().size() + patterns_.size() <= EVENTLOG_FILTER_SIZE_MAX) {
        return true;
    }
    std::swap(patterns_, rules);
    return false;
}

void event_patterns::add_session(std::uint64_t session) {
    if (sessions_.size() == EVENTLOG_SESSIONS_MAX) {
        throw user_error("More than {} sessions are asked for. Record all of them, and pick later.",
                         EVENTLOG_SESSIONS_MAX);
    }
    sessions_.push_back(session);
}

void event_patterns::add_process(std::uint32_t pid) {
    if (pid == 0) {
        throw user_error("0 is no process. See which there are with: elog list.");
    }
    processes_.push_back(fmt::format("={}", pid));
    check_size();
}

void event_patterns::add_process(std::string_view name) {
    constexpr std::size_t size_max = EVENTLOG_PROCESS_NAME_SIZE - 1;
    // A * may match nothing, and a backslash stands before a character.
    const auto others = static_cast<std::size_t>(
        std::count_if(name.begin(), name.end(), [](char c) { return c == '*' || c == '\\'; }));
    if (name.empty() || name.find('\0') != std::string_view::npos ||
        name.size() - others > size_max) {
        throw user_error(
            "'{}' is the name of no process: the kernel keeps {} characters of it. Write "
            "its beginning and *.",
            name, size_max);
    }
    processes_.push_back(fmt::format("~{}", name));
    check_size();
}

bool event_patterns::matches(const provider_schema& provider,
                             const event_schema& event) const noexcept {
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
        if (matches(i, provider, event)) {
            return true;
        }
    }
    return false;
}

bool event_patterns::matches(std::size_t index, const provider_schema& provider,
                             const event_schema& event) const noexcept {
    core::filter_rule rule;
    return core::parse_rule(patterns_[index], rule) &&
           core::judge(rule, provider.name, facts_of(event), names_of(provider)) !=
               core::verdict::unwanted;
}

std::string event_patterns::packed() const {
    const auto has_mark = [](const std::string& rule) { return rule.ends_with('#'); };
    const bool marked = std::any_of(patterns_.begin(), patterns_.end(), has_mark);
    std::string list;
    for (const std::string& pattern : patterns_) {
        list += with_nul(!sessions_.empty() && !marked ? pattern + '#' : pattern);
    }
    for (const std::string& process : processes_) {
        list += with_nul(process);
    }
    return list;
}

}  // namespace elog
