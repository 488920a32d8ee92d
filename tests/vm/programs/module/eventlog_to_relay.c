// SPDX-License-Identifier: MIT
//
// Tests subscriptions of the kernel module that write to a relay channel, as root: valid requests,
// the place of each record, whether channel or subscription counts a loss, and the order of their
// ends.
#include <errno.h>
#include <fcntl.h>
#include <linux/eventlog_relay.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device_client.h"
#include "device_steps.h"
#include "record_stream.h"

#define FOLDER "/sys/kernel/debug/eventlog/"

enum { subbuf_size = 4096, subbuf_count = 4, room = 1 << 20 };
// Sizes of events: the large one does not fit into a sub-buffer.
enum { small_size = 8, large_size = 4048 };
/// More small events than the channel holds.
enum { many = 3000 };

static unsigned char bytes[room];
static uint32_t index_small;
static uint32_t index_large;

static int create(uint32_t flags) {
    const int file = open(EVENTLOG_RELAY_PATH, O_RDWR | O_CLOEXEC);
    struct eventlog_relay_options options = {sizeof options, flags, subbuf_size, subbuf_count,
                                             "events"};
    step("a channel can be made", file >= 0 && ioctl(file, EVENTLOG_RELAY_CREATE, &options) == 0);
    return file;
}

/// A frequent step, which is printed only if it fails.
static void must(const char* what, bool right) {
    if (!right) {
        step(what, false);
    }
}

static int open_part(const char* name, int how) {
    char path[128];
    (void)snprintf(path, sizeof path, FOLDER "events/%s", name);
    return open(path, how | O_CLOEXEC);
}

/// A number of the first line of `stats`.
static uint64_t stat_of(const char* what) {
    static char text[4096];
    const int file = open_part("stats", O_RDONLY);
    const ssize_t size = read(file, text, sizeof text - 1);
    (void)close(file);
    step("stats can be read", size > 0);
    text[size] = '\0';
    const char* at = strstr(text, what);
    return at == NULL ? UINT64_MAX : strtoull(at + strlen(what), NULL, 10);
}

static int listen_by(int channel) {
    return subscribe_or_exit(&(struct subscription_request){.to_relay = true, .relay = channel});
}

static bool write_event(uint32_t index, uint64_t value) {
    unsigned char event[4 + large_size] = {0};
    const size_t size = sizeof index + (index == index_small ? small_size : large_size);
    memcpy(event, &index, sizeof index);
    memcpy(event + sizeof index, &value, sizeof value);
    return write(device, event, size) == (ssize_t)size;
}

/// Writes `count` small events with values from `begin`.
static void write_events(uint64_t begin, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        must("an event is written", write_event(index_small, begin + i));
    }
}

struct seen {
    uint64_t records;
    uint64_t recorded;  // of headers and records, including missing ones
    uint64_t lost;
    uint64_t next;  // the last value plus 1
    uint64_t time;
    uint64_t context;    // behind the last record of the sub-buffer
    bool is_shared;      // the buffer of all CPUs: records are extended
    bool of_any_thread;  // accept records of other threads
    bool right;
};

static size_t count_header(const unsigned char* at, struct seen* seen) {
    struct eventlog_relay_header header;
    memcpy(&header, at, sizeof header);
    must("a header is of its CPU, and its reserved bytes are zero",
         header.cpu == 0 && header.reserved == 0);
    seen->context = 0;
    seen->recorded = header.records_before;
    seen->lost = header.lost_before;
    return sizeof header;
}

/// Whether this process wrote the record, and in order.
static bool is_own(const struct stream_item* item, const struct seen* seen) {
    return item->size == small_size && item->event == 1 && item->thread == (uint32_t)getpid() &&
           item_value(item) >= seen->next;
}

static size_t count_record(const unsigned char* at, size_t left, struct seen* seen) {
    struct record_stream stream = {.at = at, .left = left, .context = seen->context};
    struct stream_item item = {0};
    must("a record is whole", next_item(&stream, &item));
    seen->right = seen->right && !item.is_run && item.time >= seen->time && item.cpu == 0 &&
                  (!seen->is_shared || item.kind == EVENTLOG_KIND_EXTENDED) &&
                  (seen->of_any_thread || is_own(&item, seen));
    seen->next = item_value(&item) + 1;
    seen->time = item.time;
    seen->context = stream.context;
    seen->records += 1;
    seen->recorded += 1;
    return left - stream.left;
}

