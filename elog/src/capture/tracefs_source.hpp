// SPDX-License-Identifier: MIT
//
// Records trace events in an instance of the kernel's tracing.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "capture/kernel_trace_source.hpp"
#include "format/page_events.hpp"
#include "kernel/instance.hpp"

namespace elog {

class tracefs_source : public kernel_trace_source {
  public:
    /// Throws user_error.
    explicit tracefs_source(const eventlog::tracefs::instance_options& options);

    [[nodiscard]] std::uint32_t cpu_count() const override { return instance_.cpu_count(); }
    [[nodiscard]] bool filters_processes() const override { return filters_processes_; }
    bool enable_event(const kernel_trace_event& event, const std::string& condition) override;
    bool count(const counted_event& wanted) override;
    [[nodiscard]] std::vector<counted_event> counted() const override { return counted_; }
    [[nodiscard]] std::string check_setup() override;
    bool wait(std::chrono::nanoseconds at_most) override;
    void take(std::uint32_t cpu, std::uint64_t until, captured_event_handler& handler) override;
    [[nodiscard]] std::string stop() override;
    [[nodiscard]] std::uint64_t lost(std::uint32_t cpu) const override;
    [[nodiscard]] eventlog::tracefs::hist_table counts_of(const counted_event& event) override;
    [[nodiscard]] std::string exited_process_name(std::uint32_t thread) override {
        return eventlog::tracefs::saved_name(thread);
    }

  private:
    using steady_clock = std::chrono::steady_clock;

    struct cpu_state {
        std::uint64_t latest = 0;    // time of the last event
        std::uint64_t reported = 0;  // losses passed on
        bool is_uncertain = false;   // the kernel once could not report a count
    };

    [[nodiscard]] std::string folder() const;
    void check_counting(const counted_event& each) const;
    void check_enabled(const kernel_trace_event& event) const;
    [[nodiscard]] std::string check_buffers();
    void take_missed(std::uint32_t cpu, const eventlog::tracefs::missed_events& missed,
                     captured_event_handler& handler);
    void take_page(std::uint32_t cpu, captured_event_handler& handler);

    eventlog::tracefs::instance instance_;
    eventlog::tracefs::page_events page_events_;
    bool filters_processes_;
    std::vector<const kernel_trace_event*>
        kept_;  // recorded events, without those that are only counted
    std::vector<counted_event> counted_;
    std::vector<cpu_state> cpus_;
    std::string buffer_size_;
    std::vector<std::uint8_t> page_;
    steady_clock::time_point check_due_{};
};

}  // namespace elog
