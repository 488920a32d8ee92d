// SPDX-License-Identifier: MIT
//
// Tests the life of an event with user_events of Linux 6.4 and later, where the kernel sets a bit
// in a word of the program while the event has a listener: alone, beside other bits of the word,
// and in a child.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "steps.h"
#include "user_events_abi.h"

#define EVENT EVENTS "vm_address_probe/"

static const char description[] = "vm_address_probe u32 number";
static _Alignas(8) _Atomic uint32_t word;

static int data;

static bool bit_is_set(void) {
    return (word >> 31 & 1) != 0;
}

/// Waits for the kernel, which changes the bit later if it must fault the page in first. The limit
/// is minutes because the machine may be busy.
static bool wait_for_bit(bool set) {
    for (int i = 0; i < 6000 && bit_is_set() != set; ++i) {
        (void)usleep(20000);
    }
    return bit_is_set() == set;
}

static bool unregister(void) {
    const struct user_events_unregistration end = {
        .size = sizeof end,
        .bit = 31,
        .word_address = (uintptr_t)&word,
    };
    return ioctl(data, USER_EVENTS_UNREGISTER, &end) == 0;
}

enum { pattern = 0x2a5a3c96 };  // without bit 31

static atomic_bool flipping = true;

/// Flips bit 0 of the word until `flipping` is false. Returns NULL unless a flip was lost or
/// another bit than 31 changed.
static void* flip(void* unused) {
    (void)unused;
    uint32_t expected = pattern;
    bool right = true;
    while (flipping) {
        right = right && (atomic_fetch_xor(&word, 1) & 0x7fffffff) == expected;
        expected ^= 1;
    }
    word ^= expected ^ pattern;
    return right ? NULL : &word;
}

static void check_other_bits(struct user_events_registration wanted) {
    word = pattern;
    step("an event is registered in a word with other bits",
         ioctl(data, USER_EVENTS_REGISTER, &wanted) == 0 && word == pattern);
    pthread_t thread = 0;
    step("a thread changes one of them", pthread_create(&thread, NULL, flip, NULL) == 0);
    const int enable = open(EVENT "enable", O_WRONLY);
    bool right = true;
    for (int i = 0; i < 5; ++i) {
        right = right && write(enable, "1", 1) == 1 && bit_is_set() && write(enable, "0", 1) == 1 &&
                !bit_is_set();
    }
    (void)close(enable);
    step("the kernel sets the bit, and clears it, all the while", right);
    flipping = false;
    void* wrong = NULL;
    step("it does not disturb the thread", pthread_join(thread, &wrong) == 0 && wrong == NULL);
    step("the other bits are as they were", word == pattern);
    set_file(EVENT "enable", "1");
    step("unregistering, too, changes no other", unregister() && word == pattern);
    set_file(EVENT "enable", "0");
    word = 0;
}

/// Unregisters the child's copy of the word. Returns the child's exit status.
static int unregister_in_child(int from_parent, int to_parent_pipe) {
    char byte = 0;
    const bool was_set = wait_for_bit(true);
    const bool cleared = unregister() && !bit_is_set();
    const bool sent = write(to_parent_pipe, "u", 1) == 1 && read(from_parent, &byte, 1) == 1;
    return was_set && cleared && sent && !bit_is_set() ? 0 : 1;
}

static void follow_fork(struct user_events_registration wanted) {
    step("an event is registered once more", ioctl(data, USER_EVENTS_REGISTER, &wanted) == 0);
    int to_child[2];
    int to_parent[2];
    step("there are pipes", pipe(to_child) == 0 && pipe(to_parent) == 0);
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        _exit(unregister_in_child(to_child[0], to_parent[1]));
    }
    step("there is a child", child > 0);
    (void)close(to_parent[1]);
    set_file(EVENT "enable", "1");
    char byte = 0;
    step("a parent's bit is set when it has a child", wait_for_bit(true));
    step("the child has unregistered its own", read(to_parent[0], &byte, 1) == 1);
    step("the parent's stays", bit_is_set());
    set_file(EVENT "enable", "0");
    step("and is cleared", wait_for_bit(false));
    set_file(EVENT "enable", "1");
    step("and set", wait_for_bit(true));
    int status = -1;
    step("the child's was set, cleared, and has stayed so",
         write(to_child[1], "e", 1) == 1 && waitpid(child, &status, 0) == child && status == 0);
    step("the parent unregisters it", unregister() && !bit_is_set());
    set_file(EVENT "enable", "0");
}

int main(void) {
    data = open(TRACING "user_events_data", O_RDWR);
    step("user_events_data can be opened", data >= 0);

    struct user_events_registration wanted = {
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
    step("there is no listener at first", !bit_is_set());

    const uint32_t record[] = {wanted.write_index, 4711};
    step("a record without a listener is rejected",
         write(data, record, sizeof record) == -1 && errno == EBADF);
    set_file(EVENT "enable", "1");
    step("the kernel sets the bit", bit_is_set());
    step("a record is written", write(data, record, sizeof record) == (ssize_t)sizeof record);
    step("the trace has it", trace_contains("vm_address_probe: number=4711") ||
                                 trace_contains("vm_address_probe: number=0x1267 (4711)"));
    set_file(EVENT "enable", "0");
    step("the kernel clears the bit", !bit_is_set());

    step("the event is unregistered", unregister());
    step("it cannot be unregistered twice", !unregister() && errno == ENOENT);
    check_other_bits(wanted);
    follow_fork(wanted);
    return 0;
}
