// SPDX-License-Identifier: MIT
//
// Providers, users and limits.
#include <errno.h>
#include <linux/eventlog_device.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device_client.h"
#include "device_steps.h"
#include "module/eventlog_subscription_steps/subscription.h"
#include "module/eventlog_subscription_steps/trials.h"

enum { ordinary = 1002, other = 1003 };

_Noreturn static void run_as_user(uid_t user) {
    step("the process becomes an ordinary user",
         setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0);
    step("the process is dumpable", prctl(PR_SET_DUMPABLE, 1) == 0);
    const int own = subscribe_or_exit(&(struct subscription_request){0});
    step("receives no events of others", (word >> enable_bit & 1U) == 0);
    struct eventlog_provider_query query = {.size = sizeof query};
    step("and finds no providers of others", next_provider(own, &query) == ENOENT);
    device = -1;
    reopen_device();
    publish_two();
    step("it receives its own events", (word >> enable_bit & 1U) != 0 &&
                                           write_event(index_small, 3) && read_records(own) == 1 &&
                                           value_of(0) == 3);
    step("and finds its own provider",
         next_provider(own, &query) == 0 && strcmp(query.name, "listen") == 0 && query.uid == user);
    _exit(0);
}

void record_only_own_processes(void) {
    step("all users may open the device", chmod("/dev/eventlog", 0666) == 0);
    (void)fflush(stdout);
    for (uid_t user = ordinary; user <= other; ++user) {
        const pid_t child = fork();
        if (child == 0) {
            word = 0;
            run_as_user(user);
        }
        int status = -1;
        step("users receive only their own events",
             waitpid(child, &status, 0) == child && status == 0);
    }
    step("the mode is restored", chmod("/dev/eventlog", 0660) == 0);
}

void unpublish_provider(void) {
    const int reader = subscribe_or_exit(&(struct subscription_request){0});
    struct eventlog_provider_query query = {.size = sizeof query};
    // The first provider is the kernel's.
    while (strcmp(query.name, "listen") != 0 && next_provider(reader, &query) == 0) {
    }
    step("the provider is found", strcmp(query.name, "listen") == 0);
    step("and unpublished", unpublish(device, query.provider) == 0);
    step("it cannot be unpublished twice", unpublish(device, query.provider) == ENOENT);
    step("its bit is cleared", word == 0 && !write_event(index_small, 1));
    (void)close(reader);
}

/// Publishes a provider with one event, both named by `number`. Returns 0 or an errno.
static int publish_with(int number, const char* schema, uint32_t size) {
    char text[64];
    uint32_t index = 0;
    (void)snprintf(text, sizeof text, "schema_%d u64 a", number);
    step("one more event is registered",
         register_at(text, words_of_many + number, enable_bit, &index) == 0);
    const struct eventlog_published_event offer = {.write_index = index, .level = 3, .name = "one"};
    struct eventlog_publication subscription_request = {
        .size = sizeof subscription_request,
        .event_count = 1,
        .events = (uintptr_t)&offer,
        .schema = (uintptr_t)schema,
        .schema_size = size,
        .schema_hash = 7,
    };
    (void)snprintf(subscription_request.name, sizeof subscription_request.name, "schema_%d",
                   number);
    return ioctl(device, EVENTLOG_PUBLISH, &subscription_request) == 0 ? 0 : errno;
}

void share_equal_schemas(void) {
    enum { size = 20000, kinds = 4, last_kind = kinds - 1, count = 24 };
    static char schemas[kinds][size];
    for (int kind = 0; kind < kinds; ++kind) {
        memset(schemas[kind], 'x', size);
        schemas[kind][size - 1] = (char)('a' + kind);
    }
    reopen_device();
    struct subscription_request subscription_request = {.schemas_size = 1 << 16};
    const int reader = subscribe_or_exit(&subscription_request);
    for (int i = 0; i < count; ++i) {
        step("one of many is published", publish_with(i, schemas[i % last_kind], size) == 0);
    }
    step("one whose schema does not fit is published",
         publish_with(count, schemas[last_kind], size) == 0);
    step("only that one is refused", statistics(reader, EVENTLOG_ALL_RINGS).providers_refused == 1);
    step("a smaller one is published", publish_with(count + 1, schemas[last_kind], size / 8) == 0);
    const unsigned char* memory =
        mmap(NULL, subscription_request.total_size, PROT_READ, MAP_SHARED, reader, 0);
    step("the region can be mapped", memory != MAP_FAILED);
    const struct eventlog_region* region = (const void*)memory;
    const struct eventlog_provider_entry* entries =
        (const void*)(memory + region->providers_offset);
    step("all but the refused one are in the region", region->provider_count == count + 1);
    for (int i = 0; i < count; ++i) {
        if (entries[i].schema_offset != entries[i % last_kind].schema_offset ||
            entries[i].schema_size != size ||
            memcmp(memory + entries[i].schema_offset, schemas[i % last_kind], size) != 0) {
            step("equal schemas are stored once", false);
        }
    }
    step("another schema is stored separately",
         entries[count].schema_size == size / 8 &&
             memcmp(memory + entries[count].schema_offset, schemas[last_kind], size / 8) == 0);
    (void)munmap((void*)memory, subscription_request.total_size);
    (void)close(reader);
    reopen_device();
}

