// SPDX-License-Identifier: MIT
//
// Moves records from the kernel module to a sink: `elog record --via device` or `--via relay`, from
// the first event to the last.
//
// One thread uses it. The sink must outlive run().
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
#include "memory/recording_loop.hpp"
#include "memory/subscription.hpp"
#include "record/event_numbers.hpp"
#include "record/record_sink.hpp"
#include "record/recording_summary.hpp"
#include "schema/filter.hpp"

namespace elog {

class device_recording {
  public:
    /// `source` is a subscription made with `options`, whose patterns must outlive it. Throws
    /// user_error.
    device_recording(const subscription_options& options, std::unique_ptr<module_source> source);

    /// As recording::run(); may be called once. The kernel records until this object is destroyed;
    /// events after `stop` has returned true need not be included.
    recording_summary run(record_sink& sink, const std::function<bool()>& stop,
                          std::chrono::nanoseconds latency);

    // In place of run(), see live_capture. Not in overwrite mode.
    void begin(record_sink& sink);
    void poll() { drain(); }
    bool wait(std::chrono::nanoseconds at_most) { return source_->wait(at_most); }
    recording_summary end();

    [[nodiscard]] recording_summary current_summary() const;
    /// For each pattern, whether an application with a matching event was found.
    [[nodiscard]] const std::vector<bool>& patterns_matched() const noexcept { return matched_; }
    /// The providers that exist, before begin() or run().
    [[nodiscard]] const std::vector<provider_instance>& found() const noexcept {
        return published_.empty() ? found_ : published_;
    }
    /// Diagnostics since the last call, as sentences.
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
    [[nodiscard]] bool is_wanted(const record_view& record) const;
    [[nodiscard]] bool is_in_session(const record_view& record) const;
    [[nodiscard]] bool is_overtaken(int empty_reads) const;
    void read_all();
    void drain();
    [[nodiscard]] bool has_read_up_to(const std::vector<eventlog_statistics>& counts) const;
    void report_losses();

    const event_patterns& patterns_;
    std::vector<provider_instance> published_;  // also those without requested events
    bool overwrites_;
    std::unique_ptr<module_source> source_;
    event_numbers events_;  // of the providers that were found
    device_stream stream_;
    record_sink* sink_ = nullptr;           // since begin() or run()
    std::vector<provider_instance> found_;  // not passed to the sink yet
    // Verdict per event of each provider. Used only if patterns name keywords, which the kernel
    // does not know.
    std::unordered_map<std::uint32_t, std::vector<eventlog::core::verdict>> verdicts_;
    std::vector<bool> matched_;
    steady_clock::time_point begin_ = steady_clock::now();
    poll_clock poll_clock_;
};

}  // namespace elog
