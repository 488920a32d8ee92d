// SPDX-License-Identifier: MIT
//
// The descriptor of a source for event loops: a timer that is readable from a settable time on.
//
// One thread opens and sets it; set_now() may be called from any thread and from signal handlers.
#pragma once

#include <atomic>
#include <chrono>

namespace elog::library {

class ready_timer {
  public:
    ready_timer() = default;
    ready_timer(const ready_timer&) = delete;
    ready_timer& operator=(const ready_timer&) = delete;
    ~ready_timer();

    /// Creates the descriptor at the first call, readable. Throws user_error.
    [[nodiscard]] int open();
    [[nodiscard]] bool is_open() const noexcept { return descriptor_ >= 0; }

    /// Not readable until that time. Nothing happens before open(), as with set_now().
    void set(std::chrono::steady_clock::time_point due) noexcept;
    /// Readable until set() is called.
    void set_now() noexcept;

  private:
    std::atomic<int> descriptor_ = -1;
};

}  // namespace elog::library