void fail_without_result(void) {
    void* const page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    step("there is a page", page != MAP_FAILED);
    reopen_device();
    step("one event is registered",
         register_at("unknown u64 a", &word, enable_bit, &index_small) == 0);
    const struct eventlog_published_event offer = {
        .write_index = index_small, .level = 3, .name = "one"};
    const struct eventlog_publication publication = {
        .size = sizeof publication,
        .event_count = 1,
        .events = (uintptr_t)&offer,
        .schema = (uintptr_t) "schema",
        .schema_size = 6,
        .name = "unknown",
    };
    memcpy(page, &publication, sizeof publication);
    step("the page cannot be written to", mprotect(page, 4096, PROT_READ) == 0);
    step("publishing fails without a place for the number",
         ioctl(device, EVENTLOG_PUBLISH, page) == -1 && errno == EFAULT);
    uint32_t number = 0;
    step("the event is still unpublished", publish(device, "known", &offer, 1, &number) == 0);
    step("the page can be written to", mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0);
    const struct eventlog_filter_rule rule = {.provider = "*", .event = "*"};
    const struct eventlog_subscription_request request = {
        .size = sizeof request,
        .clock = EVENTLOG_CLOCK_MONOTONIC,
        .buffer_count = 2,
        .buffer_size = EVENTLOG_BUFFER_SIZE_MIN,
        .rule_count = 1,
        .rules = (uintptr_t)&rule,
        .schemas_size = 1 << 16,
    };
    memcpy(page, &request, sizeof request);
    step("the page cannot be written to", mprotect(page, 4096, PROT_READ) == 0);
    const int file = open_device();
    step("subscribing fails without a place for the size",
         ioctl(file, EVENTLOG_SUBSCRIBE, page) == -1 && errno == EFAULT);
    step("no subscription began", (word >> enable_bit & 1U) == 0);
    step("the file can still become a subscription",
         subscribe(file, &(struct subscription_request){0}) == 0);
    (void)munmap(page, 4096);
    (void)close(file);
}

void publish_again_at_the_limit(void) {
    const struct eventlog_published_event offer = {
        .write_index = index_small, .level = 3, .name = "one"};
    uint32_t number = 0;
    uint32_t again = 0;
    set_file(PARAMETERS "schema_pages_per_user", "1");
    step("it is published again", publish(device, "known", &offer, 1, &number) == 0);
    step("and again, as the same",
         publish(device, "known", &offer, 1, &again) == 0 && again == number);
    step("another one exceeds the limit", publish(device, "other", &offer, 1, &number) == EMFILE);
    set_file(PARAMETERS "schema_pages_per_user", "4096");
}

void stay_within_limits(void) {
    set_file(PARAMETERS "subscriptions_per_user", "1");
    const int one = subscribe_or_exit(&(struct subscription_request){0});
    const int two = open_device();
    step("one more subscription is too many",
         subscribe(two, &(struct subscription_request){0}) == EMFILE);
    step("a file has at most one subscription",
         subscribe(one, &(struct subscription_request){0}) == EBUSY);
    set_file(PARAMETERS "subscriptions_per_user", "16");
    set_file(PARAMETERS "ring_pages_per_user", "100");
    step("too much memory is rejected",
         subscribe(two, &(struct subscription_request){0}) == EMFILE);
    set_file(PARAMETERS "ring_pages_per_user", "65536");
    step("below the limits it begins", subscribe(two, &(struct subscription_request){0}) == 0);
    (void)close(two);
    (void)close(one);
}
