// SPDX-License-Identifier: MIT
//
// The kernel's interface for user_events, of Linux 6.4 and later, and of earlier versions. Declared
// here because the headers of Debian 12 lack it.
//
// A process opens tracefs's file user_events_data and registers events with it. A registration has
// a text that describes the event's fields (user_events_description.hpp), the address of a 32-bit
// word, and a bit number. The kernel sets that bit in the process's memory while the event has
// listeners, and clears it otherwise; it leaves the other bits alone. It returns a number for the
// event that is valid for this open file only. An event is emitted by one write to the file: the
// number, then the fields as described, packed.
//
// The file belongs to the descriptor, the word to the memory of the process. A forked child shares
// the file and gets a copy of the word, and the kernel sets and clears the bit in both. exec and
// exit unregister all words; the last close of the file invalidates its numbers. The kernel removes
// an event that no word and no file refers to.
//
// In Linux 6.1 to 6.3 the registering ioctl has the same number, and a struct of 20 bytes without a
// word. The kernel sets bits in a page of its own, which can be mapped from tracefs's file
// user_events_status, and also returns the number of the event's bit. Other differences:
// - An event stays until a process writes -:user_events/NAME to dynamic_events of tracefs.
// - A registration with an existing name returns the existing event, whatever fields it has.
// - An event without payload is rejected: EFAULT.
//
// In Linux 5.18 to 6.0 the page has a byte for each event, which is not 0 while the event has
// listeners, and the returned number is that of the byte. Everything else is the same.
//
// A kernel with words has the file user_events_limit_path, and a user_events_status that cannot be
// mapped.
#pragma once

#include <cstddef>
#include <cstdint>

namespace eventlog::core {

/// Registers an event with an enable word.
struct [[gnu::packed]] user_events_registration {
    std::uint32_t size = sizeof(user_events_registration);
    std::uint8_t enable_bit = 0;
    std::uint8_t enable_size = sizeof(std::uint32_t);  // of the word, in bytes
    std::uint16_t flags = 0;
    std::uint64_t enable_address = 0;
    std::uint64_t description = 0;  // address of the text
    std::uint32_t write_index = 0;  // returned by the kernel
};
static_assert(sizeof(user_events_registration) == 28);
static_assert(offsetof(user_events_registration, flags) == 6);
static_assert(offsetof(user_events_registration, enable_address) == 8);
static_assert(offsetof(user_events_registration, description) == 16);
static_assert(offsetof(user_events_registration, write_index) == 24);

/// Registers an event on a kernel with a page instead of words.
struct [[gnu::packed]] user_events_page_registration {
    std::uint32_t size = sizeof(user_events_page_registration);
    std::uint64_t description = 0;  // address of the text
    std::uint32_t status_bit = 0;   // returned by the kernel; before Linux 6.1 the number of a byte
    std::uint32_t write_index = 0;
};
static_assert(sizeof(user_events_page_registration) == 20);
static_assert(offsetof(user_events_page_registration, status_bit) == 12);

/// Unregisters a word and clears its bit.
struct [[gnu::packed]] user_events_unregistration {
    std::uint32_t size = sizeof(user_events_unregistration);
    std::uint8_t disable_bit = 0;
    std::uint8_t reserved_byte = 0;
    std::uint16_t reserved = 0;
    std::uint64_t disable_address = 0;
};
static_assert(sizeof(user_events_unregistration) == 16);
static_assert(offsetof(user_events_unregistration, disable_address) == 8);

/// Flag: the event stays without references. Needs CAP_PERFMON and Linux 6.7.
inline constexpr std::uint16_t user_events_persist = 1;

/// Flag: an event of this name may have other fields than an existing one. It is then in the system
/// user_events_multi as NAME.0, NAME.1 and so on. Newer than Linux 6.4; kernels without it return
/// EINVAL.
inline constexpr std::uint16_t user_events_multi_format = 2;

/// Flag: the event is in the system eventlog, as the module's events are. Needs eventlog's kernel
/// patches; other kernels return EINVAL.
inline constexpr std::uint16_t user_events_eventlog = 4;

// The ioctl numbers of _IOWR('*', 0, struct user_reg *), _IOW('*', 1, char *) and _IOW('*', 2,
// struct user_unreg *): they contain the size of a pointer.
inline constexpr unsigned long user_events_ioctl(unsigned long direction, unsigned long number) {
    return direction << 30U | sizeof(void*) << 16U | 0x2aUL << 8U | number;
}
inline constexpr unsigned long user_events_register = user_events_ioctl(3, 0);
/// Removes all events of a name that have no references.
inline constexpr unsigned long user_events_delete = user_events_ioctl(1, 1);
inline constexpr unsigned long user_events_unregister = user_events_ioctl(1, 2);
static_assert(sizeof(void*) != 8 ||
              (user_events_register == 0xc0082a00UL && user_events_unregister == 0x40082a02UL));

/// Limit of a description with its NUL.
inline constexpr std::size_t user_events_description_max = 512;
/// Limit of an array of char.
inline constexpr std::size_t user_events_array_max = 1024;

/// The largest payload that every kind of listener receives. A larger write succeeds and is lost:
/// in perf above 8192 bytes with the common header of 8 (the kernel logs a warning); in ftrace,
/// silently, if it does not fit into a page of its buffer, which may be as small as 4096 bytes. The
/// page's header takes 16 of these, the event's header 8 and the common one 8. That leaves 4064,
/// the measured limit of Linux 6.1 and 6.12. A buffer with absolute time stamps, which the kernel
/// supports but does not use for events now, would have 16 less: 8 for one time stamp, 8 kept free.
/// The bit does not show the kind of listener, so the smallest limit applies.
inline constexpr std::size_t user_events_payload_max = 4096 - 48;

/// The maximum number of events; exists on kernels with words.
inline constexpr const char* user_events_limit_path = "/proc/sys/kernel/user_events_max";

}  // namespace eventlog::core
