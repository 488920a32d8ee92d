// SPDX-License-Identifier: MIT
//
// A subscription of the kernel module whose records go to a relay channel. It provides the same
// stream as a subscription with rings: see module_source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "kmod/device_subscription.hpp"
#include "kmod/relay_channel.hpp"
#include "kmod/relay_parser.hpp"
#include "memory/subscription.hpp"
#include "platform/unique_fd.hpp"

namespace elog {

/// A base class, so that the channel is created before the subscription and removed after it.
struct relay_channel_owner {
    relay_channel channel;
};

class relay_subscription : private relay_channel_owner, public device_subscription {
  public:
    /// As device_subscription.
    explicit relay_subscription(const subscription_options& options);

    [[nodiscard]] std::span<const std::uint8_t> read() override;
    void end() noexcept override;
    [[nodiscard]] std::vector<eventlog_statistics> counts() const override;
    [[nodiscard]] bool wait(std::chrono::nanoseconds at_most) override;

  private:
    struct buffer {
        std::uint32_t cpu;
        eventlog::core::unique_fd file;
        relay_parser parser;
        std::vector<std::uint8_t> rest{};  // the incomplete last record
        bool has_full = false;             // a sub-buffer is full
    };

    void begin_pass();
    void open_new_buffers();
    [[nodiscard]] bool is_behind(const buffer& from) const;
    [[nodiscard]] std::span<const std::uint8_t> read_next();
    [[nodiscard]] std::span<const std::uint8_t> read_from(buffer& from);
    [[nodiscard]] std::span<const std::uint8_t> report_rest();

    std::uint32_t cpu_count_;
    std::vector<buffer> buffers_;
    std::vector<bool> opened_;  // by CPU
    std::vector<std::uint8_t> bytes_;
    // State of one pass over all buffers.
    bool is_passing_ = false;
    relay_stats stats_;
    std::size_t next_ = 0;
    bool is_over_ = false;
    bool has_reported_rest_ = false;
};

}  // namespace elog
