// SPDX-License-Identifier: MIT
//
// Calls /dev/eventlog of the kernel module at random from several processes and threads, as root,
// for the number of seconds in the first argument.
//
// - The test passes if the kernel reports no fault and if each allowed kind of call succeeded at
//   least once. The program runs for up to one more minute to reach that.
// - All processes share one file; the threads of a process share its other files and its memory.
// - One process traces the events. Another one turns a second processor off and on, and tries to
//   unload the module, which the kernel must reject because its device is open.
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/eventlog_device.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device_client.h"
#include "steps.h"
#include "user_events_abi.h"

#define SECOND_PROCESSOR "/sys/devices/system/cpu/cpu1/online"

enum { files = 4, pages = 4, page_size = 4096, names = 12, processes = 4, threads = 2 };
enum { extra_seconds = 60, disturber_pause = 20000 };
enum {
    registering,
    unregistering,
    deleting,
    writing,
    tracing,
    publishing,
    withdrawing,
    subscribing,
    reading,
    mapping,
    asking,
    ending,
    switching,
    unloading,
    kinds
};

static const char* const name_of_kind[kinds] = {"registered",
                                                "unregistered",
                                                "deleted",
                                                "written",
                                                "traced",
                                                "published",
                                                "withdrawn",
                                                "subscribed",
                                                "read",
                                                "mapped",
                                                "asked",
                                                "ended",
                                                "processors turned off and on",
                                                "not unloaded"};

/// Counts the calls of all processes, in shared memory.
struct counters {
    atomic_ulong calls[kinds];
    atomic_ulong succeeded[kinds];
};

static struct counters* counted;
static _Thread_local uint32_t state;
static int opened[files];
static char* memory;
static struct timespec end;
static bool has_processors = false;
static bool has_module = false;
/// Whether users other than root may delete events.
static bool may_delete = true;

static uint32_t next(uint32_t below) {
    state ^= state << 13U;
    state ^= state >> 17U;
    state ^= state << 5U;
    return state % below;
}

/// Writes a description of an event. Most are valid.
static void describe(char* text, size_t size) {
    static const char* const fields[] = {
        "",
        " u32 a",
        " u64 a; __rel_loc char[] b",
        " __rel_loc char[] a; __rel_loc u8[] b; __data_loc char[] c",
        " char[16] a; struct f64 b 8",
        " s8 a; struct u16x7 b 14; __rel_loc u64[] c",
    };
    (void)snprintf(text, size, "fuzz_%u%s", next(names), fields[next(6)]);
    if (next(8) == 0) {
        text[next((uint32_t)strlen(text))] = (char)next(256);
    }
}

/// An address for a word. Few values, so that calls often meet a registered word.
static uintptr_t address(void) {
    if (next(16) == 0) {
        return next(UINT32_MAX);
    }
    const uintptr_t word = next(8) == 0 ? next(page_size / 8) : next(2);
    return (uintptr_t)memory + next(pages) * (uintptr_t)page_size + word * 8;
}

static uint8_t bit(void) {
    return (uint8_t)(next(8) == 0 ? next(33) : next(4));
}

static void count(int kind, long result) {
    atomic_fetch_add(&counted->calls[kind], 1);
    atomic_fetch_add(&counted->succeeded[kind], result >= 0);
}

static void register_event(int file) {
    char text[128];
    describe(text, sizeof text);
    struct user_events_registration wanted = {
        .size = sizeof wanted,
        .bit = bit(),
        .word_size = next(8) == 0 ? (uint8_t)next(16) : 4,
        .flags = (uint16_t)(next(3) == 0 ? next(8) : 2),
        .word_address = address(),
        .description = (uintptr_t)text,
    };
    count(registering, ioctl(file, USER_EVENTS_REGISTER, &wanted));
}

static void unregister_word(int file) {
    const struct user_events_unregistration wanted = {
        .size = sizeof wanted, .bit = bit(), .word_address = address()};
    count(unregistering, ioctl(file, USER_EVENTS_UNREGISTER, &wanted));
}

static void delete_event(int file) {
    char name[32];
    (void)snprintf(name, sizeof name, "fuzz_%u", next(names));
    count(deleting, ioctl(file, USER_EVENTS_DELETE, name));
}