static void drain(int file, struct seen* seen) {
    seen->right = true;
    for (ssize_t got = 0; (got = read(file, bytes, sizeof bytes)) != 0;) {
        must("the channel is read", got > 0);
        for (ssize_t at = 0; at < got;) {
            uint64_t first = 0;
            memcpy(&first, bytes + at, sizeof first);
            at += (ssize_t)(first == EVENTLOG_RELAY_MAGIC
                                ? count_header(bytes + at, seen)
                                : count_record(bytes + at, (size_t)(got - at), seen));
        }
    }
}

static int refused(struct subscription_request wanted) {
    const int file = open_device();
    const int error = subscribe(file, &wanted);
    (void)close(file);
    return error;
}

static void try_requests(void) {
    const int channel = create(0);
    const int other = open(EVENTLOG_RELAY_PATH, O_RDWR | O_CLOEXEC);
    const char name[EVENTLOG_RELAY_NAME_SIZE] = "events";
    step("an older program's request", refused((struct subscription_request){.size = 80}) == 0);
    step("a smaller one", refused((struct subscription_request){.size = 72}) == EINVAL);
    step("an invalid descriptor",
         refused((struct subscription_request){.to_relay = true, .relay = -1}) == EBADF);
    step("a file of another device",
         refused((struct subscription_request){.to_relay = true, .relay = device}) == EINVAL);
    step("without a channel",
         refused((struct subscription_request){.to_relay = true, .relay = other}) == EINVAL);
    step("attached to one", ioctl(other, EVENTLOG_RELAY_ATTACH, name) == 0);
    step("a channel of another file",
         refused((struct subscription_request){.to_relay = true, .relay = other}) == EINVAL);
    step("overwrite mode, which the channel decides",
         refused((struct subscription_request){
             .to_relay = true, .relay = channel, .overwrite = true}) == EINVAL);
    step("a channel without the flag",
         refused((struct subscription_request){.relay = channel}) == EINVAL);
    step("reserved bytes", refused((struct subscription_request){.reserved = 1}) == EINVAL);
    step("a valid request",
         refused((struct subscription_request){.to_relay = true, .relay = channel}) == 0);
    (void)close(other);
    (void)close(channel);
}

static void try_private(void) {
    const int channel = create(EVENTLOG_RELAY_PRIVATE);
    const int other = open(EVENTLOG_RELAY_PATH, O_RDWR | O_CLOEXEC);
    const char name[EVENTLOG_RELAY_NAME_SIZE] = "events";
    step("another file cannot attach to a private channel",
         ioctl(other, EVENTLOG_RELAY_ATTACH, name) != 0 && errno == EPERM);
    const uint64_t record[2] = {UINT64_C(1) << EVENTLOG_EVENT_SHIFT |
                                    (uint64_t)EVENTLOG_KIND_CONTEXT << EVENTLOG_KIND_SHIFT,
                                UINT64_C(1) << EVENTLOG_THREAD_SHIFT};
    step("its creator writes", write(channel, record, sizeof record) == sizeof record);
    (void)close(other);
    (void)close(channel);
}

static void try_events(void) {
    const int channel = create(0);
    const int buffer = open_part("cpu0", O_RDONLY);
    const int reader = listen_by(channel);
    const struct eventlog_statistics begun = statistics(reader, EVENTLOG_ALL_RINGS);
    step("its rings have no memory", begun.memory < UINT64_C(1) << 19U);
    write_events(0, many);
    struct eventlog_statistics counts = statistics(reader, EVENTLOG_ALL_RINGS);
    step("the rings are empty", counts.recorded == 0 && counts.lost == 0);
    step("and cannot be read", read(reader, bytes, sizeof bytes) < 0 && errno == EAGAIN);
    struct pollfd polled = {.fd = reader, .events = POLLIN};
    step("and poll reports nothing", poll(&polled, 1, 0) == 0);
    struct seen seen = {0};
    drain(buffer, &seen);
    const uint64_t lost = stat_of("lost ");
    step("the first events are in the channel", seen.right && seen.next == seen.records);
    step("and the rest is counted as lost", lost > 0 && seen.records + lost == many);
    step("a too large event is counted, too",
         write_event(index_large, 0) && stat_of("lost ") == lost + 1);
    write_events(many, 1);
    drain(buffer, &seen);
    step("the next header has the losses", seen.right && seen.next == many + 1 &&
                                               seen.lost >= lost &&
                                               seen.records + lost == many + 1);
    step("the tables can be mapped",
         mmap(NULL, 4096, PROT_READ, MAP_SHARED, reader, 0) != MAP_FAILED);
    step("it ends", end_subscription(reader) == 0 && word == 0);
    step("read returns the end", read(reader, bytes, sizeof bytes) == 0);
    (void)close(reader);
    (void)close(buffer);
    (void)close(channel);
}

