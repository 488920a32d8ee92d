// SPDX-License-Identifier: MIT
//
// An instance of the kernel's tracing that belongs to this process: its own buffers, clock and
// enabled events, which do not affect other tracing.
//
// Created by the constructor, removed by the destructor. An instance whose owner was killed is
// removed by the next one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernel/hist_table.hpp"
#include "kernel/tracing_folder.hpp"
#include "platform/unique_fd.hpp"

namespace eventlog::tracefs {

struct instance_options {
    std::uint64_t buffer_size = std::uint64_t{4} << 20U;  // bytes for each CPU
    std::vector<std::uint32_t>
        pids{};  // only these processes with all of their threads; empty: all
};

/// The kernel's loss counters of a CPU.
struct buffer_counts {
    std::uint64_t overrun = 0;  // overwritten events
    std::uint64_t dropped = 0;  // events without room

    [[nodiscard]] std::uint64_t lost() const noexcept { return overrun + dropped; }
};

class instance {
  public:
    /// Removes the instances of dead owners, then creates a new one. Throws error, also if tracefs
    /// is not mounted or may not be used.
    explicit instance(const instance_options& options);
    /// Removes the instance.
    ~instance();
    instance(const instance&) = delete;
    instance& operator=(const instance&) = delete;

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    /// Throws error, also if the event does not exist.
    void enable(const event_name& event);
    /// Records only events that match the kernel's filter, see Linux' events.rst; "0": all. Returns
    /// false if the kernel refuses it; then all events are recorded.
    [[nodiscard]] bool filter(const event_name& event, const std::string& condition);
    [[nodiscard]] bool is_enabled(const event_name& event) const;

    /// Counts the event's records, whether they are recorded or not. An event has one histogram at
    /// a time. Returns false, with nothing changed, if the kernel refuses.
    [[nodiscard]] bool count(const event_name& event, const hist_request& asked);
    [[nodiscard]] bool is_counted(const event_name& event) const;
    /// Stops counting; records that are being counted may still be added until wait_for_writers()
    /// returns. Throws error.
    void pause(const event_name& event, const hist_request& asked);
    /// The counts, after pause() and wait_for_writers(). Throws error.
    [[nodiscard]] hist_table counts_of(const event_name& event, const hist_request& asked) const;

    /// Stops recording. Throws error.
    void stop();

    /// One more than the highest possible CPU.
    [[nodiscard]] std::uint32_t cpu_count() const noexcept {
        return static_cast<std::uint32_t>(cpus_.size());
    }

    /// Reads a page of a CPU's buffer, or its filled part, into `page`. Returns false if
    /// there is none. Throws error.
    [[nodiscard]] bool read_page(std::uint32_t cpu, std::vector<std::uint8_t>& page);
    /// Throws error.
    [[nodiscard]] buffer_counts counts_of(std::uint32_t cpu) const;

    /// Throws error if another process has changed the page size, which discards the content.
    void check_pages() const;
    /// As printed by the kernel; empty if unknown. While another process changes the size, events
    /// are neither recorded nor counted.
    [[nodiscard]] std::string buffer_size() const;

  private:
    void set(const char* file, const std::string& value);
    void set_pids(const std::vector<std::uint32_t>& pids);
    void open_cpus();
    [[nodiscard]] std::size_t read_page_size() const;
    void remove() noexcept;

    std::string name_;
    tracefs_instance* handle_ = nullptr;
    std::vector<core::unique_fd> cpus_;  // empty for CPUs without a buffer
    std::size_t page_size_ = 4096;
};

/// Waits until all events that were being recorded or counted at the call are complete, as far as
/// the kernel allows to wait for that.
void wait_for_writers();

}  // namespace eventlog::tracefs
