// SPDX-License-Identifier: MIT
//
// A subscription of this process: creates and publishes the region, sets the gates of providers,
// and removes both at its end.
//
// The process that made it owns it. When the owner dies, other processes remove it, unless it has
// been detached.
#pragma once

#include <linux/eventlog.h>

#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "memory/region_reader.hpp"
#include "platform/unique_fd.hpp"
#include "ring/region.hpp"
#include "schema/patterns.hpp"
#include "schema/sampling.hpp"
#include "shm/directory.hpp"

namespace elog {

struct subscription_options {
    event_patterns patterns;
    /// Sent to applications in place of `patterns` if the predicate needs fewer events: see
    /// narrowed_patterns.hpp.
    std::optional<event_patterns> narrowed;
    std::string narrowed_by;        // names in the predicate that caused it
    sampling_options sampling{};    // of `patterns`; the reader applies it, applications write all
    std::uint64_t buffer_size = 0;  // 0: chosen for this machine
    std::uint32_t buffers_per_cpu = 4;
    bool overwrite = false;  // new records replace the oldest, read or not
    /// Device and relay: no kernel events about threads of this process.
    bool exclude_self = false;
    /// If not empty, the subscription can be detached under this name, which must be unique.
    std::string name;
};

/// Bytes that a subscription with default options reserves on this machine. Applications without
/// restartable sequences may use as much as for one CPU more.
[[nodiscard]] std::uint64_t default_buffers_size();

/// Size of one buffer in bytes: the requested one, or one that suits the machine.
[[nodiscard]] std::uint64_t buffer_size_of(const subscription_options& options);

/// Whether a subscription may have buffers of that size, and that many for each CPU.
[[nodiscard]] constexpr bool is_buffer_size(std::uint64_t size) noexcept {
    return size >= EVENTLOG_BUFFER_SIZE_MIN && size <= EVENTLOG_BUFFER_SIZE_MAX &&
           std::has_single_bit(size);
}
[[nodiscard]] constexpr bool is_buffer_count(std::uint64_t count) noexcept {
    return count >= 2 && count <= EVENTLOG_BUFFERS_MAX && std::has_single_bit(count);
}

[[nodiscard]] inline const event_patterns& effective_patterns(
    const subscription_options& options) noexcept {
    return options.narrowed ? *options.narrowed : options.patterns;
}

class subscription {
  public:
    /// Publishes the subscription, then sets the gates of all matching providers. Providers
    /// published later find the subscription themselves. Throws user_error.
    explicit subscription(const subscription_options& options);
    /// Ends and removes the subscription, unless it is detached. Does nothing in a forked child.
    ~subscription();
    subscription(const subscription&) = delete;
    subscription& operator=(const subscription&) = delete;

    /// For each pattern, whether a provider that ran at the start had a matching event.
    [[nodiscard]] const std::vector<bool>& patterns_matched() const noexcept {
        return patterns_matched_;
    }

    /// Makes a named subscription independent of this process: it records until it is ended through
    /// detached_subscription. Afterwards this object can only be destroyed. Throws user_error.
    void detach();

    /// Programs drop events, without a loss, until resume(). Returns a time of the region's clock
    /// that is not later than the first of them. It must not be paused or have ended.
    std::uint64_t pause() noexcept;

    /// Ends a pause. Returns a time that is not earlier than the last event that was dropped.
    /// Throws user_error if the file was removed by hand and another subscription has the slot.
    std::uint64_t resume();

    /// Stops recording. Records in the buffers can still be read.
    void end() noexcept;

    [[nodiscard]] const eventlog::core::unique_fd& file() const noexcept { return file_; }
    [[nodiscard]] const eventlog::core::region_geometry& geometry() const noexcept {
        return geometry_;
    }
    [[nodiscard]] const eventlog_region& header() const noexcept { return header_; }
    [[nodiscard]] region_view region() const noexcept { return {file_, header_, geometry_}; }
    [[nodiscard]] const eventlog::core::directory& where() const noexcept { return directory_; }
    [[nodiscard]] unsigned slot() const noexcept { return slot_; }

  private:
    enum class slot_holder { self, other, none };

    void create_region(const subscription_options& options);
    void publish();
    void remove() noexcept;
    void check_name() const;
    void open_gates(const subscription_options& options);
    [[nodiscard]] bool is_ours() const noexcept;
    [[nodiscard]] slot_holder holder_of_slot() const noexcept;
    [[nodiscard]] bool clear_own_gates() noexcept;

    eventlog::core::directory directory_;
    eventlog::core::unique_fd file_;
    eventlog::core::region_geometry geometry_{};
    eventlog_region header_{};
    std::vector<bool> patterns_matched_;
    unsigned slot_ = 0;
    bool paused_ = false;
    bool ended_ = false;
    bool detached_ = false;
};

}  // namespace elog
