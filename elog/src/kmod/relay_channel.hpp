// SPDX-License-Identifier: MIT
//
// A relay channel of the kernel module, created through /dev/eventlog_relay, and its files in
// debugfs: see eventlog_relay(4).
//
// The channel is removed when the file that created it is closed, also if the process is killed.
#pragma once

#include <linux/eventlog_relay.h>

#include <cstdint>
#include <string>

#include "kmod/relay_stats.hpp"
#include "memory/subscription.hpp"
#include "platform/unique_fd.hpp"

namespace elog {

class relay_channel {
  public:
    /// Creates a channel with the buffers of `options` that no other subscription may write to.
    /// Throws user_error.
    explicit relay_channel(const subscription_options& options);

    /// The file that created it, for EVENTLOG_SUBSCRIBE.
    [[nodiscard]] int control_fd() const noexcept { return control_fd_.get(); }
    [[nodiscard]] std::uint32_t subbuf_size() const noexcept { return options_.subbuf_size; }

    [[nodiscard]] relay_stats stats(std::uint32_t cpu_count) const;
    /// Opens the buffer of a CPU that has one. Throws user_error.
    [[nodiscard]] eventlog::core::unique_fd open_buffer(std::uint32_t cpu) const;

  private:
    void create();
    void open_files();

    eventlog_relay_options options_{};
    eventlog::core::unique_fd control_fd_;
    eventlog::core::unique_fd directory_;
    eventlog::core::unique_fd stats_;
};

}  // namespace elog
