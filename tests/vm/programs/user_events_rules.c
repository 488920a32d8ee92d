// SPDX-License-Identifier: MIT
//
// Tests rule by rule what libeventlog assumes of the kernel's user_events since Linux 6.4: which
// calls fail, and with which error.
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "steps.h"
#include "user_events_abi.h"

enum { multi_format = 2 };

static int data;
static _Alignas(8) volatile uint64_t word;

static struct user_events_registration make(const char* description) {
    const struct user_events_registration made = {
        .size = sizeof made,
        .bit = 31,
        .word_size = sizeof(uint32_t),
        .word_address = (uintptr_t)&word,
        .description = (uintptr_t)description,
    };
    return made;
}

/// Returns 0 or an errno.
static int try_registration(struct user_events_registration* wanted) {
    return ioctl(data, USER_EVENTS_REGISTER, wanted) == 0 ? 0 : errno;
}

static int unregister_bit(const volatile void* address, uint8_t bit) {
    const struct user_events_unregistration end = {
        .size = sizeof end, .bit = bit, .word_address = (uintptr_t)address};
    return ioctl(data, USER_EVENTS_UNREGISTER, &end) == 0 ? 0 : errno;
}

/// Registers an event and unregisters it at once. Returns the error of the registration, or 0.
static int try_description(const char* description) {
    struct user_events_registration wanted = make(description);
    const int error = try_registration(&wanted);
    if (error == 0) {
        (void)unregister_bit(&word, 31);
    }
    return error;
}

static void follow_structs(void) {
    char large[8192] = {0};
    struct user_events_registration wanted = make("rules_struct u32 a");
    memcpy(large, &wanted, sizeof wanted);
    const uint32_t too_large = 4097;
    memcpy(large, &too_large, sizeof too_large);
    step("a struct of more than a page is too big",
         ioctl(data, USER_EVENTS_REGISTER, large) == -1 && errno == E2BIG);
    const uint32_t longer = sizeof wanted + 8;
    memcpy(large, &longer, sizeof longer);
    large[sizeof wanted] = 1;
    step("so is a longer one with unknown bytes",
         ioctl(data, USER_EVENTS_REGISTER, large) == -1 && errno == E2BIG);
    large[sizeof wanted] = 0;
    step("a longer one with zeros is accepted", ioctl(data, USER_EVENTS_REGISTER, large) == 0);
    step("and unregistered", unregister_bit(&word, 31) == 0);
    wanted.size = sizeof wanted - 1;
    step("a shorter one is invalid", try_registration(&wanted) == EINVAL);
    wanted = make("rules_struct u32 a");
    wanted.flags = 4;
    step("unknown flags are invalid", try_registration(&wanted) == EINVAL);
}

static void follow_addresses(void) {
    struct user_events_registration wanted = make("rules_address u32 a");
    wanted.word_size = 2;
    step("a word has 4 bytes or 8", try_registration(&wanted) == EINVAL);
    wanted = make("rules_address u32 a");
    wanted.word_address += 1;
    step("the word is aligned", try_registration(&wanted) == EINVAL);
    wanted = make("rules_address u32 a");
    wanted.bit = 32;
    step("the bit is within the word", try_registration(&wanted) == EINVAL);
    wanted.word_size = 8;
    step("a word of 8 bytes has bit 32", try_registration(&wanted) == 0);
    step("it is unregistered", unregister_bit(&word, 32) == 0);
    void* fixed = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    wanted = make("rules_address u32 a");
    wanted.word_address = (uintptr_t)fixed;
    const int error = try_registration(&wanted);
    step("a read-only word is rejected", error == EFAULT || error == ENOMEM);
    wanted.word_address = 0xffffffff81000000UL;
    step("a kernel address is a bad address", try_registration(&wanted) == EFAULT);
}

