// SPDX-License-Identifier: MIT
//
// A perf ring buffer of one CPU, perf_event_open(2), for trace events or for process records.
//
// All events of the CPU write to one ring, which belongs to an event that never occurs, so the ring
// exists before the first event and after the last. One thread uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernel/tracing_folder.hpp"
#include "perf/perf_records.hpp"
#include "platform/unique_fd.hpp"

namespace eventlog::tracefs {

struct perf_options {
    std::uint64_t buffer_size = std::uint64_t{4} << 20U;  // bytes for each CPU: a power of two
    bool overwrite = false;                               // the newest events replace the oldest
    bool processes = false;  // records process starts and names instead of trace events
    bool stacks = false;     // records the stack with each event, or the mappings of processes
};

class perf_buffer {
  public:
    using take_record = std::function<void(const perf_record&)>;

    /// Opens a buffer without events. Times are on CLOCK_MONOTONIC. nullptr if the CPU has gone
    /// offline. Throws error, also if perf may not be used.
    [[nodiscard]] static std::unique_ptr<perf_buffer> open(std::uint32_t cpu,
                                                           const perf_options& options);
    ~perf_buffer();
    perf_buffer(const perf_buffer&) = delete;
    perf_buffer& operator=(const perf_buffer&) = delete;

    /// Adds the event with that number, with the kernel's filter if it is not empty; recording
    /// starts with enable(). `with_kernel_stack`: stacks have the functions of the kernel, too.
    /// Returns false if the kernel refuses the filter; then all events are recorded. Throws error,
    /// also if the event no longer exists.
    [[nodiscard]] bool add(const event_name& event, std::uint16_t id, const std::string& filter,
                           bool with_kernel_stack);
    /// Enables all added events.
    void enable();
    /// Stops recording; an event in progress may be completed until wait_for_writers() returns.
    void stop() noexcept;

    /// Passes on all records and frees their room. With `overwrite` call it once, after
    /// stop(): the first record is the number of overwritten events. Throws error if the memory is
    /// invalid; then its content counts as lost.
    void read(const take_record& take);

    /// Number of events that occurred, recorded or lost, of all added ones. Throws error.
    [[nodiscard]] std::uint64_t count() const;
    /// Number of events that read() has passed on.
    [[nodiscard]] std::uint64_t delivered() const noexcept { return delivered_; }

    /// Whether the CPU has stayed online since the last call. If not, the buffer has ended: the
    /// events do not return with the CPU. Throws error.
    [[nodiscard]] bool is_running();

    /// Readable when a quarter of the buffer is full.
    [[nodiscard]] int file() const noexcept { return ring_.get(); }

  private:
    struct attached_event {
        core::unique_fd file;
        bool is_enabled = false;
    };

    perf_buffer(std::uint32_t cpu, const perf_options& options, core::unique_fd ring);

    void map_memory();
    void deliver(std::span<const std::uint8_t> bytes, const take_record& take);
    void read_forward(const take_record& take);
    void read_backward(const take_record& take);

    std::uint32_t cpu_;
    perf_options options_;
    core::unique_fd ring_;  // an event that never occurs; all other events write to it
    std::size_t page_size_;
    perf_event_mmap_page* page_ = nullptr;
    perf_memory memory_;
    std::vector<attached_event> attached_events_;
    std::uint64_t delivered_ = 0;
    std::uint64_t enabled_for_ = 0;  // nanoseconds, at the last check
};

}  // namespace eventlog::tracefs
