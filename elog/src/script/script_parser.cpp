// SPDX-License-Identifier: MIT
//
// Splits a script into clauses, and these into probes, predicate and actions. The parsers of
// predicates and aggregations parse the rest.
#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "base/characters.hpp"
#include "base/user_error.hpp"
#include "predicate/predicate.hpp"
#include "schema/patterns.hpp"
#include "schema/sampling.hpp"
#include "script/action_parser.hpp"
#include "script/script.hpp"
#include "script/script_text.hpp"

namespace elog {
namespace {

constexpr std::string_view example = "shop:* /items > 2/ { @[customer] = count() }";
constexpr std::int64_t tick_min = 1'000'000;
constexpr std::int64_t tick_max = std::int64_t{24} * 3600 * 1'000'000'000;

/// Whether a word is the sampling rate of the pattern before it, such as 1/100.
bool is_rate(std::string_view word) noexcept {
    return is_digit(word.front()) && word.find('/') != std::string_view::npos;
}

class script_parser {
  public:
    explicit script_parser(std::string_view text) : text_(text), left_{text, 0} {}

    script parse() {
        for (left_ = left_.trimmed(); !left_.empty(); left_ = left_.trimmed()) {
            if (made_.clauses.size() == script_clauses_max) {
                reject(left_.at, fmt::format("a script has up to {} clauses.", script_clauses_max));
            }
            parse_clause();
        }
        const bool has_events =
            std::any_of(made_.clauses.begin(), made_.clauses.end(),
                        [](const script_clause& each) { return each.has(probe_kind::event); });
        if (!has_events) {
            reject(
                made_.clauses.empty() ? left_.at : 0,
                fmt::format("a script needs an event, PROVIDER:EVENT. For example: {}", example));
        }
        results_.finish();
        return std::move(made_);
    }

  private:
    [[noreturn]] void reject(std::size_t at, std::string_view reason) const {
        reject_expression(script_source, column_of(text_, at), reason);
    }

    void parse_clause() {
        script_clause& clause = made_.clauses.emplace_back();
        const std::size_t begin = left_.at;
        parse_probes(clause);
        parse_predicate(clause);
        parse_braces(clause, begin);
    }

    /// Words up to a predicate or an action.
    void parse_probes(script_clause& clause) {
        for (left_ = left_.trimmed(); !left_.empty(); left_ = left_.trimmed()) {
            if (left_.begins("/") || left_.begins("{")) {
                break;
            }
            const std::string_view word =
                left_.text.substr(0, left_.text.find_first_of(" \t\r\n{"));
            // Behind a slash, commas separate keywords.
            const std::size_t comma = word.find(',');
            const bool ends_here = comma != std::string_view::npos &&
                                   (comma + 1 == word.size() || word.find('/') > comma);
            add_probe(clause, {word.substr(0, ends_here ? comma : word.size()), left_.at});
            left_ = left_.behind(ends_here ? comma + 1 : word.size());
        }
        if (clause.probes.empty()) {
            reject(left_.at,
                   fmt::format("a clause begins with PROVIDER:EVENT, BEGIN, END or tick-1s. "
                               "For example: {}",
                               example));
        }
    }

    void add_probe(script_clause& clause, script_piece word) {
        if (word.text.ends_with(',')) {
            word.text.remove_suffix(1);
        }
        if (word.empty()) {
            return;
        }
        if (word.begins("-")) {
            reject(word.at,
                   fmt::format("options follow the script, and {} is no event.", word.text));
        }
        if (is_rate(word.text) && !clause.probes.empty() &&
            clause.probes.back().kind == probe_kind::event) {
            script_probe& sampled = clause.probes.back();
            sampled.pattern += fmt::format(" {}", word.text);
            check_pattern(sampled.pattern, word.at);
            return;
        }
        script_probe probe;
        probe.column = column_of(text_, word.at);
        if (word.text == "BEGIN" || word.text == "END") {
            probe.kind = word.text == "END" ? probe_kind::end : probe_kind::begin;
        } else if (word.begins("tick-")) {
            probe.kind = probe_kind::tick;
            probe.interval = interval_of(word.behind(5));
        } else {
            if (!clause.probes.empty() && word.text.find(':') == std::string_view::npos) {
                reject(word.at, "the events are followed by '/PREDICATE/', after a blank, or "
                                "'{ ACTION }'.");
            }
            check_pattern(std::string(word.text), word.at);
            probe.pattern = word.text;
        }
        clause.probes.push_back(std::move(probe));
    }

