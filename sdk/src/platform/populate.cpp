// SPDX-License-Identifier: MIT
#include "platform/populate.hpp"

#include <sys/mman.h>

#include <cerrno>

#include "platform/signal_guard.hpp"

namespace eventlog::core {
namespace {

constexpr int populate_write =
    23;  // MADV_POPULATE_WRITE, missing in the headers of old C libraries
constexpr int invalid_advice = 0x7ffe;  // no kernel defines this advice
// madvise fails with EINTR when a fatal signal is pending, and when a tracer injects that result.
constexpr int populate_attempts_max = 10;

}  // namespace

bool can_populate() noexcept {
    const errno_guard keeps_errno;
    // Some emulators (qemu-user) accept every advice and do nothing. A kernel that accepts an
    // invalid advice is not trusted. An empty range succeeds where the advice is known.
    const bool is_believed = ::madvise(nullptr, 0, invalid_advice) != 0 && errno == EINVAL;
    const bool is_known = ::madvise(nullptr, 0, populate_write) == 0;
    return is_believed && is_known;
}

bool populate(void* begin, std::size_t size) noexcept {
    const errno_guard keeps_errno;
    int result = -1;
    for (int attempt = 0; attempt < populate_attempts_max && result != 0; ++attempt) {
        result = ::madvise(begin, size, populate_write);
        if (result != 0 && errno != EINTR) {
            break;
        }
    }
    return result == 0;
}

void release_pages(void* begin, std::size_t size) noexcept {
    const errno_guard keeps_errno;
    // If this fails (in a sandbox), the memory stays allocated.
    static_cast<void>(::madvise(begin, size, MADV_REMOVE));
}

}  // namespace eventlog::core