/// Deletes an event whose name other threads are unlikely to use.
static void delete_fresh_event(int file) {
    volatile uint32_t word = 0;
    char text[32];
    const uint32_t number = names + next(1000000);
    (void)snprintf(text, sizeof text, "fuzz_%u u32 a", number);
    struct user_events_registration wanted = {
        .size = sizeof wanted,
        .word_size = sizeof word,
        .word_address = (uintptr_t)&word,
        .description = (uintptr_t)text,
    };
    const int own = open("/dev/eventlog", O_RDWR | O_CLOEXEC);
    count(registering, ioctl(own, USER_EVENTS_REGISTER, &wanted));
    (void)close(own);
    (void)snprintf(text, sizeof text, "fuzz_%u", number);
    count(deleting, ioctl(file, USER_EVENTS_DELETE, text));
}

/// Subscribes, publishes an event and writes it, with valid arguments. Few random calls are valid,
/// so that on a slow machine no read might succeed without this.
static void subscribe_and_write(void) {
    volatile uint32_t word = 0;
    char text[32];
    (void)snprintf(text, sizeof text, "fuzz_valid_%u u32 a", next(names));
    struct user_events_registration wanted = {
        .size = sizeof wanted,
        .word_size = sizeof word,
        .word_address = (uintptr_t)&word,
        .description = (uintptr_t)text,
    };
    const int writer = open("/dev/eventlog", O_RDWR | O_CLOEXEC);
    const int reader = open("/dev/eventlog", O_RDWR | O_CLOEXEC | O_NONBLOCK);
    count(registering, ioctl(writer, USER_EVENTS_REGISTER, &wanted));
    count(subscribing, -subscribe(reader, &(struct subscription_request){.level = 5}));
    const struct eventlog_published_event offer = {
        .write_index = wanted.write_index, .level = 1, .name = "valid"};
    uint32_t number = 0;
    count(publishing, -publish(writer, "fuzz_valid", &offer, 1, &number));
    const uint32_t event[] = {wanted.write_index, next(UINT32_MAX)};
    count(writing, write(writer, event, sizeof event));
    char bytes[page_size];
    count(reading, read(reader, bytes, sizeof bytes));
    void* const header = mmap(NULL, page_size, PROT_READ, MAP_SHARED, reader, 0);
    count(mapping, header == MAP_FAILED ? -1 : 0);
    if (header != MAP_FAILED) {
        (void)munmap(header, page_size);
    }
    count(ending, -end_subscription(reader));
    count(withdrawing, -unpublish(writer, number));
    (void)close(reader);
    (void)close(writer);
}

/// Writes a name. Most are valid.
static void name_at_random(char* name) {
    (void)snprintf(name, EVENTLOG_IDENTIFIER_SIZE, "fuzz_%u", next(names));
    if (next(16) == 0) {
        memset(name, 'x', EVENTLOG_IDENTIFIER_SIZE);
    }
}

static void publish_at_random(int file) {
    struct eventlog_published_event offers[4];
    memset(offers, 0, sizeof offers);
    const uint32_t first = next(8);
    for (uint32_t i = 0; i < 4; ++i) {
        offers[i] = (struct eventlog_published_event){
            .keywords = next(4),
            .write_index = next(8) == 0 ? next(UINT32_MAX) : first + i,
            .event = (uint16_t)next(UINT16_MAX),
            .level = (uint8_t)(1 + next(next(8) == 0 ? 255 : 5)),
            .flags = (uint8_t)next(next(8) == 0 ? 256 : 4),
        };
        name_at_random(offers[i].name);
    }
    struct eventlog_publication wanted = {
        .size = sizeof wanted,
        .event_count = next(8) == 0 ? next(UINT32_MAX) : 1 + next(4),
        .events = next(16) == 0 ? address() : (uintptr_t)offers,
        .schema = next(16) == 0 ? address() : (uintptr_t)offers,
        .schema_size = next(8) == 0 ? next(UINT32_MAX) : 1 + next(sizeof offers),
        .schema_hash = next(4),
    };
    name_at_random(wanted.name);
    count(publishing, ioctl(file, EVENTLOG_PUBLISH, &wanted));
}

static void withdraw_at_random(int file) {
    struct eventlog_provider_query query = {.size = sizeof query,
                                            .provider = next(2) == 0 ? 0 : next(1000),
                                            .schema = address(),
                                            .schema_size =
                                                next(3) == 0 ? next(UINT32_MAX) : next(page_size)};
    count(asking, ioctl(file, EVENTLOG_NEXT_PROVIDER, &query));
    count(withdrawing, ioctl(file, EVENTLOG_UNPUBLISH, &query.provider));
}

