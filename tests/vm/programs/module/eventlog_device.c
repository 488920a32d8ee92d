// SPDX-License-Identifier: MIT
//
// Tests rule by rule what /dev/eventlog of the kernel module accepts and rejects, as root. Rules
// about memory and processes are in eventlog_memory.c, limits in eventlog_limits.c. With a
// description as its argument, the program registers that event until its standard input ends.
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "device_steps.h"

enum { multi_format = 2, payload_max = 4048, ordinary = 1002 };

static int try_description(const char* description) {
    struct user_events_registration wanted = registration_of(description);
    const int error = try_registration(&wanted);
    if (error == 0) {
        (void)unregister_bit(&word, enable_bit);
    }
    return error;
}

static void follow_structs(void) {
    char large[8192] = {0};
    struct user_events_registration wanted = registration_of("rules_struct u32 a");
    memcpy(large, &wanted, sizeof wanted);
    const uint32_t too_large = 4097;
    memcpy(large, &too_large, sizeof too_large);
    step("a struct of more than a page is too big",
         ioctl(device, USER_EVENTS_REGISTER, large) == -1 && errno == E2BIG);
    const uint32_t longer = sizeof wanted + 8;
    memcpy(large, &longer, sizeof longer);
    large[sizeof wanted] = 1;
    step("so is a longer one with unknown bytes",
         ioctl(device, USER_EVENTS_REGISTER, large) == -1 && errno == E2BIG);
    large[sizeof wanted] = 0;
    step("a longer one with zeros is accepted", ioctl(device, USER_EVENTS_REGISTER, large) == 0);
    step("and unregistered", unregister_bit(&word, enable_bit) == 0);
    step("once", unregister_bit(&word, enable_bit) == ENOENT);
    wanted.size = sizeof wanted - 1;
    step("a shorter one is invalid", try_registration(&wanted) == EINVAL);
    wanted = registration_of("rules_struct u32 a");
    wanted.flags = 1;
    step("events that outlive their programs are not supported",
         try_registration(&wanted) == EINVAL);
    // The kernel writes the number last; its page may be read-only.
    char* const pages =
        mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    wanted = registration_of("rules_struct u32 a");
    void* const at_end = pages + 4096 - offsetof(struct user_events_registration, write_index);
    memcpy(at_end, &wanted, sizeof wanted);
    (void)mprotect(pages + 4096, 4096, PROT_READ);
    step("a registration whose answer cannot be written has no effect",
         ioctl(device, USER_EVENTS_REGISTER, at_end) == -1 && errno == EFAULT &&
             unregister_bit(&word, enable_bit) == ENOENT);
    step("an unmapped struct is a bad address",
         ioctl(device, USER_EVENTS_REGISTER, NULL) == -1 && errno == EFAULT);
    step("an unknown command is rejected", ioctl(device, 0x2a03, NULL) == -1 && errno == ENOTTY);
}

static void follow_addresses(void) {
    struct user_events_registration wanted = registration_of("rules_address u32 a");
    wanted.word_size = 2;
    step("a word has 4 bytes or 8", try_registration(&wanted) == EINVAL);
    wanted = registration_of("rules_address u32 a");
    wanted.word_address += 1;
    step("the word is aligned", try_registration(&wanted) == EINVAL);
    wanted = registration_of("rules_address u32 a");
    wanted.bit = 32;
    step("the bit is within the word", try_registration(&wanted) == EINVAL);
    wanted.word_size = 8;
    step("a word of 8 bytes has bit 32", try_registration(&wanted) == 0);
    set_file(OUR_EVENTS "rules_address/enable", "1");
    step("the kernel sets it", word == 1ULL << 32U);
    set_file(OUR_EVENTS "rules_address/enable", "0");
    step("and cleared", word == 0);
    step("it is unregistered", unregister_bit(&word, 32) == 0);
    void* fixed = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    wanted = registration_of("rules_address u32 a");
    wanted.word_address = (uintptr_t)fixed;
    step("a read-only word is rejected", try_registration(&wanted) == EFAULT);
    wanted.word_address = 0xffffffff81000000UL;
    step("a kernel address is a bad address", try_registration(&wanted) == EFAULT);
    wanted.word_address = 4096;
    step("so is an unmapped one", try_registration(&wanted) == EFAULT);
}

