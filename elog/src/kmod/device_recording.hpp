// SPDX-License-Identifier: MIT
//
// From the kernel module to a sink: what `elog record --via device`, or relay, does between its
// first event and its last.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "kmod/device_stream.hpp"
#include "kmod/module_source.hpp"
#include "memory/subscription.hpp"
#include "record/clock_schedule.hpp"
#include "record/record_sink.hpp"
#include "record/recording_summary.hpp"
#include "schema/filter.hpp"

namespace elog {

class device_recording {
  public:
    /// Of a subscription that has been made with these options, whose patterns must outlive it.
    /// Throws failure.
    device_recording(const subscription_options& options, std::unique_ptr<module_source> source);

    /// As that of recording; once. The kernel goes on until this is destroyed; what comes after
    /// `stop` has said so need not be in it.
    recording_summary run(record_sink& sink, const std::function<bool()>& stop,
                          std::chrono::nanoseconds latency);

    [[nodiscard]] recording_summary current_summary() const;
    /// For each pattern, whether there has been a program that offers such an event.
    [[nodiscard]] const std::vector<bool>& patterns_matched() const noexcept { return matched_; }
    /// Those who are there, as long as it does not run.
    [[nodiscard]] const std::vector<provider_instance>& found() const noexcept {
        return published_.empty() ? found_ : published_;
    }
    /// Sentences, since the last call.
    [[nodiscard]] std::vector<std::string> take_diagnostics() {
        return source_->take_diagnostics();
    }

  private:
    using steady_clock = std::chrono::steady_clock;

    void find_providers();
    void find_published();
    void mark_matched_patterns(const provider_schema& schema);
    void store_verdicts(const provider_instance& provider);
    void deliver_providers();
    [[nodiscard]] bool is_wanted(const record_view& record);
    [[nodiscard]] bool is_in_session(const record_view& record) const;
    [[nodiscard]] bool is_overtaken(int empty_reads) const;
    void read_all();
    void drain();
    [[nodiscard]] bool has_read_up_to(const std::vector<eventlog_statistics>& counts) const;
    [[nodiscard]] recording_summary end();
    void report_losses();

    const event_patterns& patterns_;
    std::vector<provider_instance> published_;  // also of whom nothing is asked
    bool overwrites_;
    std::unique_ptr<module_source> source_;
    device_stream stream_;
    record_sink* sink_ = nullptr;           // while it runs
    std::vector<provider_instance> found_;  // and not handed over
    // Only where keywords are named, of which the kernel knows nothing: by event of a provider.
    std::unordered_map<std::uint16_t, std::vector<eventlog::core::verdict>> verdicts_;
    std::vector<bool> matched_;
    steady_clock::time_point begin_ = steady_clock::now();
    clock_schedule clock_schedule_;
    std::uint64_t last_poll_ = 0;
};

}  // namespace elog
