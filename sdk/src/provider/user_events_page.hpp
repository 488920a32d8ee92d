// SPDX-License-Identifier: MIT
//
// The page in which kernels before Linux 6.4 publish the listeners of user_events: a bit for each
// event of the machine; a byte for each event before Linux 6.1. Mapped once per process, read-only.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace eventlog::core {

#if defined(__aarch64__)
inline constexpr std::size_t status_page_size = 65536;
#else
inline constexpr std::size_t status_page_size = 4096;
#endif

/// The kernel's page is mapped over this one, which shows no listeners. It is part of the library's
/// data, so it exists before the mapping, and is unloaded with a plugin.
struct alignas(status_page_size) user_events_page_bytes {
    std::uint8_t bytes[status_page_size]{};
};
extern constinit user_events_page_bytes user_events_page;

/// The location of a bit in one number: the byte's index, and a mask for the byte.
[[nodiscard]] constexpr std::uint32_t location_in_page(std::uint32_t bit) noexcept {
    return bit >> 3U << 8U | 1U << (bit & 7U);
}
/// The location of a whole byte, which is set if any of its bits is.
[[nodiscard]] constexpr std::uint32_t location_of_byte(std::uint32_t index) noexcept {
    return index << 8U | 0xffU;
}
/// The kernel never assigns the first bit or byte, so it is never set.
inline constexpr std::uint32_t never_set_location = location_in_page(0);
static_assert(never_set_location != 0);

/// Whether the bit at that location is set. Precondition: the location is in the page. Any thread
/// or signal handler.
[[nodiscard]] inline bool is_set_in_page(std::uint32_t place) noexcept {
    return (__atomic_load_n(&user_events_page.bytes[place >> 8U], __ATOMIC_RELAXED) & place &
            0xffU) != 0;
}

/// What the page contains for each event.
enum class page_unit : std::uint8_t { bit, byte };

/// Maps the kernel's page from its opened file unless it is mapped. Returns 0 or an errno; ENODEV
/// if the kernel uses enable words instead. Under the registry lock.
[[nodiscard]] int map_user_events_page(int file, page_unit unit = page_unit::bit) noexcept;

/// The location of the event with that number in the mapped page; 0 if it is outside. Under the
/// registry lock.
[[nodiscard]] std::uint32_t locate_in_page(std::uint32_t number) noexcept;

}  // namespace eventlog::core
