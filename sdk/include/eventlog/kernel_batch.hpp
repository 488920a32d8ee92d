// SPDX-License-Identifier: MIT
//
// eventlog::kernel_batch: writes many events to the kernel at once.
#pragma once

#include <cstddef>

#include <eventlog/abi.h>

namespace eventlog {
inline namespace v0 {

/// For the lifetime of the object, events of this thread for listeners of eventlog's kernel module
/// are collected and written together: see eventlog_kernel_batch_begin (abi.h).
///
///     eventlog::kernel_batch batch;  // 64 KiB on this thread's stack
///     while (const job* next = take_job()) {
///         work_on(*next);  // emits as ever
///         if (is_idle()) {
///             batch.flush();  // before it waits
///         }
///     }
///
/// The thread that constructs the object must destroy it. In a thread that has a batch already, the
/// object uses that batch, and flushes it when it is destroyed.
template <std::size_t Size = 65536>
class kernel_batch {
  public:
    kernel_batch() noexcept : is_own_(eventlog_kernel_batch_begin(&room_, Size)) {
        static_assert(Size >= 4096, "A batch of less than 4096 bytes saves nothing.");
    }
    ~kernel_batch() {
        if (is_own_) {
            eventlog_kernel_batch_end();
        } else {
            eventlog_kernel_batch_flush();
        }
    }
    kernel_batch(const kernel_batch&) = delete;
    kernel_batch& operator=(const kernel_batch&) = delete;

    /// Writes the collected events. Call it before the thread waits.
    void flush() noexcept { eventlog_kernel_batch_flush(); }

  private:
    /// Not initialized: bytes that were not written are not read.
    union room {
        constexpr room() noexcept : nothing{} {}
        unsigned char nothing;
        alignas(8) unsigned char bytes[Size];
    };

    room room_;  // the first member: it must exist before the batch begins
    bool is_own_;
};

}  // namespace v0
}  // namespace eventlog
