// SPDX-License-Identifier: MIT
#include "platform/wiped_on_fork.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include "platform/signal_guard.hpp"
#include "platform/startup_section.hpp"

namespace eventlog::core {
namespace {

[[EVENTLOG_STARTUP_SECTION]] constinit std::atomic<bool> is_advised{false};

}  // namespace

constinit wiped_page wiped_on_fork{};

void wipe_locks_on_fork() noexcept {
    // Copies inherit the advice. Threads that are here at the same time give it twice.
    if (!is_advised.load(std::memory_order_acquire)) {
        const errno_guard keeps_errno;
        // On larger pages other variables would be wiped, too.
        if (::sysconf(_SC_PAGESIZE) <= static_cast<long>(wiped_page_size)) {
            static_cast<void>(::madvise(&wiped_on_fork, sizeof wiped_on_fork, MADV_WIPEONFORK));
        }
        is_advised.store(true, std::memory_order_release);
    }
}

}  // namespace eventlog::core