    void check_pattern(const std::string& pattern, std::size_t at) const {
        try {
            event_patterns().add(parse_sampled_pattern(pattern).pattern);
        } catch (const user_error& error) {
            reject(at, error.what());
        }
    }

    [[nodiscard]] std::int64_t interval_of(const script_piece& written) const {
        const std::string_view text = written.text;
        std::int64_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        const std::string_view unit_name = text.substr(static_cast<std::size_t>(end - text.data()));
        const number_unit* unit = find_unit(unit_name);
        const bool is_sound = error == std::errc{} && unit != nullptr &&
                              unit->measures == dimension::time && number > 0 &&
                              number <= tick_max / static_cast<std::int64_t>(unit->factor) &&
                              number * static_cast<std::int64_t>(unit->factor) >= tick_min;
        if (!is_sound) {
            reject(written.at, fmt::format("'tick-{}' is no interval: write a whole number and a "
                                           "unit, 1ms to 24h, for example tick-1s.",
                                           text));
        }
        return number * static_cast<std::int64_t>(unit->factor);
    }

    /// The closing slash is one at the end or before an action; other slashes may belong to network
    /// addresses.
    void parse_predicate(script_clause& clause) {
        if (!left_.begins("/")) {
            return;
        }
        const script_piece inside = left_.behind(1);
        const std::size_t end = find_outside(inside.text, [&](std::size_t at) {
            const std::size_t next = inside.text.find_first_not_of(script_blanks, at + 1);
            return inside.text[at] == '/' &&
                   (next == std::string_view::npos || inside.text[next] == '{');
        });
        if (end == std::string_view::npos) {
            reject(left_.at, "the predicate that begins here does not end: write /PREDICATE/.");
        }
        const script_piece written = inside.first(end).trimmed();
        if (written.empty()) {
            reject(left_.at,
                   "there is nothing between the slashes: leave them out, or write a predicate.");
        }
        for (const script_probe& probe : clause.probes) {
            if (probe.kind != probe_kind::event) {
                reject(left_.at,
                       "BEGIN, END and tick have no fields for a predicate: leave it out, "
                       "or give them a clause of their own.");
            }
        }
        clause.predicate = written.text;
        clause.predicate_column = column_of(text_, written.at);
        static_cast<void>(predicate(script_source, clause.predicate, clause.predicate_column));
        left_ = inside.behind(end + 1).trimmed();
    }

    void parse_braces(script_clause& clause, std::size_t begin) {
        if (left_.empty()) {
            if (!clause.has(probe_kind::event)) {
                reject(begin, "BEGIN, END and tick need an action: BEGIN { printf(\"text\") }.");
            }
            clause.actions.push_back({action_kind::print, column_of(text_, begin)});
            check_actions(clause);
            return;
        }
        const script_piece inside = left_.behind(1);
        const std::size_t end = find_outside(inside.text, '}');
        if (end == std::string_view::npos) {
            reject(left_.at, "the brace is not closed.");
        }
        parse_actions(clause, inside.first(end));
        if (clause.actions.empty() && !results_.clause_has_any()) {
            clause.actions.push_back({action_kind::print, column_of(text_, begin)});
        }
        results_.end_clause(clause);
        check_actions(clause);
        left_ = inside.behind(end + 1);
    }

    void parse_actions(script_clause& clause, script_piece rest) {
        for (;;) {
            const std::size_t end = std::min(find_outside(rest.text, ';'), rest.text.size());
            const script_piece statement = rest.first(end).trimmed();
            if (!statement.empty()) {
                parse_action(clause, statement, results_);
            }
            if (end == rest.text.size()) {
                return;
            }
            rest = rest.behind(end + 1);
        }
    }

