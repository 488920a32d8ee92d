// SPDX-License-Identifier: MIT
//
// Many events for the kernel in one write.
#pragma once

#include <cstddef>

#include <eventlog/abi.h>

namespace eventlog {

/// While it lives, the events that this thread emits for who listens through eventlog's kernel
/// module are collected, and written together: see eventlog_lane_begin (abi.h).
///
///     eventlog::lane lane;  // 64 KiB on this thread's stack
///     while (const job* next = take_job()) {
///         work_on(*next);  // emits as ever
///         if (is_idle()) {
///             lane.flush();  // before it waits
///         }
///     }
///
/// It belongs to the thread that has made it, and has to go there. In a thread that has a lane, it
/// has that one written when it goes.
template <std::size_t Size = 65536>
class lane {
  public:
    lane() noexcept : is_own_(eventlog_lane_begin(&room_, Size)) {
        static_assert(Size >= 4096, "A lane of less than 4096 bytes saves nothing.");
    }
    ~lane() {
        if (is_own_) {
            eventlog_lane_end();
        } else {
            eventlog_lane_flush();
        }
    }
    lane(const lane&) = delete;
    lane& operator=(const lane&) = delete;

    /// Writes what has been collected: before the thread waits for something.
    void flush() noexcept { eventlog_lane_flush(); }

  private:
    /// Not cleared: of what has not been written nothing is read.
    union room {
        constexpr room() noexcept : nothing{} {}
        unsigned char nothing;
        alignas(8) unsigned char bytes[Size];
    };

    room room_;  // in front: it is there before a lane is made in it
    bool is_own_;
};

}  // namespace eventlog
