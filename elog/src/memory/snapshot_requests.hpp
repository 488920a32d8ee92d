// SPDX-License-Identifier: MIT
//
// The snapshot requests that applications make of a flight recorder: see "Asking for a snapshot" in
// linux/eventlog.h.
#pragma once

#include <linux/eventlog.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "memory/region_reader.hpp"

namespace elog {

struct request_counts {
    std::uint32_t wanted = 0;    // requests so far
    std::uint32_t answered = 0;  // answered requests

    [[nodiscard]] std::uint32_t open() const noexcept { return wanted - answered; }
};

class snapshot_requests {
  public:
    /// Throws user_error if the region cannot be mapped.
    explicit snapshot_requests(const region_view& source);
    ~snapshot_requests();
    snapshot_requests(const snapshot_requests&) = delete;
    snapshot_requests& operator=(const snapshot_requests&) = delete;

    /// Number of requests so far. A snapshot that begins after this call contains everything that
    /// the requesting applications emitted before their requests.
    [[nodiscard]] std::uint32_t wanted() const noexcept;
    [[nodiscard]] request_counts counts() const noexcept;

    /// Reason of the last request, in the words of an application. Nothing if it is inconsistent:
    /// several applications write it at this moment, or one died while it wrote.
    [[nodiscard]] std::optional<std::string> reason() const;

    /// Requests a snapshot as an application does; at most 36 bytes of the reason are kept. False
    /// if the flight recorder has ended.
    bool request(const std::string& reason) noexcept;

    /// Marks the first `wanted` requests as answered. Never reduces the number that other processes
    /// have answered.
    void answer(std::uint32_t wanted) noexcept;

    /// Sleeps until the number of requests differs from `seen`, the time is over, or a signal
    /// arrives.
    void wait(std::uint32_t seen, std::chrono::nanoseconds at_most) const noexcept;

    /// Whether the subscription accepts requests: it has not ended. It may be paused.
    [[nodiscard]] bool accepts_requests() const noexcept;

  private:
    eventlog_region* region_ = nullptr;
};

}  // namespace elog
