// SPDX-License-Identifier: MIT
//
// An instance of the kernel's tracing that is ours alone: buffers, clock and enabled events that
// nobody else's tracing sees or disturbs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernel/hist_table.hpp"
#include "platform/unique_fd.hpp"

struct tracefs_instance;

namespace eventlog::tracefs {

struct instance_options {
    std::uint64_t buffer_size = std::uint64_t{4} << 20U;  // bytes, of each CPU
    std::vector<std::uint32_t>
        pids{};  // only these processes, with all of their threads; empty: all
};

/// What the kernel has counted in a CPU's buffer.
struct buffer_counts {
    std::uint64_t overrun = 0;  // events that newer ones took the place of
    std::uint64_t dropped = 0;  // events that found no room

    [[nodiscard]] std::uint64_t lost() const noexcept { return overrun + dropped; }
};

class instance {
  public:
    /// Makes one; first it removes those that killed recorders have left. Throws error, also if
    /// tracefs is not mounted or may not be used.
    explicit instance(const instance_options& options);
    /// Removes it.
    ~instance();
    instance(const instance&) = delete;
    instance& operator=(const instance&) = delete;

    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    /// Throws error, also if there is no such event any more.
    void enable(const std::string& system, const std::string& event);
    /// Only events for which the kernel's filter is true, see Linux' events.rst; "0": all. False if
    /// the kernel refuses it: then all, too.
    [[nodiscard]] bool filter(const std::string& system, const std::string& event,
                              const std::string& condition);
    [[nodiscard]] bool is_enabled(const std::string& system, const std::string& event) const;

    /// Has the kernel count the event's records, whether or not it keeps them. One histogram of an
    /// event at a time. False if the kernel refuses it: then nothing has changed.
    [[nodiscard]] bool count(const std::string& system, const std::string& event,
                             const hist_request& asked);
    [[nodiscard]] bool is_counted(const std::string& system, const std::string& event) const;
    /// Nothing of the event, which is counted, is counted any more, but for what is just happening.
    /// Throws error.
    void pause(const std::string& system, const std::string& event, const hist_request& asked);
    /// What has been counted; after pause, and after settle(). Throws error.
    [[nodiscard]] hist_table counts_of(const std::string& system, const std::string& event,
                                       const hist_request& asked) const;

    /// No event is recorded any more. Throws error.
    void stop();

    /// Above the highest CPU that may ever be there.
    [[nodiscard]] std::uint32_t cpu_count() const noexcept {
        return static_cast<std::uint32_t>(cpus_.size());
    }
    [[nodiscard]] std::size_t page_size() const noexcept { return page_size_; }

    /// Reads a page of a CPU's buffer, or what is filled of it, into as many bytes as page_size
    /// says. Nothing: there is none now. Throws error.
    [[nodiscard]] bool read_page(std::uint32_t cpu, std::vector<std::uint8_t>& page);
    /// Throws error.
    [[nodiscard]] buffer_counts counts_of(std::uint32_t cpu) const;

    /// Throws error if somebody has changed what pages are like: what was in them is gone.
    void check_pages() const;
    /// As the kernel says it; empty if it does not. While somebody else changes it nothing is
    /// recorded, and nobody counts what should have been.
    [[nodiscard]] std::string buffer_size() const;

  private:
    void set(const char* file, const std::string& value);
    void set_pids(const std::vector<std::uint32_t>& pids);
    void open_cpus();
    [[nodiscard]] std::size_t read_page_size() const;
    void remove() noexcept;

    std::string name_;
    tracefs_instance* handle_ = nullptr;
    std::vector<core::unique_fd> cpus_;  // those that the kernel has no buffer for have none
    std::size_t page_size_ = 4096;
};

/// Where tracefs is mounted. Throws error if it is not.
[[nodiscard]] std::string find_tracefs();

/// Returns when no event is in the middle of being recorded or counted any more that had begun when
/// it was called, as far as the kernel lets us wait for that.
void wait_for_writers();

struct event_name {
    std::string system;
    std::string event;
};
/// All events of these systems. Those that there are not have none. Throws error if tracefs may not
/// be read.
[[nodiscard]] std::vector<event_name> list_events(const std::vector<std::string>& systems);

/// What the file `format` of an event says; nothing if it has gone. Throws error.
[[nodiscard]] std::optional<std::string> read_format(const event_name& event);

/// What the kernel called a thread that may have ended; empty if it does not remember.
[[nodiscard]] std::string saved_name(std::uint32_t thread);

/// Removes instances of recorders that are no more. Returns their names. Throws error if tracefs is
/// not mounted.
std::vector<std::string> remove_dead_instances();

}  // namespace eventlog::tracefs
