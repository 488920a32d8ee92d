// SPDX-License-Identifier: MIT
//
// An instance of the kernel's tracing that keeps trace events for a recording.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "capture/traced_source.hpp"
#include "format/page_events.hpp"
#include "kernel/instance.hpp"

namespace elog {

class tracefs_source : public traced_source {
  public:
    /// Throws failure.
    explicit tracefs_source(const eventlog::tracefs::instance_options& options);

    [[nodiscard]] std::uint32_t cpu_count() const override { return instance_.cpu_count(); }
    [[nodiscard]] bool picks_processes() const override { return picks_processes_; }
    bool listen(const traced_event& event, const std::string& condition) override;
    bool count(const counted_event& wanted) override;
    [[nodiscard]] std::vector<counted_event> counted() const override { return counted_; }
    [[nodiscard]] std::string look_around() override;
    bool wait(std::chrono::nanoseconds at_most) override;
    void take(std::uint32_t cpu, std::uint64_t until, kept_taker& taker) override;
    [[nodiscard]] std::string stop() override;
    [[nodiscard]] std::uint64_t lost(std::uint32_t cpu) const override;
    [[nodiscard]] eventlog::tracefs::hist_table counts_of(const counted_event& event) override;
    [[nodiscard]] std::string name_of_ended(std::uint32_t thread) override {
        return eventlog::tracefs::saved_name(thread);
    }

  private:
    using steady_clock = std::chrono::steady_clock;

    struct cpu_state {
        std::uint64_t latest = 0;   // the time of the last event
        std::uint64_t told = 0;     // missing, in all
        bool is_uncertain = false;  // once the kernel could not say how many
    };

    [[nodiscard]] bool is_counted(const counted_event& each) const;
    void check_counting(const counted_event& each) const;
    void check_enabled(const traced_event& event) const;
    [[nodiscard]] std::string look_at_buffers();
    void take_missed(std::uint32_t cpu, const eventlog::tracefs::missed_events& missed,
                     kept_taker& taker);
    void take_page(std::uint32_t cpu, kept_taker& taker);

    eventlog::tracefs::instance instance_;
    eventlog::tracefs::page_events page_events_;
    bool picks_processes_;
    std::vector<const traced_event*> kept_;  // those that are, and not only counted
    std::vector<counted_event> counted_;
    std::vector<cpu_state> cpus_;
    std::string buffer_size_;
    std::vector<std::uint8_t> page_;
    steady_clock::time_point check_due_{};
};

}  // namespace elog
