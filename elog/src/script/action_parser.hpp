// SPDX-License-Identifier: MIT
//
// Parses the statements of a clause, and collects the aggregations of a script by their names. Used
// by script_parser.cpp.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "script/script.hpp"
#include "script/script_text.hpp"

namespace elog {

/// Calls of one name in one clause are columns of one table. Clauses that use a name compute the
/// same with it.
class result_collector {
  public:
    /// Both have to outlive the collector.
    result_collector(std::string_view text, script& made) : text_(text), made_(made) {}

    /// "@name[FIELD, ...] = CALL, ..."
    void add_calls(const script_piece& statement);
    /// trunc(@name, N)
    void set_limit(const script_piece& statement, const script_piece& arguments);
    /// print(@name), clear(@name): the name is looked up by finish().
    void refer(script_clause& clause, script_action action, const script_piece& name);
    /// A clause has ended: adds its aggregations.
    void end_clause(script_clause& clause);
    /// The clause that is being parsed has an aggregation or trunc().
    [[nodiscard]] bool clause_has_any() const noexcept {
        return !clause_.empty() || limits_in_clause_ != 0;
    }
    /// Checks and resolves names.
    void finish();

    [[nodiscard]] std::string_view text() const noexcept { return text_; }
    [[noreturn]] void reject(std::size_t at, std::string_view reason) const;

  private:
    struct limit {
        std::string name;
        std::size_t rows = 0;
        std::size_t at = 0;
    };
    struct reference {
        std::size_t clause = 0;
        std::size_t action = 0;
        std::string name;
        std::size_t at = 0;
    };

    void add_query(script_result found, std::size_t at);
    [[nodiscard]] script_result* find(std::string_view name);
    [[nodiscard]] script_result& require(const std::string& name, std::size_t at);

    std::string_view text_;
    script& made_;
    std::vector<script_result> clause_;  // of the clause that is being parsed
    std::vector<std::size_t> actions_;   // indexes of their actions in the clause
    std::size_t limits_in_clause_ = 0;
    std::vector<limit> limits_;
    std::vector<reference> references_;
};

/// Appends the action of a statement to the clause.
void parse_action(script_clause& clause, const script_piece& statement, result_collector& results);

/// Parses "latency(BEGIN, END by FIELD, ...)"; `rest` is the text behind it. Throws user_error.
[[nodiscard]] latency_query parse_latency_call(std::string_view text, const script_piece& call,
                                               script_piece& rest);
/// The aggregation of durations.
[[nodiscard]] aggregation aggregation_of_latency(std::size_t column);

}  // namespace elog
