// SPDX-License-Identifier: MIT
#include "device_steps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

int device = -1;
_Alignas(4096) volatile uint64_t word;

int open_device(void) {
    return open("/dev/eventlog", O_RDWR | O_CLOEXEC);
}

void reopen_device(void) {
    (void)close(device);
    device = open_device();
    step("the device can be opened", device >= 0);
}

struct user_events_registration registration_of(const char* description) {
    const struct user_events_registration made = {
        .size = sizeof made,
        .bit = enable_bit,
        .word_size = sizeof(uint32_t),
        .word_address = (uintptr_t)&word,
        .description = (uintptr_t)description,
    };
    return made;
}

int try_registration(struct user_events_registration* wanted) {
    return ioctl(device, USER_EVENTS_REGISTER, wanted) == 0 ? 0 : errno;
}

int unregister_bit(const volatile void* address, uint8_t which) {
    const struct user_events_unregistration end = {
        .size = sizeof end, .bit = which, .word_address = (uintptr_t)address};
    return ioctl(device, USER_EVENTS_UNREGISTER, &end) == 0 ? 0 : errno;
}

int delete_event(const char* name) {
    return ioctl(device, USER_EVENTS_DELETE, name) == 0 ? 0 : errno;
}

int register_at(const char* description, volatile void* address, uint8_t which, uint32_t* index) {
    struct user_events_registration wanted = registration_of(description);
    wanted.word_address = (uintptr_t)address;
    wanted.bit = which;
    const int error = try_registration(&wanted);
    if (index != NULL) {
        *index = wanted.write_index;
    }
    return error;
}

bool event_exists(const char* event) {
    char path[512];
    (void)snprintf(path, sizeof path, OUR_EVENTS "%s", event);
    return access(path, F_OK) == 0;
}

bool wait_until_removed(const char* event) {
    for (int tries = 0; tries < 6000 && event_exists(event); ++tries) {
        (void)usleep(10000);
    }
    return !event_exists(event);
}
