// SPDX-License-Identifier: MIT
//
// eventlog::lane: writes many events to the kernel at once.
#pragma once

#include <cstddef>

#include <eventlog/abi.h>

namespace eventlog {

/// For the lifetime of the object, events of this thread for listeners of eventlog's kernel module
/// are collected and written together: see eventlog_lane_begin (abi.h).
///
///     eventlog::lane lane;  // 64 KiB on this thread's stack
///     while (const job* next = take_job()) {
///         work_on(*next);  // emits as ever
///         if (is_idle()) {
///             lane.flush();  // before it waits
///         }
///     }
///
/// The thread that constructs the object must destroy it. In a thread that has a lane already, the
/// object uses that lane, and flushes it when it is destroyed.
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

    /// Writes the collected events. Call it before the thread waits.
    void flush() noexcept { eventlog_lane_flush(); }

  private:
    /// Not initialized: bytes that were not written are not read.
    union room {
        constexpr room() noexcept : nothing{} {}
        unsigned char nothing;
        alignas(8) unsigned char bytes[Size];
    };

    room room_;  // the first member: it must exist before the lane begins
    bool is_own_;
};

}  // namespace eventlog
