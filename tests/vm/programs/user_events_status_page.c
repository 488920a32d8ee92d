// SPDX-License-Identifier: MIT
//
// Registers an event with user_events before Linux 6.4, where the kernel sets a bit in a page that
// we map while somebody listens, and follows it through its life.
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "steps.h"
#include "user_events_abi.h"

#define EVENT EVENTS "vm_status_probe/"

static const char description[] = "vm_status_probe u32 number";

static bool bit_is_set(const volatile uint8_t* page, uint32_t bit) {
    return (page[bit >> 3] >> (bit & 7) & 1) != 0;
}

int main(void) {
    const int data = open(TRACING "user_events_data", O_RDWR);
    step("user_events_data can be opened", data >= 0);
    const int status = open(TRACING "user_events_status", O_RDONLY);
    step("user_events_status can be opened", status >= 0);
    const volatile uint8_t* page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, status, 0);
    step("its page can be mapped", page != MAP_FAILED);

    struct page_registration wanted = {
        .size = sizeof wanted,
        .description = (uintptr_t)description,
    };
    step("an event is registered", ioctl(data, USER_EVENTS_REGISTER, &wanted) == 0);
    step("its bit lies in the page", wanted.status_bit > 0 && wanted.status_bit < 4096 * 8);
    step("nobody listens at first", !bit_is_set(page, wanted.status_bit));

    set_file(EVENT "enable", "1");
    step("the kernel sets the bit", bit_is_set(page, wanted.status_bit));
    const uint32_t record[] = {wanted.write_index, 4711};
    step("a record is taken", write(data, record, sizeof record) == (ssize_t)sizeof record);
    // As bytes: this ABI's kernels do not show fields.
    step("the trace has it", trace_holds("67 12 00 00"));
    set_file(EVENT "enable", "0");
    step("the kernel clears the bit", !bit_is_set(page, wanted.status_bit));

    // Larger than the kernel knows, with something in what it does not know.
    const struct {
        struct page_registration known;
        uint64_t unknown;
    } __attribute__((packed)) later = {{28, (uintptr_t)description, 0, 0}, 1};
    step("a registration of the newer ABI is too large",
         ioctl(data, USER_EVENTS_REGISTER, &later) == -1 && errno == E2BIG);
    return 0;
}
