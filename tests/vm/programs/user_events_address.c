// SPDX-License-Identifier: MIT
//
// Registers an event with user_events of Linux 6.4 and later, where the kernel sets a bit in a word
// of ours while somebody listens, and follows it through its life.
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "steps.h"
#include "user_events_abi.h"

#define EVENT EVENTS "vm_address_probe/"

static const char description[] = "vm_address_probe u32 number";
static _Alignas(8) volatile uint32_t word;

static bool bit_is_set(void) {
    return (word >> 31 & 1) != 0;
}

int main(void) {
    const int data = open(TRACING "user_events_data", O_RDWR);
    step("user_events_data can be opened", data >= 0);

    struct word_registration wanted = {
        .size = 20,
        .bit = 31,
        .word_size = sizeof word,
        .word_address = (uintptr_t)&word,
        .description = (uintptr_t)description,
    };
    step("a registration of the older ABI is invalid",
         ioctl(data, USER_EVENTS_REGISTER, &wanted) == -1 && errno == EINVAL);
    wanted.size = sizeof wanted;
    step("an event is registered", ioctl(data, USER_EVENTS_REGISTER, &wanted) == 0);
    step("nobody listens at first", !bit_is_set());

    const uint32_t record[] = {wanted.write_index, 4711};
    step("a record that nobody wants is refused",
         write(data, record, sizeof record) == -1 && errno == EBADF);
    set_file(EVENT "enable", "1");
    step("the kernel sets the bit", bit_is_set());
    step("a record is taken", write(data, record, sizeof record) == (ssize_t)sizeof record);
    step("the trace has it", trace_holds("vm_address_probe: number=4711") ||
                                 trace_holds("vm_address_probe: number=0x1267 (4711)"));
    set_file(EVENT "enable", "0");
    step("the kernel clears the bit", !bit_is_set());

    const struct word_unregistration end = {
        .size = sizeof end,
        .bit = 31,
        .word_address = (uintptr_t)&word,
    };
    step("the event is unregistered", ioctl(data, USER_EVENTS_UNREGISTER, &end) == 0);
    step("it cannot be unregistered twice",
         ioctl(data, USER_EVENTS_UNREGISTER, &end) == -1 && errno == ENOENT);
    return 0;
}
