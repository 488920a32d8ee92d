// SPDX-License-Identifier: MIT
#include "script/action_parser.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "base/user_error.hpp"
#include "predicate/expression_parser.hpp"
#include "schema/patterns.hpp"
#include "text/did_you_mean.hpp"

namespace elog {
namespace {

constexpr std::string_view all_actions =
    "the actions are print, printf(\"TEXT\", FIELD, ...), stack, @[FIELD, ...] = CALL, print(@), "
    "clear(@), trunc(@, NUMBER), snapshot(\"REASON\") and exit()";

/// NAME or NAME(ARGUMENTS).
struct call_piece {
    script_piece name{};
    script_piece arguments{};  // without blanks at both ends
    bool has_arguments = false;
};

call_piece split_call(const script_piece& statement, const result_collector& results) {
    call_piece call;
    call.name = statement.first(statement.word().size());
    const script_piece rest = statement.behind(call.name.text.size()).trimmed();
    if (rest.empty()) {
        return call;
    }
    if (!rest.begins("(")) {
        results.reject(rest.at,
                       fmt::format("a ; is missing in front of this, or '{}' is no action: "
                                   "{}.",
                                   call.name.text, all_actions));
    }
    const script_piece inside = rest.behind(1);
    const std::size_t end = find_outside(inside.text, ')');
    if (end == std::string_view::npos) {
        results.reject(rest.at, "the parenthesis is not closed.");
    }
    const script_piece behind = inside.behind(end + 1).trimmed();
    if (!behind.empty()) {
        results.reject(behind.at, "a ; is missing in front of this.");
    }
    call.arguments = inside.first(end).trimmed();
    call.has_arguments = true;
    return call;
}

/// "@name"; `rest` is the text behind it.
script_piece split_name(const script_piece& from, script_piece& rest) {
    const script_piece name = from.behind(1).first(from.behind(1).word().size());
    rest = from.behind(1 + name.text.size()).trimmed();
    return name;
}

/// One text in double quotes, or nothing.
class reason_parser : private expression_parser {
  public:
    reason_parser(std::string_view text, std::size_t column)
        : expression_parser(script_source, text, column) {}

