// SPDX-License-Identifier: MIT
#include "user_events_abi.h"

#include <sys/ioctl.h>
#include <unistd.h>

bool kernel_has_status_page(void) {
    return access(USER_EVENTS_MAX, F_OK) != 0;
}

bool register_directly(int data, const char* description, const volatile void* word,
                       uint32_t* index) {
    struct user_events_registration wanted = {
        sizeof wanted, 31, sizeof(uint32_t), 0, (uintptr_t)word, (uintptr_t)description, 0};
    struct user_events_page_registration older = {sizeof older, (uintptr_t)description, 0, 0};
    const bool has_page = kernel_has_status_page();
    const bool registered =
        ioctl(data, USER_EVENTS_REGISTER, has_page ? (void*)&older : (void*)&wanted) == 0;
    *index = has_page ? older.write_index : wanted.write_index;
    return registered;
}
