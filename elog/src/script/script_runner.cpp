// SPDX-License-Identifier: MIT
#include "script/script_runner.hpp"

#include <algorithm>
#include <utility>

#include "schema/sampling.hpp"
#include "schema/type_mismatches.hpp"
#include "text/escaped_text.hpp"
#include "text/wide_integer.hpp"

namespace elog {
namespace {

field_reference stack_reference(std::size_t column) {
    return {"stack", true, false, 0, column};
}

}  // namespace

/// How the records of one event are shown by the actions of a clause.
struct script_runner::clause_plan {
    bool wanted = false;
    std::vector<std::optional<printf_plan>> formats{};  // by action
    std::optional<value_location> stack{};
};

struct script_runner::tick_state {
    std::int64_t interval = 0;
    std::optional<wide_integer> next{};  // CLOCK_MONOTONIC; nothing before the first time
};

struct script_runner::clause_state {
    const script_clause* clause = nullptr;
    event_patterns patterns{};
    std::vector<tick_state> ticks{};
    std::unique_ptr<record_filter> filter{};        // nullptr: all records of the patterns
    std::vector<std::vector<clause_plan>> plans{};  // by provider and event
    type_mismatches mismatches{};                   // of printf
    known_names names{};
    std::vector<std::vector<bool>> known{};  // by action and printf's piece
    bool has_stack = false;
    bool has_events = false;
    std::vector<bool> matched{};  // by pattern
};

struct script_runner::result_state {
    std::unique_ptr<aggregator> computed{};
    std::unique_ptr<latency_pairs> pairs{};  // of latencies
    bool is_cleared = false;                 // and nothing has been computed since
};

struct script_runner::context {
    const merged_record& record;
    const provider_instance& provider;
    const clause_plan& plan;
    const clock_converter& clock;
};

script_runner::script_runner(const script& wanted, const script_run_options& options,
                             script_output& output)
    : script_(wanted), output_(output) {
    for (const script_clause& clause : script_.clauses) {
        clause_state& state = *clauses_.emplace_back(std::make_unique<clause_state>());
        state.clause = &clause;
        for (const script_probe& probe : clause.probes) {
            if (probe.kind == probe_kind::tick) {
                state.ticks.push_back({probe.interval, {}});
            } else if (probe.kind == probe_kind::event) {
                const sampled_pattern pattern = parse_sampled_pattern(probe.pattern);
                if (pattern.every > 1) {
                    reject_expression(
                        script_source, probe.column,
                        "the actions of this script need every event: leave out 1/N.");
                }
                try {
                    state.patterns.add(pattern.pattern);
                } catch (const user_error& error) {  // together they are too long
                    reject_expression(script_source, probe.column, error.what());
                }
            }
        }
        state.matched.assign(state.patterns.size(), false);
        for (const script_action& action : clause.actions) {
            state.known.emplace_back(action.format.pieces.size(), false);
        }
        if (!clause.predicate.empty()) {
            state.filter = std::make_unique<record_filter>(
                predicate(clause.predicate_source, clause.predicate, clause.predicate_column),
                options.reference_time,
                [&state](const provider_schema& provider, const event_schema& event) {
                    return state.patterns.matches(provider, event);
                });
        }
    }
    for (std::size_t i = 0; i < script_.results.size(); ++i) {
        result_state& state = *results_.emplace_back(std::make_unique<result_state>());
        const script_result& result = script_.results[i];
        const auto is_fed = [this, i](const provider_schema& provider, const event_schema& event) {
            return std::any_of(clauses_.begin(), clauses_.end(), [&](const auto& clause) {
                const auto& actions = clause->clause->actions;
                return clause->patterns.matches(provider, event) &&
                       std::any_of(actions.begin(), actions.end(), [i](const script_action& each) {
                           return each.kind == action_kind::aggregate && each.result == i;
                       });
            });
        };
        event_choice chosen = is_fed;
        if (result.latency) {
            event_patterns ends;
            ends.add(result.latency->end);
            chosen = [ends, is_fed](const provider_schema& provider, const event_schema& event) {
                return ends.matches(provider, event) && is_fed(provider, event);
            };
        }
        state.computed = std::make_unique<aggregator>(result.query, nullptr, options.keys_max,
                                                      std::move(chosen));
        if (result.latency) {
            state.pairs = std::make_unique<latency_pairs>(*result.latency, *state.computed);
        }
    }
}

script_runner::~script_runner() = default;

void script_runner::add(const provider_instance& provider) {
    const provider_instance& kept =
        providers_.insert_or_assign(provider.id, provider).first->second;
    std::optional<user_error> mistake;
    const auto attempt = [&mistake](const auto& function) {
        try {
            function();
        } catch (const user_error& error) {
            mistake = mistake ? mistake : std::optional(error);
        }
    };
    has_events_ = has_events_ || !kept.schema.events.empty();
    for (const auto& clause : clauses_) {
        if (clause->filter != nullptr) {
            attempt([&] { clause->filter->add(kept); });
        }
        add_to_clause(*clause, kept, mistake);
    }
    for (const auto& result : results_) {
        attempt([&] {
            if (result->pairs != nullptr) {
                result->pairs->add(kept);
            } else {
                result->computed->add(kept);
            }
        });
    }
    if (mistake) {
        throw user_error(*mistake);
    }
}

/// Plans the records of each event of the provider.
void script_runner::add_to_clause(clause_state& clause, const provider_instance& provider,
                                  std::optional<user_error>& mistake) {
    if (clause.plans.size() <= provider.id) {
        clause.plans.resize(std::size_t{provider.id} + 1);
    }
    std::vector<clause_plan>& plans = clause.plans[provider.id];
    plans.clear();
    clause.mismatches.begin_provider(provider.id);
    const std::vector<script_action>& actions = clause.clause->actions;
    for (std::size_t i = 0; i < provider.schema.events.size(); ++i) {
        const event_schema& event = provider.schema.events[i];
        clause_plan& plan = plans.emplace_back();
        for (std::size_t j = 0; j < clause.patterns.size(); ++j) {
            const bool fits = clause.patterns.matches(j, provider.schema, event);
            clause.matched[j] = clause.matched[j] || fits;
            plan.wanted = plan.wanted || fits;
        }
        if (!plan.wanted) {
            continue;
        }
        clause.has_events = true;
        clause.names.add(provider.schema, event);
        try {
            plan.stack = find_location(stack_reference(1), provider, event, script_source);
            clause.has_stack = clause.has_stack || plan.stack;
            for (std::size_t j = 0; j < actions.size(); ++j) {
                std::optional<printf_plan>& format = plan.formats.emplace_back();
                if (actions[j].kind == action_kind::format) {
                    format.emplace(actions[j].format, provider, event);
                    for (std::size_t k = 0; k < format->places.size(); ++k) {
                        clause.known[j][k] = clause.known[j][k] || format->places[k];
                    }
                }
            }
            clause.mismatches.note_compatible(provider.schema, event);
        } catch (const user_error& error) {
            plan.wanted = false;
            clause.mismatches.note(provider, i, error);
            mistake = mistake ? mistake : std::optional(error);
        }
    }
}

void script_runner::check(bool all_are_known) const {
    for (const auto& clause : clauses_) {
        if (clause->filter != nullptr) {
            clause->filter->check_types();
        }
        clause->mismatches.check();
        if (!all_are_known || !clause->has_events) {
            continue;
        }
        if (clause->filter != nullptr) {
            clause->filter->check_names();
        }
        for (std::size_t i = 0; i < clause->known.size(); ++i) {
            const script_action& action = clause->clause->actions[i];
            for (std::size_t j = 0; j + 1 < clause->known[i].size(); ++j) {
                if (!clause->known[i][j]) {
                    clause->names.reject(script_source, action.format.pieces[j].field);
                }
            }
            if (action.kind == action_kind::stack && !clause->has_stack) {
                reject_expression(
                    script_source, action.column,
                    "No event has a call stack: record them with --via perf --stack.");
            }
        }
    }
    for (const auto& result : results_) {
        result->computed->check_types();
        if (all_are_known && result->pairs != nullptr) {
            result->pairs->check_names();
        }
        if (all_are_known) {
            result->computed->check_names();
        }
    }
}

void script_runner::check_patterns() const {
    for (const auto& clause : clauses_) {
        for (std::size_t i = 0, pattern = 0; has_events_ && i < clause->clause->probes.size();
             ++i) {
            const script_probe& probe = clause->clause->probes[i];
            if (probe.kind == probe_kind::event && !clause->matched[pattern++]) {
                reject_expression(script_source, probe.column,
                                  fmt::format("No event of the recording matches '{}'. See which "
                                              "there are with: elog stat",
                                              probe.pattern));
            }
        }
    }
}

void script_runner::begin() {
    run_all(probe_kind::begin);
}

void script_runner::run_all(probe_kind kind) {
    for (const auto& clause : clauses_) {
        if (clause->clause->has(kind)) {
            run_clause(*clause, nullptr);
        }
    }
}

void script_runner::take(const merged_record& record, const clock_converter& clock) {
    if (done_) {
        return;
    }
    note_missing(missing_before(record));
    advance(clock.monotonic(order_time_of(record)));
    const record_view& decoded = record.record;
    const auto provider = providers_.find(decoded.provider);
    if (provider == providers_.end() || !is_supported(decoded) ||
        decoded.event >= provider->second.schema.events.size()) {
        ++unknown_;
        return;
    }
    for (const auto& clause : clauses_) {
        if (done_) {
            break;
        }
        const clause_plan& plan = clause->plans[decoded.provider][decoded.event];
        if (clause->filter != nullptr && !clause->filter->matches(decoded, clock)) {
            continue;
        }
        if (!plan.wanted) {
            clause->mismatches.count(decoded.provider, decoded.event);
            continue;
        }
        const context event{record, provider->second, plan, clock};
        run_clause(*clause, &event);
    }
}

void script_runner::advance(std::int64_t time) {
    for (const auto& clause : clauses_) {
        for (tick_state& tick : clause->ticks) {
            const wide_integer interval = tick.interval;
            if (!tick.next) {
                tick.next = wide_integer{time} + interval;
            }
            if (wide_integer{time} < *tick.next) {
                continue;
            }
            const wide_integer due = (wide_integer{time} - *tick.next) / interval + 1;
            const wide_integer skipped = std::max<wide_integer>(due - ticks_max, 0);
            skipped_ticks_ += static_cast<std::uint64_t>(skipped);
            *tick.next += due * interval;
            for (wide_integer left = due - skipped; left != 0 && !done_; --left) {
                run_clause(*clause, nullptr);
            }
        }
    }
}

void script_runner::note_missing(const missing_count& missing) {
    for (const auto& result : results_) {
        result->computed->note_missing(missing);
    }
}

void script_runner::run_clause(const clause_state& clause, const context* event) {
    for (std::size_t i = 0; i < clause.clause->actions.size(); ++i) {
        run_action(i, clause, event);
    }
}

/// `event` is null for BEGIN, END and ticks, whose clauses have no actions that need one.
void script_runner::run_action(std::size_t index, const clause_state& clause,
                               const context* event) {
    const script_action& action = clause.clause->actions[index];
    switch (action.kind) {
        case action_kind::print:
            return output_.print(event->record, providers_, event->clock);
        case action_kind::format:
            line_.clear();
            if (event == nullptr) {
                append_line(line_, action.format);
            } else {
                append_line(line_, action.format, *event->plan.formats[index],
                            event->provider.schema, event->record.record, event->clock);
            }
            return output_.write({line_.data(), line_.size()});
        case action_kind::stack:
            return print_stack(*event);
        case action_kind::aggregate: {
            result_state& result = *results_[action.result];
            result.is_cleared = false;
            if (result.pairs != nullptr) {
                result.pairs->take(event->record.record, event->clock);
            } else {
                result.computed->take(event->record.record, event->clock);
            }
            return;
        }
        case action_kind::print_result:
            return show(action.result);
        case action_kind::clear_result:
            return clear(action.result);
        case action_kind::exit:
            done_ = true;
            return;
        case action_kind::snapshot:
            return output_.request_snapshot(action.text);
    }
}

/// One line for each function, the innermost first.
void script_runner::print_stack(const context& event) {
    line_.clear();
    std::string_view functions;
    if (event.plan.stack && is_there(event.plan.stack->stored, event.record.record) &&
        load_span(event.plan.stack->stored, event.record.record, functions)) {
        while (!functions.empty()) {
            const std::size_t separator = functions.rfind(';');
            const std::size_t begin = separator == std::string_view::npos ? 0 : separator + 1;
            append(line_, "    ");
            append_visible(line_, functions.substr(begin));
            line_.push_back('\n');
            functions = functions.substr(0, begin == 0 ? 0 : separator);
        }
    } else {
        append(line_, "    -\n");
    }
    output_.write({line_.data(), line_.size()});
}

void script_runner::show(std::size_t result) {
    const result_state& state = *results_[result];
    const latency_counts unmatched =
        state.pairs != nullptr ? state.pairs->counts() : latency_counts{};
    output_.show(script_.results[result], *state.computed,
                 state.pairs != nullptr ? &unmatched : nullptr);
}

/// Open begins of latencies stay: their ends may follow.
void script_runner::clear(std::size_t result) {
    result_state& state = *results_[result];
    state.computed->reset_values();
    state.is_cleared = true;
    if (state.pairs != nullptr) {
        state.pairs->clear_counts();
    }
}

void script_runner::finish() {
    run_all(probe_kind::end);
    for (std::size_t i = 0; i < results_.size(); ++i) {
        if (!results_[i]->is_cleared || results_[i]->computed->has_results()) {
            show(i);
        }
    }
}

std::vector<std::string> script_runner::mismatches() const {
    std::vector<std::string> all;
    const auto add = [&all](const type_mismatches& found) {
        for (std::string& sentence : found.sentences()) {
            if (std::find(all.begin(), all.end(), sentence) == all.end()) {
                all.push_back(std::move(sentence));
            }
        }
    };
    for (const auto& clause : clauses_) {
        if (clause->filter != nullptr) {
            add(clause->filter->mismatches());
        }
        add(clause->mismatches);
    }
    for (const auto& result : results_) {
        add(result->computed->mismatches());
    }
    return all;
}

}  // namespace elog