static void try_overwriting(uint32_t more, const char* name) {
    const int channel = create(EVENTLOG_RELAY_OVERWRITE | more);
    const int buffer = open_part(name, O_RDONLY);
    const int reader = listen_by(channel);
    write_events(0, many);
    (void)close(reader);
    struct seen seen = {.is_shared = (more & EVENTLOG_RELAY_GLOBAL) != 0};
    drain(buffer, &seen);
    step("the newest are in the channel", seen.right && seen.next == many && seen.records < many);
    step("the overwritten ones are counted",
         seen.recorded == many && seen.lost == 0 && stat_of("overwritten ") == many - seen.records);
    (void)close(buffer);
    (void)close(channel);
}

/// The channel ends first: the subscription counts later events as lost and reports them.
static void try_closing_the_channel(void) {
    const int channel = create(0);
    const int buffer = open_part("cpu0", O_RDONLY);
    const int reader = listen_by(channel);
    write_events(0, 3);
    (void)close(channel);
    write_events(3, 4);
    const struct eventlog_statistics counts = statistics(reader, EVENTLOG_ALL_RINGS);
    step("later events are lost", counts.recorded == 0 && counts.lost == 4);
    struct pollfd polled = {.fd = reader, .events = POLLIN};
    step("poll reports that", poll(&polled, 1, 0) == 1 && (polled.revents & POLLIN) != 0);
    struct read_totals read_totals = {0};
    read_all(reader, &read_totals);
    step("and read returns a gap",
         read_totals.lost == 4 && read_totals.records == 0 && read_totals.last_was_gap);
    struct seen seen = {0};
    drain(buffer, &seen);
    step("earlier events are in the channel", seen.right && seen.records == 3);
    (void)close(reader);
    (void)close(buffer);
}

/// Begins and ends channels and subscriptions while another process writes.
static void end_in_either_order(void) {
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        for (uint64_t i = 0; getppid() != 1; ++i) {
            (void)write_event(index_small, i);
        }
        _exit(0);
    }
    for (int round = 0; round < 50; ++round) {
        const int channel = create(round % 3 == 0 ? EVENTLOG_RELAY_GLOBAL : 0);
        const int reader = listen_by(channel);
        (void)usleep(2000);
        (void)close(round % 2 == 0 ? channel : reader);
        (void)usleep(2000);
        (void)close(round % 2 == 0 ? reader : channel);
    }
    step("either may end first", kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
}

/// Writes a batch, so that most time is spent on records.
static bool write_many(size_t count) {
    enum { batch_max = 100 };
    static struct {
        uint32_t batch, zero;
        struct {
            struct eventlog_batch_entry entry;
            uint64_t value;
        } of[batch_max];
    } all = {.batch = EVENTLOG_BATCH};
    for (size_t i = 0; i < count && i < batch_max; ++i) {
        all.of[i].entry = (struct eventlog_batch_entry){index_small, small_size};
    }
    const size_t size = 2 * sizeof(uint32_t) + count * sizeof all.of[0];
    return count <= batch_max && write(device, &all, size) == (ssize_t)size;
}

/// Writes while interrupts write: a record of an interrupt has a later time, and its own place.
static void try_times(void) {
    enum { rounds = 5000, each = 100 };
    const int channel = create(0);
    const int buffer = open_part("cpu0", O_RDONLY);
    const int reader = listen_by(channel);
    struct subscription_request of_kernel = {
        .provider = "kernel", .to_relay = true, .relay = channel};
    const int interrupts = subscribe_or_exit(&of_kernel);
    struct seen seen = {.of_any_thread = true};
    bool rise = true;
    bool written = true;
    for (int round = 0; round < rounds; ++round) {
        written = write_many(each) && written;
        drain(buffer, &seen);
        rise = rise && seen.right;
    }
    step("all are written", written);
    step("times rise in a buffer", rise);
    step("the kernel's events are among them",
         seen.records + stat_of("lost ") > UINT64_C(1) * rounds * each);
    (void)close(interrupts);
    (void)close(reader);
    (void)close(buffer);
    (void)close(channel);
}

#define NESTED "/sys/module/eventlog_nested/parameters/"

static uint64_t module_parameter(const char* name) {
    char path[128];
    char value[32] = "";
    (void)snprintf(path, sizeof path, NESTED "%s", name);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    step("the module's parameter can be read",
         file >= 0 && read(file, value, sizeof value - 1) > 0);
    (void)close(file);
    return strtoull(value, NULL, 10);
}