    std::string parse() {
        std::string reason;
        if (current().kind == expression_token_kind::text) {
            reason = current().text;
            advance();
        }
        require_end("snapshot has one text in double quotes: snapshot(\"slow order\").");
        return reason;
    }
};

void require_no_arguments(const call_piece& call, const result_collector& results) {
    if (!call.arguments.empty()) {
        results.reject(call.arguments.at,
                       fmt::format("{} has nothing in its parentheses: write {}.", call.name.text,
                                   call.name.text));
    }
}

void parse_result_action(script_clause& clause, const call_piece& call, script_action action,
                         result_collector& results) {
    script_piece rest;
    if (!call.arguments.begins("@")) {
        results.reject(
            call.arguments.empty() ? call.name.at : call.arguments.at,
            fmt::format("{0} needs the name of an aggregation: {0}(@name).", call.name.text));
    }
    const script_piece name = split_name(call.arguments, rest);
    if (!rest.empty()) {
        results.reject(rest.at, fmt::format("{0} has one name: {0}(@name).", call.name.text));
    }
    results.refer(clause, std::move(action), name);
}

script_piece take_pattern(std::string_view text, script_piece& rest, std::string_view ends) {
    rest = rest.trimmed();
    const std::size_t size = std::min(rest.text.find_first_of(ends), rest.text.size());
    const script_piece pattern = rest.first(size).trimmed();
    try {
        event_patterns().add(pattern.text);
    } catch (const user_error& error) {
        reject_expression(script_source, column_of(text, pattern.at), error.what());
    }
    rest = rest.behind(size);
    return pattern;
}

}  // namespace

void result_collector::reject(std::size_t at, std::string_view reason) const {
    reject_expression(script_source, column_of(text_, at), reason);
}

void result_collector::add_calls(const script_piece& statement) {
    script_piece left;
    script_result found;
    found.name = split_name(statement, left).text;
    found.column = column_of(text_, statement.at);
    std::vector<aggregate_key> keys;
    std::size_t keys_at = 0;
    if (left.begins("[")) {
        const script_piece inside = left.behind(1);
        const std::size_t end = find_outside(inside.text, ']');
        if (end == std::string_view::npos) {
            reject(left.at, "the bracket is not closed.");
        }
        const script_piece fields = inside.first(end).trimmed();
        keys_at = fields.at;
        if (!fields.empty()) {
            keys = aggregation::parse_keys(script_source, fields.text, column_of(text_, fields.at));
        }
        left = inside.behind(end + 1).trimmed();
    }
    if (!left.begins("=") || left.begins("==")) {
        reject(left.at, "'= CALL' must follow '@' or '@[FIELD, ...]'.");
    }
    const script_piece calls = left.behind(1).trimmed();
    if (calls.empty()) {
        reject(calls.at, "a call such as count() must follow '='.");
    }
    if (calls.word() == "latency") {
        script_piece rest;
        found.latency = parse_latency_call(text_, calls, rest);
        if (!rest.empty()) {
            reject(rest.at, "latency(BEGIN, END by FIELD) stands alone: give other calls another "
                            "name.");
        }
        found.query = aggregation_of_latency(column_of(text_, calls.at));
    } else {
        found.query = aggregation::parse(script_source, calls.text, column_of(text_, calls.at));
    }
    if (!keys.empty() && !found.query.keys.empty()) {
        reject(keys_at, "the fields stand in brackets or behind 'by', not in both.");
    }
    if (!keys.empty()) {
        found.query.keys = std::move(keys);
    }
    add_query(std::move(found), statement.at);
}

void result_collector::add_query(script_result found, std::size_t at) {
    const auto same = std::find_if(clause_.begin(), clause_.end(), [&](const script_result& each) {
        return each.name == found.name;
    });
    if (same == clause_.end()) {
        script_action action;
        action.kind = action_kind::aggregate;
        action.column = found.column;
        std::vector<script_action>& actions = made_.clauses.back().actions;
        actions_.push_back(actions.size());
        actions.push_back(std::move(action));
        clause_.push_back(std::move(found));
        return;
    }
    const auto has_text = [](const aggregate_key& one, const aggregate_key& other) {
        return one.text == other.text;
    };
    const bool fits = std::equal(found.query.keys.begin(), found.query.keys.end(),
                                 same->query.keys.begin(), same->query.keys.end(), has_text) &&
                      found.query.top == 0 && same->query.top == 0 && !found.latency &&
                      !same->latency;
    if (!fits) {
        reject(at, fmt::format("@{} has other fields in this clause: what has one name is one "
                               "table. Give this another name.",
                               found.name));
    }
    if (same->query.calls.size() + found.query.calls.size() > aggregate_calls_max) {
        reject(at, fmt::format("up to {} calls have one name.", aggregate_calls_max));
    }
    same->query.calls.insert(same->query.calls.end(), found.query.calls.begin(),
                             found.query.calls.end());
}

void result_collector::set_limit(const script_piece& statement, const script_piece& arguments) {
    script_piece rest;
    if (!arguments.begins("@")) {
        reject(statement.at, "write 'trunc(@, NUMBER)'.");
    }
    const script_piece name = split_name(arguments, rest);
    if (!rest.begins(",")) {
        reject(statement.at, "write 'trunc(@, NUMBER)'.");
    }
    const script_piece number = rest.behind(1).trimmed();
    std::uint64_t rows = 0;
    const char* const end = number.text.data() + number.text.size();
    const auto [read, mistake] = std::from_chars(number.text.data(), end, rows);
    if (mistake != std::errc{} || read != end || rows == 0 || rows > aggregate_rows_max) {
        reject(number.at, fmt::format("a number from 1 to {} is needed here: the rows to show.",
                                      aggregate_rows_max));
    }
    ++limits_in_clause_;
    limits_.push_back({std::string(name.text), static_cast<std::size_t>(rows), statement.at});
}

void result_collector::refer(script_clause& clause, script_action action,
                             const script_piece& name) {
    references_.push_back(
        {made_.clauses.size() - 1, clause.actions.size(), std::string(name.text), name.at - 1});
    clause.actions.push_back(std::move(action));
}

void result_collector::end_clause(script_clause& clause) {
    for (std::size_t i = 0; i < clause_.size(); ++i) {
        script_result& found = clause_[i];
        script_action& action = clause.actions[actions_[i]];
        if (const script_result* known = find(found.name)) {
            const auto pattern_of = [](const script_result& result) {
                return result.latency ? result.latency->begin + "," + result.latency->end
                                      : std::string();
            };
            if (known->query.text() != found.query.text() ||
                pattern_of(*known) != pattern_of(found)) {
                reject_expression(script_source, found.column,
                                  fmt::format("another clause computes '{}' with @{}: give this "
                                              "another name.",
                                              known->query.text(), found.name));
            }
            action.result = static_cast<std::size_t>(known - made_.results.data());
        } else {
            action.result = made_.results.size();
            made_.results.push_back(std::move(found));
        }
    }
    clause_.clear();
    actions_.clear();
    limits_in_clause_ = 0;
}

script_result* result_collector::find(std::string_view name) {
    const auto found = std::find_if(made_.results.begin(), made_.results.end(),
                                    [&](const script_result& each) { return each.name == name; });
    return found == made_.results.end() ? nullptr : &*found;
}

script_result& result_collector::require(const std::string& name, std::size_t at) {
    script_result* const found = find(name);
    if (found == nullptr) {
        std::vector<std::string_view> names;
        for (const script_result& each : made_.results) {
            names.emplace_back(each.name);
        }
        reject(at, fmt::format("no clause computes @{}: write '@{} = CALL'.{}", name, name,
                               did_you_mean(name, names)));
    }
    return *found;
}

void result_collector::finish() {
    for (const limit& each : limits_) {
        script_result& result = require(each.name, each.at);
        if (result.query.top != 0) {
            reject(each.at, "the number of rows can be given only once.");
        }
        result.query.top = each.rows;
    }
    for (const reference& each : references_) {
        const script_result& result = require(each.name, each.at);
        made_.clauses[each.clause].actions[each.action].result =
            static_cast<std::size_t>(&result - made_.results.data());
    }
}

void parse_action(script_clause& clause, const script_piece& statement, result_collector& results) {
    if (statement.begins("@")) {
        results.add_calls(statement);
        return;
    }
    const call_piece call = split_call(statement, results);
    const std::string_view name = call.name.text;
    script_action action;
    action.column = column_of(results.text(), statement.at);
    if (name == "printf") {
        action.kind = action_kind::format;
        action.format = printf_format::parse(
            call.arguments.text,
            column_of(results.text(),
                      call.has_arguments ? call.arguments.at : statement.at + name.size()));
    } else if (name == "trunc") {
        results.set_limit(statement, call.arguments);
        return;
    } else if (name == "clear" || (name == "print" && !call.arguments.empty())) {
        action.kind = name == "clear" ? action_kind::clear_result : action_kind::print_result;
        parse_result_action(clause, call, std::move(action), results);
        return;
    } else if (name == "snapshot") {
        action.kind = action_kind::snapshot;
        action.text =
            reason_parser(call.arguments.text, column_of(results.text(), call.arguments.at))
                .parse();
    } else {
        constexpr std::array<std::pair<std::string_view, action_kind>, 3> plain{
            {{"print", action_kind::print},
             {"stack", action_kind::stack},
             {"exit", action_kind::exit}}};
        const auto* const found = std::find_if(
            plain.begin(), plain.end(), [&](const auto& each) { return each.first == name; });
        if (found == plain.end()) {
            results.reject(statement.at,
                           fmt::format("this is no action: {}.{}", all_actions,
                                       did_you_mean(name, {"print", "printf", "stack", "clear",
                                                           "trunc", "snapshot", "exit"})));
        }
        require_no_arguments(call, results);
        action.kind = found->second;
    }
    clause.actions.push_back(std::move(action));
}

latency_query parse_latency_call(std::string_view text, const script_piece& call,
                                 script_piece& rest) {
    const auto reject = [&](std::size_t at) {
        reject_expression(script_source, column_of(text, at),
                          "write latency(BEGIN, END by FIELD): two events, PROVIDER:EVENT, and the "
                          "field that is equal in both.");
    };
    script_piece left = call.behind(call.word().size()).trimmed();
    const std::size_t end =
        left.begins("(") ? find_outside(left.behind(1).text, ')') : std::string_view::npos;
    if (end == std::string_view::npos) {
        reject(left.at);
    }
    script_piece inside = left.behind(1).first(end);
    rest = left.behind(end + 2).trimmed();
    latency_query query;
    query.begin = take_pattern(text, inside, ",").text;
    if (!inside.begins(",")) {
        reject(inside.at);
    }
    inside = inside.behind(1);
    query.end = take_pattern(text, inside, script_blanks).text;
    inside = inside.trimmed();
    if (inside.word() != "by") {
        reject(inside.at);
    }
    const script_piece fields = inside.behind(2).trimmed();
    query.by = aggregation::parse_keys(script_source, fields.text, column_of(text, fields.at));
    return query;
}

script script::parse_latency(std::string_view text, std::string_view where) {
    const script_piece call = script_piece{text, 0}.trimmed();
    script_piece rest;
    script_result result;
    result.latency = parse_latency_call(text, call, rest);
    result.query = aggregation_of_latency(column_of(text, call.at));
    if (!rest.empty()) {
        // The parser of aggregations needs a call in front, which is shorter than this one.
        constexpr std::string_view front = "count() ";
        const aggregation groups =
            aggregation::parse(script_source, std::string(front) + std::string(rest.text),
                               column_of(text, rest.at) - front.size());
        if (groups.calls.size() != 1) {
            reject_expression(script_source, column_of(text, rest.at),
                              "latency(BEGIN, END by FIELD) stands alone: compute other calls "
                              "without it.");
        }
        result.query.keys = groups.keys;
        result.query.top = groups.top;
    }
    script made;
    script_clause& clause = made.clauses.emplace_back();
    for (const std::string& pattern : {result.latency->begin, result.latency->end}) {
        if (clause.probes.empty() || clause.probes.front().pattern != pattern) {
            clause.probes.emplace_back().pattern = pattern;
        }
    }
    clause.predicate = where;
    clause.predicate_source = "--where";
    clause.actions.emplace_back().kind = action_kind::aggregate;
    made.results.push_back(std::move(result));
    return made;
}

aggregation aggregation_of_latency(std::size_t column) {
    aggregation made;
    made.source = script_source;
    constexpr std::array<std::pair<std::string_view, aggregate_function>, 5> calls{
        {{"count", aggregate_function::count},
         {"avg", aggregate_function::avg},
         {"min", aggregate_function::min},
         {"max", aggregate_function::max},
         {"latency", aggregate_function::quantize}}};
    for (const auto& [name, what] : calls) {
        aggregate_call call;
        call.what = what;
        call.column = column;
        call.text = name;
        if (what != aggregate_function::count) {
            call.of = field_reference{latency_field, true, false, 0, column};
        }
        made.calls.push_back(std::move(call));
    }
    return made;
}

}  // namespace elog
