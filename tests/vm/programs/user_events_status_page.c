// SPDX-License-Identifier: MIT
//
// Tests the life of an event with user_events before Linux 6.4, where the kernel sets a bit in a
// mapped page while the event has a listener.
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "steps.h"
#include "user_events_abi.h"

#define EVENT EVENTS "vm_status_probe/"

static const char description[] = "vm_status_probe u32 number";

/// The kernel promises that bytes and long words show the same.
static bool bit_is_set(const volatile void* page, uint32_t bit) {
    const bool in_byte = (((const volatile uint8_t*)page)[bit >> 3] >> (bit & 7) & 1) != 0;
    const bool in_long = (((const volatile uint64_t*)page)[bit >> 6] >> (bit & 63) & 1) != 0;
    step("its byte and its long word agree", in_byte == in_long);
    return in_byte;
}

/// Exactly one page can be mapped, and only for reading.
static void follow_page(int status, void* page) {
    step("no more than the page can be mapped",
         mmap(NULL, 8192, PROT_READ, MAP_SHARED, status, 0) == MAP_FAILED && errno == EINVAL);
    step("it cannot be mapped to be written",
         mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, status, 0) == MAP_FAILED &&
             errno == EACCES);
    step("it cannot be made writable",
         mprotect(page, 4096, PROT_READ | PROT_WRITE) == -1 && errno == EACCES);
}

/// Checks the text of the status for the only event, which has that bit.
static void follow_text(uint32_t bit, bool enabled) {
    char line[64];
    (void)snprintf(line, sizeof line, "%u:vm_status_probe%s\n", bit,
                   enabled ? " # Used by ftrace" : "");
    step(enabled ? "the status names the bit and the listener" : "the status names the bit",
         file_contains(TRACING "user_events_status", line));
    step("it counts all events", file_contains(TRACING "user_events_status", "Active: 1\n"));
    step("and the events with a listener",
         file_contains(TRACING "user_events_status", enabled ? "Busy: 1\n" : "Busy: 0\n"));
}

int main(void) {
    const int data = open(TRACING "user_events_data", O_RDWR);
    step("user_events_data can be opened", data >= 0);
    const int status = open(TRACING "user_events_status", O_RDONLY);
    step("user_events_status can be opened", status >= 0);
    void* page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, status, 0);
    step("its page can be mapped", page != MAP_FAILED);
    follow_page(status, page);
    step("it has a bit for each of 32,768 events",
         file_contains(TRACING "user_events_status", "Max: 32768\n"));

    struct user_events_page_registration wanted = {
        .size = sizeof wanted,
        .description = (uintptr_t)description,
    };
    step("an event is registered", ioctl(data, USER_EVENTS_REGISTER, &wanted) == 0);
    step("its bit is within the page", wanted.status_bit > 0 && wanted.status_bit < 4096 * 8);
    step("there is no listener at first", !bit_is_set(page, wanted.status_bit));
    follow_text(wanted.status_bit, false);

    set_file(EVENT "enable", "1");
    step("the kernel sets the bit", bit_is_set(page, wanted.status_bit));
    follow_text(wanted.status_bit, true);
    const uint32_t record[] = {wanted.write_index, 4711};
    step("a record is written", write(data, record, sizeof record) == (ssize_t)sizeof record);
    // Kernels with this ABI show bytes instead of fields.
    step("the trace has it", trace_contains("67 12 00 00"));
    set_file(EVENT "enable", "0");
    step("the kernel clears the bit", !bit_is_set(page, wanted.status_bit));
    follow_text(wanted.status_bit, false);

    // Larger than the kernel's struct, with a value in the unknown part.
    const struct {
        struct user_events_page_registration known;
        uint64_t unknown;
    } __attribute__((packed)) later = {{28, (uintptr_t)description, 0, 0}, 1};
    step("a registration of the newer ABI is too large",
         ioctl(data, USER_EVENTS_REGISTER, &later) == -1 && errno == E2BIG);
    return 0;
}
