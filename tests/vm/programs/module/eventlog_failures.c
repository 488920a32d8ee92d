// SPDX-License-Identifier: MIT
//
// Tests /dev/eventlog when allocations of the kernel fail, as root, on a kernel with fault
// injection: each allocation of a call fails in turn, until the call succeeds. Limits of one object
// per kind check that a failed call releases what it has charged to its user.
#include <errno.h>
#include <fcntl.h>
#include <linux/eventlog_relay.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device_client.h"
#include "device_steps.h"

#define FAILURES "/sys/kernel/debug/"

enum { failures_max = 1000, large = 2000 };

/// The kernel's fault injection for this thread.
static int counter = -1;

/// Lets the kernel fail this process's allocation of that number, counted from now on. The caller
/// makes no other call before the tested one.
static bool fail(int number) {
    char text[16];
    const int size = snprintf(text, sizeof text, "%d", number);
    return pwrite(counter, text, (size_t)size, 0) == size;
}

/// Whether an allocation has failed. Afterwards none fails.
static bool has_failed(void) {
    char text[16] = "";
    const bool known = pread(counter, text, sizeof text - 1, 0) > 0;
    const bool over = fail(0);
    step("the kernel reports whether an allocation has failed", known && over);
    return strtol(text, NULL, 10) == 0;
}

/// A tested call, which returns 0 or an errno, and its reversal.
struct attempt {
    const char* name;
    int (*begin)(void);
    void (*end)(void);
};

/// Returns the number of failed allocations.
static int try_all(const struct attempt* attempt) {
    int refused = 0;
    for (int number = 1; number < failures_max; ++number) {
        const int error = fail(number) ? attempt->begin() : EIO;
        const bool failed = has_failed();
        if (error != 0 && (!failed || error != ENOMEM)) {
            (void)fprintf(stderr, "%s, allocation %d: %s\n", attempt->name, number,
                          strerror(error));
            step("a call without memory fails with ENOMEM", false);
        }
        refused += error != 0;
        if (error == 0) {
            attempt->end();
        }
        if (!failed) {
            printf("%s: %d allocations, %d refused\n", attempt->name, number - 1, refused);
            return number - 1;
        }
    }
    step("the call succeeds at last", false);
    return 0;
}

static int open_another(void) {
    device = open_device();
    return device >= 0 ? 0 : errno;
}

static void close_device(void) {
    (void)close(device);
    device = -1;
}

static int register_new(void) {
    return register_at("failures u32 a; __rel_loc char[] b", &word, enable_bit, NULL);
}

/// Removes the word and the event, so that the next call creates them.
static void forget(void) {
    step("the word can be unregistered", unregister_bit(&word, enable_bit) == 0 && word == 0);
    reopen_device();
    step("the event can be removed", delete_event("failures") == 0);
}

static int write_large(void) {
    static struct {
        uint32_t index;
        uint32_t a;
        uint32_t b;
        char text[large];
    } event = {.b = large << 16};
    return write(device, &event, sizeof event) == (ssize_t)sizeof event ? 0 : errno;
}

static void nothing(void) {}

static uint32_t index_published;
static uint32_t number_published;

static int publish_one(void) {
    const struct eventlog_published_event offer = {
        .write_index = index_published, .level = 3, .name = "one"};
    return publish(device, "failures", &offer, 1, &number_published);
}

static void withdraw_one(void) {
    step("the provider can be unpublished", unpublish(device, number_published) == 0);
}

/// Opens the file before the trial, because opening allocates memory.
static int listener = -1;

static int subscribe_to_all(void) {
    return subscribe(listener, &(struct subscription_request){.overwrite = true});
}

static void reopen_listener(void) {
    (void)close(listener);
    listener = open_device();
    step("the device can be opened for a subscription", listener >= 0);
}

/// Lowers the limits to one subscription.
static void allow_one_subscription(void) {
    char pages[32];
    reopen_listener();
    step("a subscription begins", subscribe_to_all() == 0);
    const uint64_t memory = statistics(listener, EVENTLOG_ALL_RINGS).memory;
    (void)snprintf(pages, sizeof pages, "%lu", (unsigned long)(memory / 4096));
    reopen_listener();
    set_file(PARAMETERS "subscriptions_per_user", "1");
    set_file(PARAMETERS "ring_pages_per_user", pages);
}

/// Publishes without and with a subscription. A provider that does not fit there receives no
/// listener.
static void publish_without_memory(void) {
    static const struct attempt publishing = {"publish", publish_one, withdraw_one};
    static const struct attempt subscribing = {"subscribe", subscribe_to_all, reopen_listener};
    step("one event is registered",
         register_at("published u64 a", &word, enable_bit, &index_published) == 0);
    set_file(PARAMETERS "files_per_user", "2");
    set_file(PARAMETERS "schema_pages_per_user", "1");
    step("publishing allocates memory", try_all(&publishing) > 3);
    allow_one_subscription();
    step("subscribing allocates memory", try_all(&subscribing) > 10);
    // Also with a published provider.
    step("a provider is published afterwards", publish_one() == 0);
    set_file(PARAMETERS "ring_pages_per_user", "16384");
    step("can be subscribed to", try_all(&subscribing) > 10 && word == 0);
    withdraw_one();
    step("a subscription begins", subscribe_to_all() == 0);
    step("publishing with a subscription allocates memory", try_all(&publishing) > 3);
    step("a provider is published", publish_one() == 0);
    step("and its bit is set", word == 1U << enable_bit);
    withdraw_one();
    (void)close(listener);
}