static void follow_names(void) {
    struct user_events_registration first = registration_of("rules_name u32 a");
    step("an event is registered", try_registration(&first) == 0);
    struct user_events_registration again = registration_of("rules_name u32 a");
    step("the same bit twice is in use", try_registration(&again) == EADDRINUSE);
    again.bit = 29;
    step("another bit is not", try_registration(&again) == 0);
    step("the event has one number", again.write_index == first.write_index);
    struct user_events_registration other = registration_of("rules_name u64 b");
    other.bit = 28;
    step("other fields under that name are in use", try_registration(&other) == EADDRINUSE);
    other.flags = multi_format;
    step("with several formats allowed they are accepted", try_registration(&other) == 0);
    step("the second format has another number", other.write_index != first.write_index);
    struct user_events_registration same = registration_of("rules_name u64 b");
    same.bit = 27;
    same.flags = multi_format;
    step("the same fields are accepted", try_registration(&same) == 0);
    step("as the same event", same.write_index == other.write_index);
    set_file(OUR_EVENTS "enable", "1");
    step("all bits are set", word == 0x78000000U);
    set_file(OUR_EVENTS "rules_name/enable", "0");
    step("those of one event are cleared", word == 0x18000000U);
    set_file(OUR_EVENTS "enable", "0");
    step("and of the other", word == 0);
    step("the bits are unregistered",
         unregister_bit(&word, enable_bit) == 0 && unregister_bit(&word, 29) == 0 &&
             unregister_bit(&word, 28) == 0 && unregister_bit(&word, 27) == 0);
}

static void follow_descriptions(void) {
    static const char* const rejected[] = {
        "",
        "enable u32 a",
        "filter",
        "rules/name u32 a",
        "../rules u32 a",
        "rules_d u32",
        "rules_d u32 a u32 b",
        "rules_d long a",
        "rules_d u32 a; u64 a",
        "rules_d u32 common_pid",
        "rules_d u32 1a",
        "rules_d u32 a-b",
        // A letter of Latin-1.
        "rules_\xe9 u32 a",
        "\xe9 u32 a",
        "rules_d u32 \xe9",
        "rules_d struct \xe9 a 8",
        "rules_d char[0] a",
        "rules_d char[1025] a",
        "rules_d char[-1] a",
        "rules_d char[9 a",
        // A line feed would start a new line of `format`.
        "rules_d char[9\n] a",
        "rules_d char[9 ] a",
        "rules_d char[+9] a",
        "rules_d char[09] a",
        "rules_d char[] a",
        "rules_d u32[4] a",
        "rules_d struct f64 a",
        "rules_d struct f64 a 0",
        "rules_d struct f64 a +8",
        "rules_d struct f64 a 08",
        "rules_d struct f64 a 0x8",
        "rules_d struct f64 a 4049",
        "rules_d struct f64 a 99999999999",
        "rules_d struct f64[] a 8",
        // The kernel searches every type for these words, and would use the field as a location.
        "rules_d struct __data_loc_char a 4",
        "rules_d struct __rel_loc_char a 4",
        "rules_d __rel_loc char a",
        "rules_d __rel_loc char[4] a",
        "rules_d __rel_loc cpumask_t[] a",
        "rules_d __rel_loc long[] a",
        "rules_d __rel_loc f16[] a",
        "rules_d f32 a",
        "rules_d struct x a 4000; struct x b 4000",
        "rules_d %s a",
    };
    for (size_t i = 0; i < sizeof rejected / sizeof *rejected; ++i) {
        if (try_description(rejected[i]) != EINVAL) {
            printf("accepted: %s\n", rejected[i]);
            step("invalid descriptions are rejected", false);
        }
    }
    step("invalid descriptions are rejected", true);
    char text[600] = "rules_long";
    memset(text + strlen(text), 'g', 510 - strlen(text));
    step("so is a name that is too long", try_description(text) == EINVAL);
    memset(text, ' ', sizeof text - 1);
    memcpy(text, "rules_long u8 a", 15);
    step("and a description of more than 511 characters", try_description(text) == EINVAL);
    text[511] = '\0';
    step("one of 511 is accepted", try_description(text) == 0);
    step("fields may be none", try_description("rules_none") == 0);
    step(
        "or of every kind",
        try_description("rules_kinds u8 a; s8 b; u16 c; s16 d; u32 e; s32 f; u64 g; s64 h; char i; "
                        "unsigned char j; int k; unsigned int l; short m; unsigned short n; "
                        "char[16] o; unsigned char[3] p; struct f64 q 8; __rel_loc char[] r; "
                        "__data_loc char[] s; __rel_loc u8[] t; __rel_loc u64[] u; "
                        "__rel_loc f32[] v;") == 0);
    // More fields than the kernel would examine without a warning.
    char* at = text + snprintf(text, sizeof text, "rules_many ");
    for (int i = 0; i < 70; ++i) {
        at += snprintf(at, 8, "u8 %c%c;", 'a' + i / 26, 'a' + i % 26);
    }
    (void)snprintf(at, 24, "__rel_loc char[] z");
    step("a description may have very many fields", try_description(text) == 0);
}

