// SPDX-License-Identifier: MIT
//
// What applications ask of a flight recorder: see "Asking for a snapshot" in linux/eventlog.h.
#pragma once

#include <linux/eventlog.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "memory/region_reader.hpp"

namespace elog {

struct request_counts {
    std::uint32_t wanted = 0;    // how many there have been
    std::uint32_t answered = 0;  // of these

    [[nodiscard]] std::uint32_t open() const noexcept { return wanted - answered; }
};

class snapshot_requests {
  public:
    /// Throws failure if the region cannot be mapped.
    explicit snapshot_requests(const region_view& source);
    ~snapshot_requests();
    snapshot_requests(const snapshot_requests&) = delete;
    snapshot_requests& operator=(const snapshot_requests&) = delete;

    /// How many there have been. A snapshot that begins after this call has all that those who
    /// asked have emitted before.
    [[nodiscard]] std::uint32_t wanted() const noexcept;
    [[nodiscard]] request_counts counts() const noexcept;

    /// Why the last one was made: anybody's text. Nothing if that cannot be told, because several
    /// ask at this moment, or one has died over it.
    [[nodiscard]] std::optional<std::string> reason() const;

    /// The first `wanted` are answered. What others have answered meanwhile stays so.
    void answer(std::uint32_t wanted) noexcept;

    /// Sleeps until there are others than `seen`, the time is over, or a signal comes.
    void wait(std::uint32_t seen, std::chrono::nanoseconds at_most) const noexcept;

    /// Whether the subscription still takes events and requests.
    [[nodiscard]] bool accepts_requests() const noexcept;

  private:
    eventlog_region* region_ = nullptr;
};

}  // namespace elog
