// SPDX-License-Identifier: MIT
//
// Checks of the keywords in patterns, before and during a recording.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "record/record_sink.hpp"
#include "schema/patterns.hpp"
#include "schema/provider_schema.hpp"
#include "schema/unknown_keywords.hpp"

namespace elog {

inline constexpr const char* keyword_advice = "To wait for a program that has it, add --wait.";

using find_providers = std::function<std::vector<provider_instance>()>;

/// Throws user_error, with `advice`, for a keyword that none of the matching providers has. Calls
/// `find` only if there are keywords.
void check_keywords(const event_patterns& patterns, const find_providers& find,
                    std::string_view advice,
                    without_keywords meaning = without_keywords::lacks_all);

/// The same as a warning, for providers that may start later.
void warn_unknown_keywords(const event_patterns& patterns, const find_providers& find);

/// Passes records on to a sink, and warns as soon as a provider with matching events lacks a
/// keyword, also if none of its events is wanted, so that it does not attach.
class keyword_watch : public record_sink {
  public:
    /// The sink has to outlive this.
    keyword_watch(const event_patterns& patterns, record_sink& sink, find_providers find,
                  without_keywords meaning = without_keywords::lacks_all);

    /// Adds providers that exist before the recording.
    void add(const std::vector<provider_instance>& providers);
    /// Searches for new providers, at most once a second. Called in the loop of the recording.
    void poll();

    void start(const region_view& source) override { sink_.start(source); }
    void take_clock(const eventlog_clock_sample& pair) override { sink_.take_clock(pair); }
    void take_provider(const provider_instance& provider) override;
    void take_run(const record_run& run) override { sink_.take_run(run); }
    void take_loss(const loss_report& loss) override { sink_.take_loss(loss); }
    void note_loss(const loss_report& loss) override { sink_.note_loss(loss); }
    void take_mark(const recording_mark& mark) override { sink_.take_mark(mark); }
    void advance(std::uint64_t time, std::uint64_t present) override {
        sink_.advance(time, present);
    }
    void check() override { sink_.check(); }
    void finish() override { sink_.finish(); }

  private:
    void search();

    unknown_keywords keywords_;
    record_sink& sink_;
    find_providers find_;
    std::chrono::steady_clock::time_point next_search_{};
};

}  // namespace elog