/// A file without a channel, or with a channel whose files are created later.
static int channel = -1;

static int create_channel(uint32_t flags) {
    struct eventlog_relay_options options = {sizeof options, flags, 4096, 4, "failures"};
    return ioctl(channel, EVENTLOG_RELAY_CREATE, &options) == 0 ? 0 : errno;
}

static int create_with_files(void) {
    return create_channel(0);
}

static void reopen_channel(void) {
    (void)close(channel);
    channel = open(EVENTLOG_RELAY_PATH, O_RDWR | O_CLOEXEC);
    step("the relay device can be opened", channel >= 0);
}

static void make_hidden_channel(void) {
    reopen_channel();
    step("a channel is made", create_channel(EVENTLOG_RELAY_DEFER_FILES) == 0);
}

static int show_channel(void) {
    return ioctl(channel, EVENTLOG_RELAY_CREATE_FILES) == 0 ? 0 : errno;
}

/// Where one file was created and the next one was not, the next call continues.
static void make_channels_without_memory(void) {
    static const struct attempt creating = {"create", create_with_files, reopen_channel};
    static const struct attempt showing = {"show", show_channel, make_hidden_channel};
    set_file(PARAMETERS "files_per_user", "4");
    set_file(PARAMETERS "relay_pages_per_user", "8");
    reopen_channel();
    step("creating channels allocates memory", try_all(&creating) > 10);
    make_hidden_channel();
    step("files of two processors allocate memory", try_all(&showing) > 2);
    step("the files can be shown", show_channel() == 0);
    step("once", show_channel() == EEXIST);
    (void)close(channel);
}

/// Excludes allocations below that function of the kernel.
static void spare(const char* function, const char* cause) {
    FILE* symbols = fopen("/proc/kallsyms", "r");
    char line[512];
    char name[256];
    char path[128];
    char text[32];
    unsigned long start = 0;
    unsigned long end = 0;
    for (int pass = 0; symbols != NULL && pass < 2; ++pass) {
        rewind(symbols);
        while (fgets(line, sizeof line, symbols) != NULL) {
            char* rest = NULL;
            const unsigned long address = strtoul(line, &rest, 16);
            if (sscanf(rest, " %*c %255s", name) != 1) {
                continue;
            }
            if (pass == 0 && strcmp(name, function) == 0) {
                start = address;
            } else if (pass == 1 && address > start && (end == 0 || address < end)) {
                end = address;
            }
        }
    }
    step("the kernel has the function", symbols != NULL && start != 0 && end != 0);
    (void)fclose(symbols);
    (void)snprintf(path, sizeof path, FAILURES "%s/reject-start", cause);
    (void)snprintf(text, sizeof text, "%lu", start);
    set_file(path, text);
    (void)snprintf(path, sizeof path, FAILURES "%s/reject-end", cause);
    (void)snprintf(text, sizeof text, "%lu", end);
    set_file(path, text);
}

/// Includes all other allocations, also those for which the kernel can wait. The kernel's messages
/// are off, because they look like faults.
static void prepare(void) {
    set_file(FAILURES "failslab/ignore-gfp-wait", "N");
    set_file(FAILURES "failslab/verbose", "0");
    set_file(FAILURES "fail_page_alloc/ignore-gfp-wait", "N");
    set_file(FAILURES "fail_page_alloc/ignore-gfp-highmem", "N");
    set_file(FAILURES "fail_page_alloc/min-order", "0");
    set_file(FAILURES "fail_page_alloc/verbose", "0");
    spare("trace_add_event_call", "failslab");
    spare("trace_add_event_call", "fail_page_alloc");
    counter = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
    step("a process has a counter", counter >= 0);
    set_file(PARAMETERS "files_per_user", "1");
    set_file(PARAMETERS "events_per_user", "1");
    set_file(PARAMETERS "words_per_user", "1");
    set_file(PARAMETERS "pages_per_user", "1");
}

int main(void) {
    static const struct attempt opening = {"open", open_another, close_device};
    static const struct attempt registering = {"register", register_new, forget};
    static const struct attempt writing = {"write", write_large, nothing};
    if (access(FAILURES "failslab", F_OK) != 0) {
        puts("without: fault injection");
        return 0;
    }
    prepare();
    step("opening allocates memory", try_all(&opening) > 1);
    word = 0;
    step("the device can be opened", open_another() == 0);
    step("registering allocates memory", try_all(&registering) > 5);
    step("an event is registered afterwards", register_new() == 0);
    set_file(OUR_EVENTS "failures/enable", "1");
    step("and can be enabled", word == 1U << enable_bit);
    step("a large event allocates memory", try_all(&writing) > 0);
    set_file(OUR_EVENTS "failures/enable", "0");
    forget();
    set_file(PARAMETERS "events_per_user", "1");
    publish_without_memory();
    make_channels_without_memory();
    puts("ok: all failures");
    return 0;
}