static int try_write(const void* bytes, size_t size) {
    return write(device, bytes, size) == (ssize_t)size ? 0 : errno;
}

struct text_event {
    uint32_t index;
    uint32_t number;
    uint32_t where;
    char text[8];
};

static int write_text(uint32_t index, uint32_t size, uint32_t offset) {
    const struct text_event event = {index, 7, size << 16U | offset, "a text"};
    return try_write(&event, sizeof event);
}

static void follow_writes(void) {
    struct user_events_registration wanted =
        registration_of("rules_write u32 a; __rel_loc char[] b");
    step("an event to write is registered", try_registration(&wanted) == 0);
    const uint32_t index = wanted.write_index;
    step("writing an event without a listener is a bad descriptor",
         write_text(index, 7, 0) == EBADF);
    set_file(OUR_EVENTS "rules_write/enable", "1");
    step("the event is written", write_text(index, 7, 0) == 0);
    step("the trace has it", trace_contains("rules_write: a=7 b=a text"));
    step("a number must be whole", try_write(&index, 3) == EFAULT);
    step("and known to the file", write_text(index + 1000, 7, 0) == ENOENT);
    step("and not negative", write_text(INT32_MAX + UINT32_C(1), 7, 0) == ENOENT);
    step("the largest number begins a batch, which this is not",
         write_text(UINT32_MAX, 7, 0) == EINVAL);
    const uint32_t brief[] = {index, 7};
    step("a payload has all fields", try_write(brief, sizeof brief) == EINVAL);
    step("a text ends within the payload", write_text(index, 9, 0) == EFAULT);
    step("and begins within it", write_text(index, 7, 0xffff) == EFAULT);
    step("it ends with NUL", write_text(index, 4, 0) == EFAULT);
    step("a text has at least its NUL", write_text(index, 0, 1) == EFAULT);
    step("an empty location is accepted", write_text(index, 0, 0) == 0);
    step("the trace shows it empty", trace_contains("rules_write: a=7 b=\n"));
    static char large[sizeof index + payload_max + 1];
    const struct text_event head = {index, 7, (payload_max - 8) << 16U, ""};
    memset(large, 'x', sizeof large);
    memcpy(large, &head, 12);
    large[sizeof index + payload_max - 1] = '\0';
    step("the largest payload is accepted", try_write(large, sizeof large - 1) == 0);
    step("a larger one is too big", try_write(large, sizeof large) == E2BIG);
    const struct iovec parts[] = {
        {(void*)&index, 4}, {large + 4, 8}, {large + 12, payload_max - 8}};
    step("writev may pass parts", writev(device, parts, 3) == 4 + payload_max);
    const struct iovec outside[] = {{(void*)&index, 4}, {(void*)16, 20}};
    step("all parts are readable", writev(device, outside, 2) == -1 && errno == EFAULT);
    step("the file cannot be read", read(device, large, 1) == -1 && errno == EINVAL);
    set_file(OUR_EVENTS "rules_write/enable", "0");
    step("its bit is unregistered", unregister_bit(&word, enable_bit) == 0);
}

static void follow_lives(void) {
    step("an unknown event cannot be removed", delete_event("rules_life") == ENOENT);
    struct user_events_registration wanted = registration_of("rules_life u32 a");
    step("an event is registered to be removed", try_registration(&wanted) == 0);
    step("it is rejected", delete_event("rules_life") == EBUSY);
    step("its bit is unregistered", unregister_bit(&word, enable_bit) == 0);
    step("it stays while the file is open", delete_event("rules_life") == EBUSY);
    const int other = open_device();
    (void)close(device);
    device = other;
    const int error = delete_event("rules_life");
    step("now it can be removed, unless the kernel has removed it", error == 0 || error == ENOENT);
    step("it is removed", !event_exists("rules_life") && delete_event("rules_life") == ENOENT);

    wanted = registration_of("rules_life u32 a");
    step("an event is registered to be left", try_registration(&wanted) == 0);
    set_file(OUR_EVENTS "rules_life/enable", "1");
    (void)close(device);
    step("its bit stays set after the file is closed", word == 1U << enable_bit);
    device = open_device();
    step("it stays while it is traced", delete_event("rules_life") == EBUSY);
    word = 0;
    wanted = registration_of("rules_life u32 a");
    step("registering it again finds it", try_registration(&wanted) == 0);
    step("traced", word == 1U << enable_bit);
    (void)close(device);
    device = open_device();
    set_file(OUR_EVENTS "rules_life/enable", "0");
    step("the kernel removes it", wait_until_removed("rules_life"));
    word = 0;
}

