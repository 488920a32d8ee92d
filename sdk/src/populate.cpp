// SPDX-License-Identifier: MIT
#include "populate.hpp"

#include <sys/mman.h>

#include <cerrno>

namespace eventlog::core {
namespace {

constexpr int populate_write = 23;  // MADV_POPULATE_WRITE, which not every C library names

}  // namespace

bool can_populate() noexcept {
    const int saved = errno;
    // Nothing at all can be populated, by whoever knows what that is.
    const bool known = ::madvise(nullptr, 0, populate_write) == 0;
    errno = saved;
    return known;
}

bool populate(void* begin, std::size_t size) noexcept {
    const int saved = errno;
    int result = 0;
    do {
        result = ::madvise(begin, size, populate_write);
    } while (result != 0 && errno == EINTR);
    errno = saved;
    return result == 0;
}

}  // namespace eventlog::core
