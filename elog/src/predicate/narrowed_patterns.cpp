// SPDX-License-Identifier: MIT
#include "predicate/narrowed_patterns.hpp"

#include <linux/eventlog_device.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/glob.hpp"
#include "predicate/value_location.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;
using eventlog::level;

template <class Value>
using choice = std::optional<std::vector<Value>>;  // one of these; nullopt: any

/// What holds for every event that a condition can match.
struct constraint {
    level most_verbose = level::trace;
    choice<std::string> events{};  // patterns
    choice<std::uint64_t> processes{};
    choice<std::uint64_t> sessions{};
};

/// Both choices hold, so either is a valid bound.
template <class Value>
choice<Value> intersect(choice<Value> one, choice<Value> other) {
    return one && (!other || one->size() <= other->size()) ? std::move(one) : std::move(other);
}

template <class Value>
choice<Value> unite(choice<Value> one, const choice<Value>& other) {
    if (!one || !other) {
        return std::nullopt;
    }
    for (const Value& value : *other) {
        if (std::find(one->begin(), one->end(), value) == one->end()) {
            one->push_back(value);
        }
    }
    return one;
}

constraint intersect(constraint one, constraint other) {
    return {std::min(one.most_verbose, other.most_verbose),
            intersect(std::move(one.events), std::move(other.events)),
            intersect(std::move(one.processes), std::move(other.processes)),
            intersect(std::move(one.sessions), std::move(other.sessions))};
}

constraint unite(constraint one, const constraint& other) {
    return {std::max(one.most_verbose, other.most_verbose),
            unite(std::move(one.events), other.events),
            unite(std::move(one.processes), other.processes),
            unite(std::move(one.sessions), other.sessions)};
}

bool names_built_in(const predicate_node& node) {
    return node.kind == predicate_kind::name && !node.place.field_only && !node.place.has_index &&
           is_built_in(node.place.name);
}

constraint bound_of_level(comparison how, const predicate_node& value) {
    const std::optional<level> named = find_wanted_level(value.place.name);
    if (value.kind != predicate_kind::name || value.negative || value.place.field_only ||
        value.place.has_index || !named) {
        return {};
    }
    if (how == comparison::less_equal || how == comparison::equal) {
        return {.most_verbose = *named};
    }
    if (how == comparison::less && *named != level::error) {
        return {.most_verbose = static_cast<level>(static_cast<unsigned>(*named) - 1)};
    }
    return {};
}

bool has_wildcard(std::string_view pattern) {
    return pattern.find_first_of("*?") != std::string_view::npos;
}

/// Names are limited to this length, and the kernel module rejects longer patterns.
bool is_event_pattern(std::string_view text) {
    return !text.empty() && text.size() < EVENTLOG_IDENTIFIER_SIZE &&
           std::all_of(text.begin(), text.end(), [](unsigned char c) {
               return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '_' || c == '*' || c == '?';
           });
}

/// The event part of PROVIDER:EVENT.
constraint bound_of_event(comparison how, const predicate_node& value) {
    const bool is_pattern = how == comparison::like;
    if (value.kind != predicate_kind::text || (!is_pattern && how != comparison::equal)) {
        return {};
    }
    std::string_view text = is_pattern ? value.value.pattern : value.value.text;
    text.remove_prefix(text.find(':') + 1);
    if (!is_event_pattern(text) || (!is_pattern && has_wildcard(text))) {
        return {};
    }
    return {.events = std::vector{std::string(text)}};
}

choice<std::uint64_t> number_in(comparison how, const predicate_node& value) {
    std::uint64_t number = 0;
    const std::string& text = value.value.text;
    const char* const end = text.data() + text.size();
    if (how != comparison::equal || value.kind != predicate_kind::number ||
        value.value.number.negative || std::from_chars(text.data(), end, number).ptr != end) {
        return std::nullopt;
    }
    return std::vector{number};
}

constraint bound_of_relation(const predicate& wanted, const predicate_node& node) {
    const predicate_node* name = &wanted.nodes()[node.children[0]];
    const predicate_node* value = &wanted.nodes()[node.children[1]];
    comparison how = node.how;
    if (!names_built_in(*name)) {
        std::swap(name, value);
        how = mirrored(how);
    }
    if (!names_built_in(*name)) {
        return {};
    }
    if (name->place.name == "level") {
        return bound_of_level(how, *value);
    }
    if (name->place.name == "event") {
        return bound_of_event(how, *value);
    }
    if (name->place.name == "pid") {
        return {.processes = number_in(how, *value)};
    }
    if (name->place.name == "session") {
        return {.sessions = number_in(how, *value)};
    }
    return {};
}

constraint bound_of(const predicate& wanted, std::size_t index) {
    const predicate_node& node = wanted.nodes()[index];
    if (node.kind == predicate_kind::relation) {
        return bound_of_relation(wanted, node);
    }
    const bool is_conjunction = node.kind == predicate_kind::conjunction;
    if (!is_conjunction && node.kind != predicate_kind::disjunction) {
        return {};
    }
    constraint all = bound_of(wanted, node.children[0]);
    for (std::size_t i = 1; i < node.children.size(); ++i) {
        constraint next = bound_of(wanted, node.children[i]);
        all = is_conjunction ? intersect(std::move(all), std::move(next))
                             : unite(std::move(all), next);
    }
    return all;
}