    static void check_actions(const script_clause& clause) {
        if (clause.probes.size() ==
            static_cast<std::size_t>(std::count_if(
                clause.probes.begin(), clause.probes.end(),
                [](const script_probe& probe) { return probe.kind == probe_kind::event; }))) {
            return;
        }
        for (const script_action& action : clause.actions) {
            const bool needs_event =
                action.kind == action_kind::print || action.kind == action_kind::stack ||
                action.kind == action_kind::aggregate || action.format.has_fields();
            if (needs_event) {
                reject_expression(script_source, action.column,
                                  "this needs an event, which BEGIN, END and tick have not: they "
                                  "have printf of a text, print(@), clear(@), snapshot and exit.");
            }
        }
    }

    std::string_view text_;
    script_piece left_;
    script made_;
    result_collector results_{text_, made_};
};

bool is_plain(const script_clause& clause) noexcept {
    return std::all_of(clause.probes.begin(), clause.probes.end(),
                       [](const script_probe& probe) { return probe.kind == probe_kind::event; });
}

}  // namespace

bool script_clause::has(probe_kind kind) const noexcept {
    return std::any_of(probes.begin(), probes.end(),
                       [kind](const script_probe& probe) { return probe.kind == kind; });
}

bool script::has_action(action_kind kind) const noexcept {
    return std::any_of(clauses.begin(), clauses.end(), [kind](const script_clause& clause) {
        return std::any_of(clause.actions.begin(), clause.actions.end(),
                           [kind](const script_action& action) { return action.kind == kind; });
    });
}

script script::parse(std::string_view text) {
    if (text.size() > script_size_max) {
        throw user_error("{}, column 1: This has {} bytes; up to {} are allowed.", script_source,
                         text.size(), script_size_max);
    }
    const std::string code = without_comments(text);
    return script_parser(code).parse();
}

std::vector<std::string> script::patterns() const {
    std::vector<std::string> all;
    for (const script_clause& clause : clauses) {
        for (const script_probe& probe : clause.probes) {
            if (probe.kind == probe_kind::event &&
                std::find(all.begin(), all.end(), probe.pattern) == all.end()) {
                all.push_back(probe.pattern);
            }
        }
    }
    return all;
}

std::string script::common_predicate() const {
    std::string all;
    const script_clause* first = nullptr;
    for (const script_clause& clause : clauses) {
        if (!clause.has(probe_kind::event)) {
            continue;
        }
        const bool is_alike =
            first == nullptr ||
            std::equal(clause.probes.begin(), clause.probes.end(), first->probes.begin(),
                       first->probes.end(), [](const script_probe& one, const script_probe& other) {
                           return one.kind == other.kind && one.pattern == other.pattern;
                       });
        if (clause.predicate.empty() || !is_alike) {
            return {};
        }
        first = &clause;
        all += fmt::format("{}({})", all.empty() ? "" : " || ", clause.predicate);
    }
    return all;
}

std::optional<std::vector<std::string>> script::words() const {
    if (clauses.size() != 1 || !is_plain(clauses.front())) {
        return std::nullopt;
    }
    const script_clause& clause = clauses.front();
    std::vector<std::string> all{"record"};
    if (!results.empty()) {
        aggregation whole;
        for (const script_result& result : results) {
            const aggregation& query = result.query;
            const bool has_same_keys =
                &result == &results.front() ||
                std::equal(query.keys.begin(), query.keys.end(), whole.keys.begin(),
                           whole.keys.end(), [](const aggregate_key& one, const auto& other) {
                               return one.text == other.text;
                           });
            if (result.latency || !has_same_keys || (whole.top != 0 && query.top != 0)) {
                return std::nullopt;
            }
            whole.keys = query.keys;
            whole.calls.insert(whole.calls.end(), query.calls.begin(), query.calls.end());
            whole.top = std::max(whole.top, query.top);
        }
        if (whole.calls.size() > aggregate_calls_max) {
            return std::nullopt;
        }
        all = {"agg", whole.text()};
    }
    const action_kind wanted = results.empty() ? action_kind::print : action_kind::aggregate;
    if (std::any_of(clause.actions.begin(), clause.actions.end(),
                    [&](const script_action& action) { return action.kind != wanted; }) ||
        (results.empty() && clause.actions.size() != 1)) {
        return std::nullopt;
    }
    for (const script_probe& probe : clause.probes) {
        all.insert(all.end(), {"-e", probe.pattern});
    }
    if (!clause.predicate.empty()) {
        all.push_back("--where=" + clause.predicate);
    }
    return all;
}

}  // namespace elog