static void follow_names(void) {
    struct user_events_registration first = make("rules_name u32 a");
    step("an event is registered", try_registration(&first) == 0);
    struct user_events_registration again = make("rules_name u32 a");
    step("the same bit twice is in use", try_registration(&again) == EADDRINUSE);
    again.bit = 30;
    step("another bit is not", try_registration(&again) == 0);
    step("the event has one number", again.write_index == first.write_index);
    struct user_events_registration other = make("rules_name u64 b");
    other.bit = 29;
    step("other fields under that name are in use", try_registration(&other) == EADDRINUSE);
    other.flags = multi_format;
    step("with several formats allowed they are accepted", try_registration(&other) == 0);
    step("the second format has another system",
         access(TRACING "events/user_events_multi/rules_name.0", F_OK) == 0 ||
             file_contains(TRACING "user_events_status", "rules_name."));
    step("the bits are unregistered", unregister_bit(&word, 31) == 0 &&
                                          unregister_bit(&word, 30) == 0 &&
                                          unregister_bit(&word, 29) == 0);
    step("an unregistered bit cannot be unregistered", unregister_bit(&word, 31) == ENOENT);
    const struct user_events_unregistration odd = {
        .size = sizeof odd, .bit = 31, .reserved_byte = 1, .word_address = (uintptr_t)&word};
    step("reserved bytes are invalid",
         ioctl(data, USER_EVENTS_UNREGISTER, &odd) == -1 && errno == EINVAL);
    step("a flag in the text is invalid", try_description("rules_name:flag u32 a") == EINVAL);
    step("names may have any character", try_description("rules/../%n u32 a") == 0);
}

static void follow_types(void) {
    static const char* const known[] = {
        "s8",
        "u8",
        "s16",
        "u16",
        "s32",
        "u32",
        "s64",
        "u64",
        "int",
        "unsigned int",
        "char",
        "short",
        "unsigned short",
        "unsigned char",
        "char[1024]",
        "__data_loc char[]",
        "__rel_loc char[]",
        "__rel_loc u8[]",
    };
    static const char* const unknown[] = {
        "long", "unsigned long", "void*", "float", "double", "char[1025]", "u16[4]", "bool",
    };
    char text[128];
    for (size_t i = 0; i < sizeof known / sizeof *known; ++i) {
        (void)snprintf(text, sizeof text, "rules_type_%zu %s a", i, known[i]);
        step(known[i], try_description(text) == 0);
    }
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; ++i) {
        (void)snprintf(text, sizeof text, "rules_no_type %s a", unknown[i]);
        step(unknown[i], try_description(text) == EINVAL);
    }
    step("a struct has a size", try_description("rules_struct_1 struct any a") == EINVAL);
    step("and any name", try_description("rules_struct_2 struct any a 16") == 0);
    step("spaces may be absent", try_description("rules_space u32 a;u32 b") == 0);
    step("it is the same event with them", try_description("rules_space u32 a; u32 b") == 0);

    char description[600];
    const int start = snprintf(description, sizeof description, "rules_long u32 ");
    memset(description + start, 'x', sizeof description - (size_t)start);
    description[512] = '\0';
    step("a description of 512 characters is too long", try_description(description) == EINVAL);
    description[511] = '\0';
    step("one of 511 is accepted", try_description(description) == 0);
}

static int try_write(const void* bytes, size_t size) {
    return write(data, bytes, size) == (ssize_t)size ? 0 : errno;
}

/// Writes a loc word and what it refers to.
static int write_text(uint32_t index, uint32_t loc, const char* text, size_t size) {
    const struct iovec parts[] = {{&index, sizeof index}, {&loc, sizeof loc}, {(void*)text, size}};
    return writev(data, parts, 3) >= 0 ? 0 : errno;
}