/// A pattern for the events that match both patterns, as narrow as a pattern can be; nullopt: no
/// event matches both.
std::optional<std::string_view> common(std::string_view rule, std::string_view wanted) {
    if (!has_wildcard(rule)) {
        return core::glob_match(wanted, rule) ? std::optional(rule) : std::nullopt;
    }
    if (rule == "*") {
        return wanted;
    }
    if (!has_wildcard(wanted)) {
        return core::glob_match(rule, wanted) ? std::optional(wanted) : std::nullopt;
    }
    return rule;
}

std::string text_of(const core::filter_rule& rule, std::string_view event, level most_verbose) {
    const bool has_level = most_verbose != level::trace;
    return fmt::format("{}:{}{}{}{}{}{}", rule.provider, event, has_level ? "@" : "",
                       has_level ? name_of(most_verbose) : "", rule.keywords.empty() ? "" : "/",
                       rule.keywords, rule.in_session ? "#" : "");
}

void add_rule_once(std::vector<std::string>& rules, std::string rule) {
    if (std::find(rules.begin(), rules.end(), rule) == rules.end()) {
        rules.push_back(std::move(rule));
    }
}

std::vector<std::string> narrowed_rules(const event_patterns& patterns, const constraint& limits) {
    static const std::vector<std::string> any{"*"};
    std::vector<std::string> made;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        core::filter_rule rule;
        if (!core::parse_rule(patterns[i], rule)) {
            return {};
        }
        const level most_verbose = std::min(rule.most_verbose, limits.most_verbose);
        for (const std::string& event : limits.events ? *limits.events : any) {
            const std::optional<std::string_view> left = common(rule.event, event);
            if (left) {
                add_rule_once(made, text_of(rule, *left, most_verbose));
            }
        }
    }
    return made;
}

/// Whether the numbers are valid and fit into the filter.
bool can_be_added(const event_patterns& patterns, const std::vector<std::uint64_t>& numbers) {
    constexpr std::size_t entry_size_max = sizeof "=4294967295";
    return numbers.size() <= EVENTLOG_PROCESSES_MAX &&
           patterns.packed().size() + patterns.size() + numbers.size() * entry_size_max <=
               EVENTLOG_FILTER_SIZE_MAX &&
           std::all_of(numbers.begin(), numbers.end(),
                       [](std::uint64_t number) { return number != 0 && number <= UINT32_MAX; });
}

std::vector<std::string> rules_of(const event_patterns& patterns) {
    std::vector<std::string> rules;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        rules.push_back(patterns[i]);
    }
    return rules;
}

bool has_mark(const std::vector<std::string>& rules) {
    return std::any_of(rules.begin(), rules.end(),
                       [](const std::string& rule) { return rule.ends_with('#'); });
}

/// Whether the patterns do not depend on sessions.
bool are_of_any_session(const event_patterns& patterns) {
    return patterns.sessions().empty() && !has_mark(rules_of(patterns));
}

/// Appends to the list of names that made patterns narrower.
void add_name(std::string& names, std::string_view name) {
    names += names.empty() ? "" : ", ";
    names += name;
}

void narrow_rules(narrowed_patterns& made, const constraint& limits) {
    const std::vector<std::string> rules = narrowed_rules(made.patterns, limits);
    // If no remaining rule has a #, the session list would apply to the other rules.
    const bool changes_marks =
        !made.patterns.sessions().empty() && has_mark(rules) != has_mark(rules_of(made.patterns));
    // Limits that patterns cannot express leave the patterns unchanged, as does an empty result.
    if (rules.empty() || rules.size() > EVENTLOG_RULES_MAX || changes_marks ||
        !made.patterns.replace(rules)) {
        return;
    }
    if (limits.most_verbose != level::trace) {
        add_name(made.names, "level");
    }
    if (limits.events) {
        add_name(made.names, "event");
    }
}

}  // namespace

std::optional<narrowed_patterns> narrow(const event_patterns& patterns, const predicate& wanted) {
    const constraint limits = bound_of(wanted, wanted.root());
    narrowed_patterns made{patterns, {}};
    narrow_rules(made, limits);
    if (limits.processes && !patterns.names_processes() &&
        can_be_added(made.patterns, *limits.processes)) {
        for (const std::uint64_t number : *limits.processes) {
            made.patterns.add_process(static_cast<std::uint32_t>(number));
        }
        add_name(made.names, "pid");
    }
    if (limits.sessions && limits.sessions->size() <= EVENTLOG_SESSIONS_MAX &&
        are_of_any_session(patterns)) {
        for (const std::uint64_t number : *limits.sessions) {
            made.patterns.add_session(number);
        }
        add_name(made.names, "session");
    }
    return made.names.empty() ? std::nullopt : std::optional(std::move(made));
}

bool uses_only_built_ins(const predicate& wanted) {
    const auto is_name_of_level = [&](const predicate_node& node) {
        return !node.place.field_only && find_wanted_level(node.place.name).has_value();
    };
    return std::all_of(wanted.nodes().begin(), wanted.nodes().end(),
                       [&](const predicate_node& node) {
                           return node.kind != predicate_kind::name || names_built_in(node) ||
                                  is_name_of_level(node);
                       });
}

}  // namespace elog
