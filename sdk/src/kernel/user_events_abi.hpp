// SPDX-License-Identifier: MIT
//
// What the kernel and we say to each other about user_events, since Linux 6.4 and, below, before.
// Declared here because the headers of Debian 12 do not have it.
//
// A process opens tracefs's file user_events_data and registers events there, each with a text that
// describes its fields (user_events_description.hpp), the address of a 32-bit word and the number
// of a bit in it. From then on the kernel sets that bit in the process's memory while anybody
// listens to the event, and clears it when nobody does; it leaves the other bits of the word alone.
// It answers with a number for the event, which is good for this open file only. An event is
// emitted by one write to the file: the number, then the fields as the text describes them, packed.
//
// The file belongs to the opened descriptor, the word to the memory of the process. A forked child
// shares the one and gets a copy of the other: the kernel goes on to set and clear the bit in both.
// exec and exit undo all words; the last close of the file undoes its numbers. An event without a
// word and without a file that knows it goes away by itself.
//
// In Linux 6.1 to 6.3 the ioctl that registers has the same number, and a struct of 20 bytes
// without a word. The kernel sets bits in a page of its own, which can be mapped from tracefs's
// file user_events_status, and answers with the number of the event's bit, too. What else is
// different:
// - An event stays until somebody writes -:user_events/NAME to dynamic_events of tracefs.
// - Who registers a name that is there gets the event of that name, whatever fields it has.
// - An event without any payload is refused: EFAULT.
// In Linux 5.18 to 6.0 the page has a byte for each event, and the answer is the number of that
// byte: it is not 0 while anybody listens. All else is the same.
// A kernel that knows words has the file named below, and a user_events_status that cannot be
// mapped.
#pragma once

#include <cstddef>
#include <cstdint>

namespace eventlog::core {

/// Registers an event.
struct [[gnu::packed]] user_events_registration {
    std::uint32_t size = sizeof(user_events_registration);
    std::uint8_t enable_bit = 0;
    std::uint8_t enable_size = sizeof(std::uint32_t);  // of the word, in bytes
    std::uint16_t flags = 0;
    std::uint64_t enable_address = 0;
    std::uint64_t description = 0;  // address of the text
    std::uint32_t write_index = 0;  // the kernel's answer
};
static_assert(sizeof(user_events_registration) == 28);
static_assert(offsetof(user_events_registration, flags) == 6);
static_assert(offsetof(user_events_registration, enable_address) == 8);
static_assert(offsetof(user_events_registration, description) == 16);
static_assert(offsetof(user_events_registration, write_index) == 24);

/// Registers an event where the kernel has a page instead of words.
struct [[gnu::packed]] user_events_page_registration {
    std::uint32_t size = sizeof(user_events_page_registration);
    std::uint64_t description = 0;  // address of the text
    std::uint32_t status_bit = 0;   // the kernel's answers; before Linux 6.1 it is a byte
    std::uint32_t write_index = 0;
};
static_assert(sizeof(user_events_page_registration) == 20);
static_assert(offsetof(user_events_page_registration, status_bit) == 12);

/// Gives a word back. Also clears the bit.
struct [[gnu::packed]] user_events_unregistration {
    std::uint32_t size = sizeof(user_events_unregistration);
    std::uint8_t disable_bit = 0;
    std::uint8_t reserved_byte = 0;
    std::uint16_t reserved = 0;
    std::uint64_t disable_address = 0;
};
static_assert(sizeof(user_events_unregistration) == 16);
static_assert(offsetof(user_events_unregistration, disable_address) == 8);

/// Flag: the event stays when nobody refers to it any more. Takes CAP_PERFMON, and Linux 6.7.
inline constexpr std::uint16_t user_events_persist = 1;

/// Flag: an event of this name may have other fields than the one that is there already. It then
/// appears in the system user_events_multi, as NAME.0, NAME.1 and so on. Newer than 6.4; kernels
/// that do not know it answer EINVAL.
inline constexpr std::uint16_t user_events_multi_format = 2;

/// Flag: the event is in the system eventlog, where the module's are. Kernels with our patches;
/// others answer EINVAL.
inline constexpr std::uint16_t user_events_eventlog = 4;

// Numbers of ioctls, as _IOWR('*', 0, struct user_reg *), _IOW('*', 1, char *) and
// _IOW('*', 2, struct user_unreg *) make them: the size in them is that of a pointer.
inline constexpr unsigned long user_events_ioctl(unsigned long direction, unsigned long number) {
    return direction << 30U | sizeof(void*) << 16U | 0x2aUL << 8U | number;
}
inline constexpr unsigned long user_events_register = user_events_ioctl(3, 0);
/// Removes all events of a name that nobody refers to.
inline constexpr unsigned long user_events_delete = user_events_ioctl(1, 1);
inline constexpr unsigned long user_events_unregister = user_events_ioctl(1, 2);
static_assert(sizeof(void*) != 8 ||
              (user_events_register == 0xc0082a00UL && user_events_unregister == 0x40082a02UL));

/// Of an event's text, with its NUL.
inline constexpr std::size_t user_events_description_max = 512;
/// Of an array of char.
inline constexpr std::size_t user_events_array_max = 1024;

/// What the fields can take, so that every listener gets them. A write of more succeeds, and is
/// lost: for perf over 8192 bytes, the common header of 8 included, and then the kernel's log has a
/// warning; for ftrace, without a word, where it does not fit into a page of its buffer, which may
/// be as small as 4096 bytes. Of these the page's header takes 16, the event's header 8 and the
/// common one 8. That leaves 4064, which is what Linux 6.1 and 6.12 take. In a buffer with whole
/// time stamps, which the kernel provides for but does not use for events now, it would be 16 less:
/// one takes 8, and 8 are kept free. Who listens cannot be told from the bit: it is the smallest.
inline constexpr std::size_t user_events_payload_max = 4096 - 48;

/// Exists where the kernel knows words: how many events there may be.
inline constexpr const char* user_events_limit_path = "/proc/sys/kernel/user_events_max";

}  // namespace eventlog::core
