// SPDX-License-Identifier: MIT
//
// A ring buffer of perf's, perf_event_open(2): all trace events of one CPU that somebody asks for,
// or its processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kernel/instance.hpp"
#include "perf/perf_records.hpp"
#include "platform/unique_fd.hpp"

namespace eventlog::tracefs {

struct perf_options {
    std::uint64_t buffer_size = std::uint64_t{4} << 20U;  // bytes, of each CPU: a power of two
    bool overwrite = false;  // the newest events take the place of the oldest
    bool processes = false;  // which begin, and get names, instead of trace events
    bool stacks = false;     // of the program, with each event; and what processes map
};

class perf_buffer {
  public:
    using take_record = std::function<void(const perf_record&)>;

    /// Of a CPU that is online, for no event so far. Times are on CLOCK_MONOTONIC. nullptr: the CPU
    /// has just gone offline. Throws error, also if perf may not be used.
    [[nodiscard]] static std::unique_ptr<perf_buffer> open(std::uint32_t cpu,
                                                           const perf_options& options);
    ~perf_buffer();
    perf_buffer(const perf_buffer&) = delete;
    perf_buffer& operator=(const perf_buffer&) = delete;

    /// Takes events of that number in, for which the kernel's filter is true, if it is not empty;
    /// nothing is kept before enable(). Returns false if the kernel refuses the filter: then all of
    /// them are. Throws error, also if there is no such event any more.
    [[nodiscard]] bool add(const event_name& event, std::uint16_t id, const std::string& filter);
    /// Those that have been added.
    void enable();
    /// No event is kept any more. What is being written at this moment may come a moment later: see
    /// settle().
    void stop() noexcept;

    /// Hands over what there is, and gives its room back. With `overwrite` call it once, behind
    /// stop(): before the first record comes how many are not there any more. Throws error if the
    /// memory makes no sense; then what was in it counts as lost.
    void read(const take_record& take);

    /// How many events there have been, of all that were added, kept or lost. Throws error.
    [[nodiscard]] std::uint64_t count() const;
    /// Of these, how many read() has handed over.
    [[nodiscard]] std::uint64_t delivered() const noexcept { return delivered_; }

    /// Whether its CPU has been online since the last call, or else all is over: a CPU that comes
    /// back does not bring its events back. Throws error.
    [[nodiscard]] bool is_running();

    /// Is ready to be read when a quarter is full.
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
    core::unique_fd ring_;  // an event that never happens, whose memory all others write to
    std::size_t page_size_;
    perf_event_mmap_page* page_ = nullptr;
    perf_memory memory_;
    std::vector<attached_event> attached_events_;
    std::uint64_t delivered_ = 0;
    std::uint64_t enabled_for_ = 0;  // ns, at the last look
};

}  // namespace eventlog::tracefs
