// SPDX-License-Identifier: MIT
#include "base/sigbus_guard.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>

namespace elog {
namespace {

std::atomic<bool> was_cut{false};
static_assert(std::atomic<bool>::is_always_lock_free);
std::uintptr_t mapped_page_size = 4096;

extern "C" void map_empty_page(int signal, siginfo_t* info, void* /*context*/) {
    // The kernel sends this code for a page behind a file's end. Any other SIGBUS is a bug and ends
    // the process.
    if (info->si_code == BUS_ADRERR) {
        const auto address =
            reinterpret_cast<std::uintptr_t>(info->si_addr) & ~(mapped_page_size - 1);
        if (::mmap(reinterpret_cast<void*>(address), mapped_page_size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED) {
            was_cut.store(true, std::memory_order_relaxed);
            return;
        }
    }
    static_cast<void>(std::signal(signal, SIG_DFL));
    static_cast<void>(std::raise(signal));
}

}  // namespace

void install_sigbus_guard() {
    mapped_page_size = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    struct sigaction action {};
    action.sa_sigaction = map_empty_page;
    action.sa_flags = SA_SIGINFO;
    static_cast<void>(::sigaction(SIGBUS, &action, nullptr));
}

bool mapping_was_truncated() noexcept {
    return was_cut.exchange(false, std::memory_order_relaxed);
}

}  // namespace elog
