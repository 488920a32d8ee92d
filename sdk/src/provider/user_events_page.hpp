// SPDX-License-Identifier: MIT
//
// The page in which kernels before Linux 6.4 say who listens to user_events: a bit for each event,
// for all processes of the machine; a byte for each before Linux 6.1. Mapped once a process, for
// reading only.
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

/// The kernel's page is mapped over this one, which says that nobody listens. It belongs to the
/// library's data: it is there before anything is mapped, and goes with a plugin that is unloaded.
struct alignas(status_page_size) user_events_page_bytes {
    std::uint8_t bytes[status_page_size]{};
};
extern constinit user_events_page_bytes user_events_page;

/// Where a bit lies in the page, in one number: the byte's place and the bit in it.
[[nodiscard]] constexpr std::uint32_t location_in_page(std::uint32_t bit) noexcept {
    return bit >> 3U << 8U | 1U << (bit & 7U);
}
/// Where a whole byte lies: it is set if any of its bits is.
[[nodiscard]] constexpr std::uint32_t location_of_byte(std::uint32_t index) noexcept {
    return index << 8U | 0xffU;
}
/// The kernel never gives the first bit away, nor the first byte, so it is never set.
inline constexpr std::uint32_t never_set_location = location_in_page(0);
static_assert(never_set_location != 0);

/// Whether the bit at that place is set. The place must lie in the page. Any thread, any signal
/// handler.
[[nodiscard]] inline bool is_set_in_page(std::uint32_t place) noexcept {
    return (__atomic_load_n(&user_events_page.bytes[place >> 8U], __ATOMIC_RELAXED) & place &
            0xffU) != 0;
}

/// What the page has for each event.
enum class page_unit : std::uint8_t { bit, byte };

/// Maps the kernel's page from its opened file, if it is not mapped yet. Returns 0 or an errno:
/// ENODEV of a kernel that says who listens in words. Under the registry's lock.
[[nodiscard]] int map_user_events_page(int file, page_unit unit = page_unit::bit) noexcept;

/// The place of the event that the mapped page's kernel gave that number, or 0 if it lies outside.
/// Under the registry's lock.
[[nodiscard]] std::uint32_t locate_in_page(std::uint32_t number) noexcept;

}  // namespace eventlog::core