static void subscribe_at_random(int file) {
    struct eventlog_filter_rule rules[2] = {{.provider = "*", .event = "*"}};
    name_at_random(rules[1].provider);
    rules[1].event[0] = '*';
    rules[0].level = next(6);
    rules[0].keywords = next(4);
    rules[0].flags = next(3);
    uint64_t sessions[4] = {next(4), next(UINT32_MAX), 0, 1};
    struct eventlog_process_filter of[2] = {{.pid = next(4)}, {.name = "*"}};
    struct eventlog_subscription_request wanted = {
        .size = sizeof wanted,
        .features = next(next(8) == 0 ? 8 : 2),
        .clock = next(8) == 0 ? next(4) : 1 + next(2),
        .buffer_count = next(8) == 0 ? next(128) : 2U << next(2),
        .buffer_size = next(8) == 0 ? next(UINT32_MAX) : EVENTLOG_BUFFER_SIZE_MIN,
        .rule_count = next(8) == 0 ? next(UINT32_MAX) : 1 + next(2),
        .rules = next(16) == 0 ? address() : (uintptr_t)rules,
        .session_count = next(16) == 0 ? next(UINT32_MAX) : next(5),
        .process_count = next(16) == 0 ? next(UINT32_MAX) : next(2) * 2,
        .sessions = (uintptr_t)sessions,
        .processes = (uintptr_t)of,
        .schemas_size = next(8) == 0 ? next(UINT32_MAX) : 0x10000,
        .flags = next(8) == 0 ? next(16) : next(2),
        .read_timeout = 1 + next(20),
        .relay = next(16) == 0 ? (int)next(64) : 0,
    };
    count(subscribing, ioctl(file, EVENTLOG_SUBSCRIBE, &wanted));
}

static void read_records(int file) {
    static _Thread_local char bytes[page_size];
    (void)poll(&(struct pollfd){.fd = file, .events = POLLIN}, 1, 0);
    count(reading, read(file, next(16) == 0 ? (char*)address() : bytes, next(sizeof bytes)));
}

static void release_at_random(int file) {
    struct eventlog_statistics counts = {.size = sizeof counts,
                                         .ring = next(2) == 0 ? EVENTLOG_ALL_RINGS : next(5)};
    count(asking, ioctl(file, EVENTLOG_STATISTICS, &counts));
    const struct eventlog_buffer_release given = {
        .size = sizeof given,
        .ring = next(8) == 0 ? next(UINT32_MAX) : next(3),
        .drained = next(8) == 0 ? next(UINT32_MAX) : next(4),
        .seen = next(4),
    };
    count(asking, ioctl(file, EVENTLOG_RELEASE_BUFFERS, &given));
    if (next(8) == 0) {
        count(ending, ioctl(file, EVENTLOG_STOP));
    }
}

/// Maps a part of the region, and reads its header if the mapping allows it.
static void map_region(int file) {
    const int access = next(8) == 0 ? (int)next(8) : PROT_READ;
    const size_t size = (size_t)(1 + next(1024)) * page_size;
    const off_t from = next(2) == 0 ? 0 : (off_t)next(2048) * page_size;
    volatile uint64_t* const region = mmap(NULL, size, access, MAP_SHARED, file, from);
    count(mapping, region == MAP_FAILED ? -1 : 0);
    if (region == MAP_FAILED) {
        return;
    }
    if (from == 0 && access == PROT_READ) {
        (void)*region;
    }
    (void)mprotect((void*)region, size, (int)next(8));
    (void)munmap((void*)region, size);
}

static void listen_at_random(int file) {
    switch (next(9)) {
        case 0:
            publish_at_random(file);
            break;
        case 1:
            withdraw_at_random(file);
            break;
        case 2:
            subscribe_at_random(file);
            break;
        case 3:
            release_at_random(file);
            break;
        case 4:
            map_region(file);
            break;
        case 5:
            subscribe_and_write();
            break;
        default:
            read_records(file);
    }
}

static void write_many(int file) {
    uint32_t events[64];
    for (size_t i = 0; i < sizeof events / sizeof *events; ++i) {
        events[i] = next(64) == 0 ? next(UINT32_MAX) : i % 4 == 3 ? 8 : next(8);
    }
    events[0] = EVENTLOG_BATCH;
    events[1] = next(16) == 0 ? next(UINT32_MAX) : next(2) * EVENTLOG_BATCH_TIMED;
    count(writing, write(file, events, next(sizeof events)));
}

