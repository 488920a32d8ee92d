// SPDX-License-Identifier: MIT
//
// Records trace events in perf buffers, one for each CPU.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "capture/kernel_trace_source.hpp"
#include "perf/perf_buffer.hpp"
#include "tracing/process_mappings.hpp"
#include "tracing/process_names.hpp"
#include "tracing/stack_symbolizer.hpp"

namespace elog {

class perf_source : public kernel_trace_source {
  public:
    /// Throws user_error.
    explicit perf_source(const eventlog::tracefs::perf_options& options);

    [[nodiscard]] std::uint32_t cpu_count() const override {
        return static_cast<std::uint32_t>(cpus_.size());
    }
    [[nodiscard]] bool filters_processes() const override { return false; }
    bool enable_event(const kernel_trace_event& event, const std::string& condition) override;
    [[nodiscard]] std::string check_setup() override;
    bool wait(std::chrono::nanoseconds at_most) override;
    void take(std::uint32_t cpu, std::uint64_t until, captured_event_handler& handler) override;
    [[nodiscard]] std::string stop() override;
    [[nodiscard]] std::uint64_t lost(std::uint32_t cpu) const override;
    [[nodiscard]] std::string exited_process_name(std::uint32_t process) override;

  private:
    using buffer = std::unique_ptr<eventlog::tracefs::perf_buffer>;
    struct cpu_state {
        buffer live{};                  // while the CPU is online
        std::vector<buffer> ended{};    // from before the CPU went offline, not read yet
        std::uint64_t overwritten = 0;  // events in discarded buffers
        std::uint64_t lost = 0;         // in buffers that have been read and closed
        buffer processes{};             // side-band records; exists as long as live
    };
    struct enabled_event {
        eventlog::tracefs::event_name name;
        std::uint16_t id;
        std::string condition;
        bool has_kernel_stack;
    };

    template <class Visit>
    void for_each_live(const Visit& visit);
    void follow_cpus();
    void check_cpus();
    [[nodiscard]] std::string report_new_cpus();
    void end(cpu_state& state);
    [[nodiscard]] buffer open(std::uint32_t cpu) const;
    void take_processes();
    void read(eventlog::tracefs::perf_buffer& from, std::uint32_t cpu,
              captured_event_handler& handler);
    [[nodiscard]] captured_event event_of(const eventlog::tracefs::perf_record& record);

    eventlog::tracefs::perf_options options_;
    std::vector<cpu_state> cpus_;
    std::vector<enabled_event> enabled_events_;
    std::vector<std::uint32_t> new_cpus_;  // CPUs that came online and have not been reported
    process_names names_;
    process_mappings mappings_;
    stack_symbolizer stacks_;
    std::chrono::steady_clock::time_point poll_due_{};
    std::chrono::steady_clock::time_point check_due_{};
};

}  // namespace elog