/// A process that waits for each sub-buffer, so that relay wakes it.
static pid_t wait_for_each(int buffer) {
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        struct pollfd one = {.fd = buffer, .events = POLLIN};
        while (getppid() != 1 && poll(&one, 1, 1000) >= 0) {
            (void)usleep(100);
        }
        _exit(0);
    }
    step("fork", child > 0);
    return child;
}

/// Writes ten records as the channel's creator.
static void write_records(int channel) {
    static struct {
        uint64_t words[3];
        uint64_t value;
    } batch[10];
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t time = (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
    for (size_t i = 0; i < 10; ++i) {
        batch[i].words[0] = UINT64_C(1) << EVENTLOG_EVENT_SHIFT |
                            (uint64_t)EVENTLOG_KIND_EXTENDED << EVENTLOG_KIND_SHIFT |
                            (uint32_t)time;
        batch[i].words[1] = UINT64_C(1) << EVENTLOG_THREAD_SHIFT | time >> 32U;
        batch[i].words[2] = sizeof batch[i].value;
    }
    must("a batch is written", write(channel, batch, sizeof batch) == sizeof batch);
}

/// Events caused by writing, flushing and polling within relay: each is recorded or counted.
static void write_within_relay(uint32_t flags, const char* name) {
    enum { rounds = 1000 };
    const int channel = create(flags);
    const int buffer = open_part(name, O_RDONLY);
    const int control = open_part("control", O_WRONLY);
    struct subscription_request wanted = {.provider = "nested", .to_relay = true, .relay = channel};
    const int reader = subscribe_or_exit(&wanted);
    const pid_t waiter = wait_for_each(buffer);
    const uint64_t before = module_parameter("tried");
    const uint64_t nested = module_parameter("nested");
    struct seen seen = {.of_any_thread = true, .is_shared = (flags & EVENTLOG_RELAY_GLOBAL) != 0};
    set_file(NESTED "on", "1");
    for (int round = 0; round < rounds; ++round) {
        write_records(channel);
        must("flushed", round % 7 != 0 || write(control, "flush", 5) == 5);
        if (round % 3 == 0) {
            drain(buffer, &seen);
        }
    }
    set_file(NESTED "on", "0");
    const uint64_t tried = module_parameter("tried") - before;
    step("relay has caused some", module_parameter("nested") > nested);
    step("its waiter ends", kill(waiter, SIGKILL) == 0 && waitpid(waiter, NULL, 0) == waiter);
    drain(buffer, &seen);
    const struct eventlog_statistics counts = statistics(reader, EVENTLOG_ALL_RINGS);
    printf("tried %ju read %ju lost %ju\n", (uintmax_t)(tried + UINT64_C(10) * rounds),
           (uintmax_t)seen.records, (uintmax_t)(stat_of("lost ") + counts.lost));
    step("all are recorded or counted",
         seen.records + stat_of("lost ") + counts.lost == tried + UINT64_C(10) * rounds);
    (void)close(reader);
    (void)close(control);
    (void)close(buffer);
    (void)close(channel);
}

int main(int count, char** arguments) {
    device = open_device();
    step("the program runs on one processor", run_on(0));
    step("two events are registered",
         register_at("relay_small u64 a", &word, enable_bit, &index_small) == 0 &&
             register_at("relay_large u64 a; struct block b 4040", &word, 29, &index_large) == 0);
    const struct eventlog_published_event offers[] = {
        {.write_index = index_small, .event = 0, .level = 3, .name = "small"},
        {.write_index = index_large, .event = 1, .level = 3, .name = "large"},
    };
    uint32_t number = 0;
    step("and published", publish(device, "relayed", offers, 2, &number) == 0);
    if (count > 1 && strcmp(arguments[1], "times") == 0) {
        try_times();
        return 0;
    }
    if (count > 1 && strcmp(arguments[1], "nested") == 0) {
        step("the only processor", sysconf(_SC_NPROCESSORS_ONLN) == 1);
        write_within_relay(0, "cpu0");
        write_within_relay(EVENTLOG_RELAY_GLOBAL, "all");
        step("no record is within another one", true);
        return 0;
    }
    try_requests();
    try_private();
    try_events();
    try_overwriting(0, "cpu0");
    try_overwriting(EVENTLOG_RELAY_GLOBAL, "all");
    try_closing_the_channel();
    end_in_either_order();
    step("all channel steps", true);
    return 0;
}
