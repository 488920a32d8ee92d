// SPDX-License-Identifier: MIT
//
// A subscription of ours: makes the region, tells the applications, takes everything away again.
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
#include "shm/directory.hpp"

namespace elog {

struct subscription_options {
    event_patterns patterns;
    /// What programs are asked for in their place, if that is less: see narrowed_patterns.hpp.
    std::optional<event_patterns> narrowed;
    std::string narrowed_by;        // names in the predicate that has done it
    std::uint64_t buffer_size = 0;  // 0: as much as suits the machine
    std::uint32_t buffers_per_cpu = 4;
    bool overwrite = false;  // what is new takes the place of the oldest, read or not
    /// Not empty: it can be left standing, under that name, which no other has.
    std::string name;
};

/// What a subscription for which nothing else is asked reserves on this machine, in bytes. Programs
/// without restartable sequences may take as much as for one CPU more.
[[nodiscard]] std::uint64_t default_buffers_size();

/// Of one buffer, in bytes: what is asked for, or what suits the machine.
[[nodiscard]] std::uint64_t buffer_size_of(const subscription_options& options);

/// Whether a subscription can have buffers of that many bytes, and that many for each CPU.
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
    /// Publishes the subscription and sets the gates of all providers that it wants. Whoever is
    /// published later finds it. Throws failure.
    explicit subscription(const subscription_options& options);
    /// Ends it, if nobody has, and leaves nothing behind. In a forked child, where this is a copy,
    /// it stays what it is.
    ~subscription();
    subscription(const subscription&) = delete;
    subscription& operator=(const subscription&) = delete;

    /// For each pattern, whether a running provider had an event for it at the beginning.
    [[nodiscard]] const std::vector<bool>& patterns_matched() const noexcept {
        return patterns_matched_;
    }

    /// Leaves it to itself, if it has a name: it takes events until somebody ends it (see
    /// detached_subscription), and this object is of no use any more but to be destroyed. Until
    /// then it ends with us. Throws failure.
    void detach();

    /// No record begins after this; those in the buffers can still be read.
    void end() noexcept;

    [[nodiscard]] const eventlog::core::unique_fd& file() const noexcept { return file_; }
    [[nodiscard]] const eventlog::core::region_geometry& geometry() const noexcept {
        return geometry_;
    }
    [[nodiscard]] const eventlog_region& header() const noexcept { return header_; }
    [[nodiscard]] region_view region() const noexcept { return {file_, header_, geometry_}; }

  private:
    void create_region(const subscription_options& options);
    void publish();
    void check_name() const;
    void open_gates(const subscription_options& options);
    [[nodiscard]] bool is_ours() const noexcept;

    eventlog::core::directory directory_;
    eventlog::core::unique_fd file_;
    eventlog::core::region_geometry geometry_{};
    eventlog_region header_{};
    std::vector<bool> patterns_matched_;
    unsigned slot_ = 0;
    bool ended_ = false;
    bool detached_ = false;
};

}  // namespace elog