/// Records of a removed event do not appear as the next event's.
static void follow_trace_of_the_dead(void) {
    struct user_events_registration wanted = registration_of("rules_dead u32 a");
    step("an event is registered that will be removed", try_registration(&wanted) == 0);
    set_file(OUR_EVENTS "rules_dead/enable", "1");
    const uint32_t event[] = {wanted.write_index, 4711};
    step("the event is written", try_write(event, sizeof event) == 0);
    step("the trace has it", trace_contains("rules_dead: a=4711"));
    set_file(OUR_EVENTS "rules_dead/enable", "0");
    reopen_device();
    step("it is removed", wait_until_removed("rules_dead"));
    word = 0;
    step("another event is registered", try_description("rules_next u32 a") == 0);
    step("the new event has no records", !trace_contains("rules_next:"));
}

/// The same after many removed events that have no records.
static void follow_trace_of_the_last(void) {
    enum { others = 70 };
    char text[32];
    int errors = 0;
    reopen_device();
    step("all events are removed", wait_until_removed(""));
    for (int i = 0; i < others; ++i) {
        (void)snprintf(text, sizeof text, "rules_before_%d u32 a", i);
        errors += try_description(text) != 0;
    }
    struct user_events_registration wanted = registration_of("rules_last u32 a");
    step("the last of many events is registered", errors == 0 && try_registration(&wanted) == 0);
    set_file(OUR_EVENTS "rules_last/enable", "1");
    const uint32_t event[] = {wanted.write_index, 4712};
    step("the event is written", try_write(event, sizeof event) == 0);
    set_file(OUR_EVENTS "rules_last/enable", "0");
    reopen_device();
    step("all are removed", wait_until_removed(""));
    word = 0;
    for (int i = 0; i < others + 1; ++i) {
        (void)snprintf(text, sizeof text, "rules_after_%d u32 a", i);
        errors += try_description(text) != 0;
    }
    step("as many are registered", errors == 0);
    step("the new events have no records", !trace_contains("rules_after_"));
}

/// Removes more events than the kernel removes at once, directly after they were enabled.
static void follow_many(void) {
    char text[32];
    for (int i = 0; i < 150; ++i) {
        (void)snprintf(text, sizeof text, "rules_many_%d u32 a", i);
        if (try_description(text) != 0) {
            step("many events are registered", false);
        }
    }
    set_file(OUR_EVENTS "enable", "1");
    reopen_device();
    step("one that is traced cannot be removed", delete_event("rules_many_149") == EBUSY);
    set_file(OUR_EVENTS "enable", "0");
    const int error = delete_event("rules_many_149");
    step("it can be removed at once afterwards", error == 0 || error == ENOENT);
    step("the kernel removes all others", wait_until_removed(""));
}

/// Only root may remove events.
static void check_persistence(void) {
    set_file(PARAMETERS "remove_idle", "0");
    step("an event is registered to be kept", try_description("rules_kept u32 a") == 0);
    step("another one, too", try_description("rules_kept_too u32 a") == 0);
    reopen_device();
    step("there is an ordinary user", seteuid(ordinary) == 0);
    step("the user may not remove it", delete_event("rules_kept") == EPERM);
    step("the user may not remove an unknown event", delete_event("rules_nothing") == EPERM);
    (void)sleep(2);
    step("it stays", event_exists("rules_kept"));
    step("root may", seteuid(0) == 0 && delete_event("rules_kept") == 0);
    step("the event is removed", !event_exists("rules_kept"));
    step("the other one is found again", try_description("rules_kept_too u32 a") == 0);
    step("its fields are unchanged", try_description("rules_kept_too u64 b") == EADDRINUSE);
    reopen_device();
    set_file(PARAMETERS "remove_idle", "1");
    step("it is removed when root allows it", wait_until_removed("rules_kept_too"));
}

/// Registers an event until standard input ends.
static int hold(const char* description) {
    struct user_events_registration wanted = registration_of(description);
    char byte = 0;
    step("an event is registered to be held", try_registration(&wanted) == 0);
    return read(STDIN_FILENO, &byte, 1) == 0 ? 0 : 1;
}

int main(int argc, char** argv) {
    device = open_device();
    step("the device can be opened", device >= 0);
    if (argc > 1) {
        return hold(argv[1]);
    }
    follow_structs();
    follow_addresses();
    follow_names();
    follow_descriptions();
    follow_writes();
    follow_lives();
    follow_trace_of_the_dead();
    follow_trace_of_the_last();
    follow_many();
    check_persistence();
    (void)close(device);
    puts("ok: all rules");
    return 0;
}
