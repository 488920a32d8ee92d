// SPDX-License-Identifier: MIT
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

// Requests of the kernel's user_events, in both ABIs. Declared here because the kernel headers of
// Debian 12 lack them, and separately from the library's declarations, so that the tests check
// those.

/// Both ABIs have this number, with structs of different sizes.
#define USER_EVENTS_REGISTER 0xc0082a00UL
#define USER_EVENTS_DELETE 0x40082a01UL
#define USER_EVENTS_UNREGISTER 0x40082a02UL

/// Since Linux 6.4: the kernel sets a bit in a word of the program.
struct user_events_registration {
    uint32_t size;
    uint8_t bit;
    uint8_t word_size;
    uint16_t flags;
    uint64_t word_address;
    uint64_t description;
    uint32_t write_index;
} __attribute__((packed));

struct user_events_unregistration {
    uint32_t size;
    uint8_t bit;
    uint8_t reserved_byte;
    uint16_t reserved;
    uint64_t word_address;
} __attribute__((packed));

/// Before Linux 6.4: the kernel sets a bit in its own page.
struct user_events_page_registration {
    uint32_t size;
    uint64_t description;
    uint32_t status_bit;
    uint32_t write_index;
} __attribute__((packed));

static_assert(sizeof(struct user_events_registration) == 28, "as the kernel has it");
static_assert(sizeof(struct user_events_unregistration) == 16, "as the kernel has it");
static_assert(sizeof(struct user_events_page_registration) == 20, "as the kernel has it");

/// The maximum number of events; absent on kernels of the older ABI.
#define USER_EVENTS_MAX "/proc/sys/kernel/user_events_max"

#ifdef __cplusplus
extern "C" {
#endif

bool kernel_has_status_page(void);

/// Registers an event in the kernel's ABI, with bit 31 of the word if that ABI has words. If it
/// returns true, `index` is the event's number.
bool register_directly(int data, const char* description, const volatile void* word,
                       uint32_t* index);

#ifdef __cplusplus
}
#endif
