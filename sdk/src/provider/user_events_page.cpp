// SPDX-License-Identifier: MIT
#include "provider/user_events_page.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace eventlog::core {
namespace {

// Under the registry lock.
constinit bool is_mapped = false;
constinit page_unit mapped_unit = page_unit::bit;

}  // namespace

constinit user_events_page_bytes user_events_page{};

int map_user_events_page(int file, page_unit unit) noexcept {
    if (is_mapped) {
        return 0;
    }
    // The file has the size of a page of this machine and can only be mapped whole.
    const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    // Tried at another address first, because a failed MAP_FIXED leaves a hole.
    void* const tried = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, file, 0);
    if (tried == MAP_FAILED) {
        return errno;
    }
    static_cast<void>(::munmap(tried, size));
    if (size > sizeof user_events_page) {
        return EOPNOTSUPP;  // impossible on the machines that this build supports
    }
    if (::mmap(&user_events_page, size, PROT_READ, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED) {
        const int error = errno;
        static_cast<void>(::mmap(&user_events_page, size, PROT_READ,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
        return error;
    }
    is_mapped = true;
    mapped_unit = unit;
    return 0;
}

std::uint32_t locate_in_page(std::uint32_t number) noexcept {
    // Bytes behind the mapped page are the library's own and never set.
    if (mapped_unit == page_unit::byte) {
        return number < sizeof user_events_page.bytes ? location_of_byte(number) : 0;
    }
    return number / 8 < sizeof user_events_page.bytes ? location_in_page(number) : 0;
}

}  // namespace eventlog::core
