// SPDX-License-Identifier: MIT
#include "kmod/device_request.hpp"

#include <charconv>
#include <cstring>
#include <string>
#include <string_view>

#include "base/user_error.hpp"
#include "schema/filter.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;

/// Throws user_error if the text is too long.
template <std::size_t Size>
void copy_pattern(std::string_view text, char (&to)[Size]) {
    if (text.size() >= Size) {
        throw user_error(
            "'{}' is longer than the {} characters that the kernel module takes: write "
            "its beginning and *.",
            text, Size - 1);
    }
    std::memcpy(&to[0], text.data(), text.size());
}

eventlog_filter_rule rule_of(const core::filter_rule& rule) {
    eventlog_filter_rule made{};
    copy_pattern(rule.provider, made.provider);
    copy_pattern(rule.event, made.event);
    made.level = static_cast<std::uint32_t>(rule.most_verbose);
    made.flags = rule.in_session ? EVENTLOG_RULE_SESSIONS : 0;
    return made;
}

/// =PID or ~NAME
eventlog_process_filter process_of(std::string_view entry) {
    eventlog_process_filter made{};
    if (entry.front() == '=') {
        std::from_chars(entry.data() + 1, entry.data() + entry.size(), made.pid);
    } else {
        copy_pattern(entry.substr(1), made.name);
    }
    return made;
}

}  // namespace

device_request::device_request(const event_patterns& patterns) : sessions(patterns.sessions()) {
    const std::string packed = patterns.packed();
    for (std::string_view list = packed; !list.empty();) {
        const std::string_view entry = list.substr(0, list.find('\0'));
        list.remove_prefix(entry.size() + 1);
        core::filter_rule rule;
        if (core::is_process_entry(entry)) {
            processes.push_back(process_of(entry));
        } else if (core::parse_rule(entry, rule)) {
            rules.push_back(rule_of(rule));
            names_keywords = names_keywords || !rule.keywords.empty();
        }
    }
    if (rules.size() > EVENTLOG_RULES_MAX || processes.size() > EVENTLOG_PROCESSES_MAX) {
        throw user_error(
            "The kernel module takes {} patterns and {} processes, and no more. Use * to "
            "select the same events with fewer.",
            EVENTLOG_RULES_MAX, EVENTLOG_PROCESSES_MAX);
    }
}

}  // namespace elog