static void follow_writes(void) {
    struct user_events_registration number = make("rules_number u32 a; u32 b");
    struct user_events_registration text = make("rules_text __rel_loc char[] t");
    text.bit = 30;
    step("events to write are registered",
         try_registration(&number) == 0 && try_registration(&text) == 0);
    const uint32_t record[] = {number.write_index, 1, 2};
    step("writing an event without a listener is a bad descriptor",
         try_write(record, sizeof record) == EBADF);
    set_file(EVENTS "enable", "1");
    step("the bit is set", (word >> 31 & 1) != 0);
    step("the event is written", try_write(record, sizeof record) == 0);
    step("less than the fields is invalid", try_write(record, sizeof record - 4) == EINVAL);
    const uint32_t negative[] = {0x80000000U, 1, 2};
    step("a negative number is invalid", try_write(negative, sizeof negative) == EINVAL);
    const uint32_t foreign[] = {1000, 1, 2};
    step("an unknown number is rejected", try_write(foreign, sizeof foreign) == ENOENT);
    step("a part of one is a bad address", try_write(record, 2) == EFAULT);
    step("writes at an offset are rejected",
         pwrite(data, record, sizeof record, 4) == -1 && errno == EFAULT);

    void* nowhere = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const struct iovec parts[] = {{(void*)record, 4}, {nowhere, 8}};
    step("unmapped memory is a bad address", writev(data, parts, 2) == -1 && errno == EFAULT);

    const uint32_t index = text.write_index;
    step("the offset of a text counts from the end of its word",
         write_text(index, 4U << 16, "abc", 4) == 0);
    step("the trace has it", trace_contains("rules_text: t=abc"));
    step("one that ends outside is a bad address", write_text(index, 5U << 16, "abc", 4) == EFAULT);
    step("a text that begins outside is a bad address",
         write_text(index, 1U << 16 | 4, "abc", 4) == EFAULT);
    step("and one without a NUL", write_text(index, 3U << 16, "abc", 4) == EFAULT);

    struct user_events_registration absolute = make("rules_absolute __data_loc char[] t");
    absolute.bit = 29;
    struct user_events_registration fixed = make("rules_fixed char[8] t");
    fixed.bit = 28;
    step("events with other texts are registered",
         try_registration(&absolute) == 0 && try_registration(&fixed) == 0);
    set_file(EVENTS "rules_absolute/enable", "1");
    set_file(EVENTS "rules_fixed/enable", "1");
    // The text follows 8 bytes of the kernel and the word itself.
    step("__data_loc counts from the beginning of the kernel's record",
         write_text(absolute.write_index, 4U << 16 | 12, "abc", 4) == 0);
    step("the trace has it, too", trace_contains("rules_absolute: t=abc"));
    step("one that ends outside is a bad address, too",
         write_text(absolute.write_index, 4U << 16 | 13, "abc", 4) == EFAULT);
    const struct {
        uint32_t index;
        char text[8];
    } filled = {fixed.write_index, {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}};
    step("a text of fixed size needs no NUL", try_write(&filled, sizeof filled) == 0);
    step("the trace has all of it", trace_contains("rules_fixed: t=abcdefgh\n"));

    const int another = open(TRACING "user_events_data", O_RDWR);
    step("a number is valid for its descriptor only",
         write(another, record, sizeof record) == -1 && errno == ENOENT);
    (void)close(another);
    step("unregistering clears the bit at once",
         unregister_bit(&word, 31) == 0 && (word >> 31 & 1) == 0);
    set_file(EVENTS "enable", "0");
    step("the other bits are unregistered, too", unregister_bit(&word, 30) == 0 &&
                                                     unregister_bit(&word, 29) == 0 &&
                                                     unregister_bit(&word, 28) == 0);
}

static void follow_removal(void) {
    step("an unknown event cannot be removed",
         ioctl(data, USER_EVENTS_DELETE, "rules_nothing") == -1 && errno == ENOENT);
    step("a registered event cannot be removed",
         ioctl(data, USER_EVENTS_DELETE, "rules_number") == -1 && errno == EBUSY);
    set_file(TRACING "dynamic_events", "u:rules_command u32 a; struct any b 8");
    step("dynamic_events creates events",
         file_contains(TRACING "dynamic_events", "u:rules_command u32 a; struct any b 8"));
    step("they stay", access(EVENTS "rules_command", F_OK) == 0);
    step("and are removed", ioctl(data, USER_EVENTS_DELETE, "rules_command") == 0);
    set_file(TRACING "dynamic_events", "u:rules_command u32 a");
    // Without O_TRUNC, which would remove all events.
    set_file(TRACING "dynamic_events", "-:user_events/rules_command u32 a");
    step("also through dynamic_events", access(EVENTS "rules_command", F_OK) != 0);
}

static void follow_status(void) {
    step("the status has neither bits nor their maximum",
         file_contains(TRACING "user_events_status", "Active: ") &&
             !file_contains(TRACING "user_events_status", "Max: "));
}

int main(void) {
    data = open(TRACING "user_events_data", O_RDWR);
    step("user_events_data can be opened", data >= 0);
    follow_structs();
    follow_addresses();
    follow_names();
    follow_types();
    follow_writes();
    follow_removal();
    follow_status();
    return 0;
}