static void write_event(int file) {
    uint32_t event[64];
    for (size_t i = 0; i < sizeof event / sizeof *event; ++i) {
        event[i] = next(4) == 0 ? next(UINT32_MAX) : next(32) << 16U | next(128);
    }
    event[0] = next(16);
    if (next(2) == 0) {
        memset(event + 32, 0, sizeof event / 2);
    }
    count(writing, write(file, event, next(sizeof event)));
}

static void move_memory(void) {
    char* const page = memory + (size_t)next(pages) * page_size;
    // Replaces the page in one step: a hole could receive a mapping of another thread.
    const int access = next(4) == 0 ? PROT_NONE : PROT_READ | PROT_WRITE;
    const int shared = next(2) == 0 ? MAP_SHARED : MAP_PRIVATE;
    (void)mmap(page, page_size, access, shared | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/// Replaces the file of a descriptor, which other threads may be using.
static void reopen(int file) {
    const int fresh = open("/dev/eventlog", O_RDWR | O_CLOEXEC);
    (void)dup3(fresh, file, O_CLOEXEC);
    (void)close(fresh);
}

static void call_at_random(unsigned depth);

/// Forks a child that ends, or is killed, during its calls while the parent continues.
static void have_child(unsigned depth) {
    static _Thread_local pid_t last;
    if (last > 0) {
        (void)waitpid(last, NULL, 0);
    }
    const pid_t child = fork();
    if (child == 0) {
        state ^= 0x9e3779b9U;
        for (unsigned i = 0; i < 20; ++i) {
            call_at_random(depth + 1);
        }
        _exit(0);
    }
    if (child > 0 && next(2) == 0) {
        (void)kill(child, SIGKILL);
    }
    last = child;
}

static void call_at_random(unsigned depth) {
    const int file = opened[next(files)];
    switch (next(40)) {
        case 0:
            reopen(opened[1 + next(files - 1)]);
            break;
        case 1:
            move_memory();
            break;
        case 2:
            if (next(2) == 0) {
                delete_event(file);
            } else if (may_delete) {
                delete_fresh_event(file);
            }
            break;
        case 3:
            (void)ioctl(file, USER_EVENTS_REGISTER + next(4), address());
            break;
        case 4:
            if (depth == 0) {
                have_child(depth);
            }
            break;
        case 5:
        case 6:
        case 7:
        case 8:
            register_event(file);
            break;
        case 9:
        case 10:
        case 11:
            unregister_word(file);
            break;
        case 12:
        case 13:
        case 14:
        case 15:
        case 16:
        case 17:
        case 18:
        case 19:
            listen_at_random(file);
            break;
        case 20:
            write_many(file);
            break;
        default:
            write_event(file);
    }
}

static void write_quietly(const char* path, const char* text) {
    const int file = open(path, O_WRONLY);
    if (file >= 0) {
        count(tracing, write(file, text, strlen(text)));
        (void)close(file);
    }
}

static void read_quietly(const char* path) {
    char text[4096];
    const int file = open(path, O_RDONLY | O_NONBLOCK);
    if (file >= 0) {
        (void)!read(file, text, sizeof text);
        (void)!read(file, text, sizeof text);
        (void)close(file);
    }
}

/// Enables, filters and reads events through tracefs.
static void trace_at_random(void) {
    char path[128];
    (void)snprintf(path, sizeof path, TRACING "events/eventlog/fuzz_%u/%s", next(names),
                   (const char*[]){"enable", "trigger", "filter", "format"}[next(4)]);
    switch (next(6)) {
        case 0:
            write_quietly(TRACING "events/eventlog/enable", next(2) == 0 ? "0" : "1");
            break;
        case 1:
            write_quietly(path, next(2) == 0 ? "hist:keys=a" : "!hist:keys=a");
            break;
        case 2:
            write_quietly(path, next(2) == 0 ? "a == 1" : "0");
            break;
        case 3:
            write_quietly(path, next(2) == 0 ? "b ~ \"*x*\"" : "1");
            break;
        case 4:
            read_quietly(path);
            break;
        default:
            read_quietly(TRACING "trace");
    }
}

static bool is_allowed(int kind) {
    switch (kind) {
        case deleting:
            return may_delete;
        case switching:
            return has_processors;
        case unloading:
            return has_module;
        default:
            return true;
    }
}

static bool has_each_kind_succeeded(void) {
    for (int kind = 0; kind < kinds; ++kind) {
        if (atomic_load(&counted->succeeded[kind]) == 0 && is_allowed(kind)) {
            return false;
        }
    }
    return true;
}

static bool is_over(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec >= end.tv_sec &&
           (has_each_kind_succeeded() || now.tv_sec >= end.tv_sec + extra_seconds);
}

static void* run_thread(void* seed) {
    state = (uint32_t)(uintptr_t)seed * 2654435761U + 1;
    while (!is_over()) {
        call_at_random(0);
    }
    return NULL;
}

/// Leaves the process with the rights of a member of the group that may open the device.
static void drop_capabilities(void) {
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct none[2] = {{0}};
    step("all capabilities are dropped", syscall(SYS_capset, &head, none) == 0);
}

static bool can_other_user_delete(void) {
    char answer = 'Y';
    const int file = open("/sys/module/eventlog/parameters/remove_idle", O_RDONLY);
    step("the parameter remove_idle can be read", read(file, &answer, 1) == 1);
    (void)close(file);
    return answer == 'Y';
}

static void run_caller(uintptr_t process) {
    drop_capabilities();
    // One page more, because reads at the last address may write beyond `pages`.
    memory = mmap(NULL, (size_t)(pages + 1) * page_size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 1; i < files; ++i) {
        opened[i] = open("/dev/eventlog", O_RDWR | O_CLOEXEC);
    }
    pthread_t started[threads];
    for (uintptr_t i = 0; i < threads; ++i) {
        (void)pthread_create(&started[i], NULL, run_thread, (void*)(process * threads + i));
    }
    for (int i = 0; i < threads; ++i) {
        (void)pthread_join(started[i], NULL);
    }
}

static void run_tracer(void) {
    state = 1;
    while (!is_over()) {
        trace_at_random();
    }
}

static bool switch_processor(const char* wanted) {
    const int file = open(SECOND_PROCESSOR, O_WRONLY | O_CLOEXEC);
    const bool done = file >= 0 && write(file, wanted, 1) == 1;
    (void)close(file);
    return done;
}

/// Turns a processor off and on, and tries to unload the module.
static void run_disturber(void) {
    while (!is_over()) {
        if (has_processors) {
            count(switching, switch_processor("0") && switch_processor("1") ? 0 : -1);
        }
        if (has_module) {
            const long unloaded = syscall(SYS_delete_module, "eventlog", O_NONBLOCK);
            count(unloading, unloaded == 0 ? -1 : 0);
            if (unloaded == 0) {
                (void)fputs("WRONG: the module has been unloaded while it was in use\n", stderr);
                _exit(1);
            }
        }
        (void)usleep(disturber_pause);
    }
    // The programs that run after this one need both processors.
    (void)switch_processor("1");
}

/// Ends all tracing. The kernel keeps events that are traced.
static void stop_tracing(void) {
    write_quietly(TRACING "events/eventlog/enable", "0");
    for (int i = 0; i < names; ++i) {
        char path[128];
        (void)snprintf(path, sizeof path, TRACING "events/eventlog/fuzz_%d/trigger", i);
        write_quietly(path, "!hist:keys=a");
    }
}

int main(int argc, char** argv) {
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += argc > 1 ? strtol(argv[1], NULL, 10) : 1;
    // Otherwise the kernel patches its code when an event is enabled, which can crash emulated
    // machines with several processors.
    set_file(TRACING "options/record-cmd", "0");
    may_delete = can_other_user_delete();
    has_processors = access(SECOND_PROCESSOR, W_OK) == 0;
    has_module = access("/sys/module/eventlog/refcnt", F_OK) == 0;
    counted =
        mmap(NULL, sizeof *counted, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    opened[0] = open("/dev/eventlog", O_RDWR | O_CLOEXEC);
    (void)fflush(stdout);
    for (uintptr_t process = 0; process < processes; ++process) {
        if (fork() == 0) {
            if (process == 0) {
                run_tracer();
            } else if (process == 1) {
                run_disturber();
            } else {
                run_caller(process);
            }
            _exit(0);
        }
    }
    int status = 0;
    int worst = 0;
    while (wait(&status) > 0) {
        worst |= status;
    }
    stop_tracing();
    for (int kind = 0; kind < kinds; ++kind) {
        printf("%s: %lu of %lu\n", name_of_kind[kind], atomic_load(&counted->succeeded[kind]),
               atomic_load(&counted->calls[kind]));
    }
    return worst == 0 && has_each_kind_succeeded() ? 0 : 1;
}
