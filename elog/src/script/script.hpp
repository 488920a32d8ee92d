// SPDX-License-Identifier: MIT
//
// A script as a syntax tree: clauses of probes, a predicate and actions.
//
//     BEGIN { printf("customer items") }
//     shop:order_placed /items > 2/ { printf("%s %d", customer, items); @[customer] = count() }
//     tick-1s { print(@); clear(@) }
//
// elog-run(1) is the specification; script_runner.hpp runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "aggregate/aggregation.hpp"
#include "script/printf_format.hpp"

namespace elog {

inline constexpr std::size_t script_size_max = 65536;
inline constexpr std::size_t script_clauses_max = 64;
/// The source of messages, "script, column N: reason", where N counts the characters of the whole
/// script. script_mistake.hpp converts it to a line and a column.
inline constexpr const char* script_source = "script";
/// The column of a latency's duration in the events of latency_pairs. Fields have no such name.
inline constexpr const char* latency_field = "latency()";

enum class probe_kind { begin, end, tick, event };

struct script_probe {
    probe_kind kind = probe_kind::event;
    std::string pattern{};      // of events: PATTERN or PATTERN 1/N
    std::int64_t interval = 0;  // of a tick, in nanoseconds
    std::size_t column = 1;
};

enum class action_kind {
    print,
    format,        // printf
    stack,         // the frames of the event's field `stack`
    aggregate,     // also latency()
    print_result,  // print(@name)
    clear_result,  // clear(@name)
    exit,
    snapshot,
};

struct script_action {
    action_kind kind = action_kind::print;
    std::size_t column = 1;
    std::size_t result = 0;  // of an aggregation: its index in the script's results
    printf_format format{};
    std::string text{};  // of a snapshot: the reason
};

struct latency_query {
    std::string begin;  // patterns of events
    std::string end;
    std::vector<aggregate_key> by;  // equal in both events
};

/// An aggregation, which may be computed by several clauses.
struct script_result {
    std::string name;  // without @; empty: @ alone
    std::size_t column = 1;
    aggregation query{};
    std::optional<latency_query> latency{};  // the query is that of its durations
};

struct script_clause {
    std::vector<script_probe> probes{};
    std::string predicate{};  // empty: all events
    std::string predicate_source{script_source};
    std::size_t predicate_column = 1;
    std::vector<script_action> actions{};

    [[nodiscard]] bool has(probe_kind kind) const noexcept;
};

struct script {
    std::vector<script_clause> clauses{};
    std::vector<script_result> results{};

    /// Lines that begin with # are comments. Throws user_error: script, column N: reason.
    [[nodiscard]] static script parse(std::string_view text);
    /// "latency(BEGIN, END by FIELD, ...) [by FIELD, ...] [| top N]" of elog agg, as a script.
    [[nodiscard]] static script parse_latency(std::string_view text, std::string_view where);

    /// The equivalent `elog record` or `elog agg` with its arguments, which have more options and
    /// let the kernel aggregate. Nothing for a script that needs more: several clauses, or actions
    /// other than aggregations by the same fields.
    [[nodiscard]] std::optional<std::vector<std::string>> words() const;

    /// All patterns of events, in order, each once.
    [[nodiscard]] std::vector<std::string> patterns() const;
    /// A predicate that is true for every event that a clause uses. Empty: none is known, because
    /// clauses with different patterns may have fields of different types.
    [[nodiscard]] std::string common_predicate() const;
    [[nodiscard]] bool has_action(action_kind kind) const noexcept;
};

}  // namespace elog
