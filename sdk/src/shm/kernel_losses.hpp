// SPDX-License-Identifier: MIT
//
// Events that programs lose on their way to the kernel, and whether a reader waits for their
// number.
//
// The counts are in the process file, which a program removes at its end. A recorder of the
// kernel's tracing has no subscription in the directory; it holds a lock instead, and programs with
// such counts leave their files.
#pragma once

#include <cstdint>

#include "platform/unique_fd.hpp"
#include "ring/gate_layout.hpp"
#include "shm/directory.hpp"

namespace eventlog::core {

/// While it lives, files with losses on the way to the kernel stay.
class kernel_loss_reader {
  public:
    explicit kernel_loss_reader(const directory& where) noexcept;
    ~kernel_loss_reader();
    kernel_loss_reader(const kernel_loss_reader&) = delete;
    kernel_loss_reader& operator=(const kernel_loss_reader&) = delete;
    [[nodiscard]] bool held() const noexcept { return static_cast<bool>(lock_); }

  private:
    unique_fd lock_;
};

/// True also if that cannot be found out.
[[nodiscard]] bool has_kernel_loss_reader(const directory& where) noexcept;

[[nodiscard]] constexpr bool has_losses(const eventlog_route_counters& route) noexcept {
    return (route.lost_full | route.lost_too_large | route.lost_busy | route.lost_unattached |
            route.lost_refused) != 0;
}

/// Whether the counters behind that gate of a process file have losses on the way to the kernel.
/// True also if they cannot be read.
[[nodiscard]] bool has_kernel_losses(const unique_fd& file, std::uint64_t gate_offset) noexcept;

}  // namespace eventlog::core
