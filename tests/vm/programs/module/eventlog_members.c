// SPDX-License-Identifier: MIT
//
// eventlog_members [numbers]
//
// What members of the device's group are to each other and to root, who runs this: programs with
// more rights than their user's are not heard by him, and of the tables of who listens nobody gets
// all.
//
// What the C library asks for.
#include <errno.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device_client.h"
#include "device_steps.h"

enum { ordinary = 1002, other = 1003 };
enum { schema_size = 8000, schemas_room = 1 << 16 };
enum { events_of_file = 1024, files = 9 };

static uint32_t index_own;
static uint64_t words[events_of_file];

static pid_t begin(void) {
    (void)fflush(stdout);
    const pid_t child = fork();
    step("a process more", child >= 0);
    return child;
}

static void must_end(pid_t child) {
    int status = -1;
    step("it ends well", waitpid(child, &status, 0) == child && status == 0);
}

/// As if it had begun so: without having been root.
static bool become(uid_t user, uid_t effective, uid_t saved) {
    return setresgid(user, user, user) == 0 && setresuid(user, effective, saved) == 0 &&
           prctl(PR_SET_DUMPABLE, 1) == 0;
}

static bool have_capabilities(uint32_t which) {
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2] = {{.permitted = which}};
    return syscall(SYS_capset, &head, sets) == 0;
}

static bool be_ordinary(void) {
    return become(ordinary, ordinary, ordinary);
}

static bool be_setuid(void) {
    return become(ordinary, ordinary, other);
}

static bool of_groups(gid_t real, gid_t effective, gid_t saved) {
    return setresgid(real, effective, saved) == 0 && setresuid(ordinary, ordinary, ordinary) == 0 &&
           prctl(PR_SET_DUMPABLE, 1) == 0;
}

static bool be_setgid(void) {
    return of_groups(ordinary, other, other);
}

static bool have_been_setgid(void) {
    return of_groups(ordinary, ordinary, other);
}

static bool have_been_root(void) {
    return be_ordinary() && prctl(PR_SET_DUMPABLE, 0) == 0;
}

static bool be_capable(void) {
    return prctl(PR_SET_KEEPCAPS, 1) == 0 && be_ordinary() && have_capabilities(1U << CAP_NET_RAW);
}

static bool be_root(void) {
    return true;
}

static bool be_root_without_rights(void) {
    return have_capabilities(0);
}

/// With all rights, but only there.
static bool be_in_namespace(void) {
    return be_ordinary() && unshare(CLONE_NEWUSER) == 0;
}

/// Who publishes, and who listens: what these take up after having been root.
struct pair {
    const char* name;
    bool (*publisher)(void);
    bool (*listener)(void);
    bool is_heard;
};

static pid_t listen_as(bool (*take)(void), int told) {
    const pid_t child = begin();
    if (child == 0) {
        bool listens = take();
        const int reader = open_device();
        listens = listens && subscribe(reader, &(struct subscription_request){0}) == 0;
        _exit(write(told, &listens, sizeof listens) < 0 || pause() == 0);
    }
    return child;
}

static void publish_as(bool (*take)(void)) {
    step("rights are taken up", take());
    reopen_device();
    step("its event is registered",
         register_at("members_own u64 a", &word, enable_bit, &index_own) == 0);
    const struct eventlog_published_event offer = {
        .write_index = index_own, .level = 3, .name = "own"};
    uint32_t number = 0;
    step("and published", publish(device, "members", &offer, 1, &number) == 0);
}

/// Who publishes looks at its word when the other one has come.
static void try_pair(const struct pair* pair) {
    int go[2];
    int told[2];
    bool listens = false;
    step("pipes", pipe(go) == 0 && pipe(told) == 0);
    const pid_t publisher = begin();
    if (publisher == 0) {
        publish_as(pair->publisher);
        step("it says so", write(told[1], &listens, sizeof listens) == 1);
        step("it is to look", read(go[0], &listens, sizeof listens) == 1);
        step(pair->name, (word >> enable_bit & 1U) == (pair->is_heard ? 1U : 0U));
        _exit(0);
    }
    step("one has published", read(told[0], &listens, sizeof listens) == 1);
    const pid_t listener = listen_as(pair->listener, told[1]);
    step("one listens", read(told[0], &listens, sizeof listens) == 1 && listens);
    step("they meet", write(go[1], &listens, sizeof listens) == 1);
    must_end(publisher);
    step("no more", kill(listener, SIGKILL) == 0 && waitpid(listener, NULL, 0) == listener);
    (void)close(go[0]);
    (void)close(go[1]);
    (void)close(told[0]);
    (void)close(told[1]);
}

static void record_only_same_user(void) {
    static const struct pair pairs[] = {
        {"users hear their programs", be_ordinary, be_ordinary, true},
        {"not what may become another user", be_setuid, be_ordinary, false},
        {"not what is of another group", be_setgid, be_ordinary, false},
        {"not what may become of another group", have_been_setgid, be_ordinary, false},
        {"not what may have been more", have_been_root, be_ordinary, false},
        {"not what has a capability", be_capable, be_ordinary, false},
        {"unless they have it, too", be_capable, be_capable, true},
        {"not from a namespace what is outside", be_ordinary, be_in_namespace, false},
        {"nor what is in another one", be_in_namespace, be_in_namespace, false},
        {"but from outside what is in their own", be_in_namespace, be_ordinary, true},
        {"root hears all", be_setgid, be_root, true},
        {"who is called root does not", be_root, be_root_without_rights, false},
        {"but those like itself", be_root_without_rights, be_root_without_rights, true},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; ++i) {
        try_pair(&pairs[i]);
    }
}

/// 0 or an errno.
static int publish_one(uint32_t index, const char* schema, uint64_t hash) {
    const struct eventlog_published_event offer = {.write_index = index, .level = 3, .name = "one"};
    struct eventlog_publication subscription_request = {
        .size = sizeof subscription_request,
        .event_count = 1,
        .events = (uintptr_t)&offer,
        .schema = (uintptr_t)schema,
        .schema_size = schema_size,
        .schema_hash = hash,
    };
    (void)snprintf(subscription_request.name, sizeof subscription_request.name, "member_%d_%d",
                   getpid(), (int)index);
    return ioctl(device, EVENTLOG_PUBLISH, &subscription_request) == 0 ? 0 : errno;
}

static void register_many(uint32_t count) {
    char text[64];
    for (uint32_t i = 0; i < count; ++i) {
        uint32_t index = 0;
        (void)snprintf(text, sizeof text, "members_%u u64 a", i);
        if (register_at(text, words + i, enable_bit, &index) != 0 || index != i) {
            step("many events are registered", false);
        }
    }
}

/// Eight that differ.
static void publish_eight(void) {
    static char schema[schema_size];
    reopen_device();
    register_many(8);
    for (uint32_t i = 0; i < 8; ++i) {
        (void)snprintf(schema, sizeof schema, "%d %u", getpid(), i);
        step("one is published", publish_one(i, schema, i) == 0);
    }
}

static void publish_eight_as(uid_t user) {
    const pid_t child = begin();
    if (child == 0) {
        step("an ordinary user", become(user, user, user));
        publish_eight();
        _exit(0);
    }
    must_end(child);
}

static const struct eventlog_region* map_head(int reader) {
    const void* memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, reader, 0);
    step("it can be mapped", memory != MAP_FAILED);
    return memory;
}

/// All that have been published so far; in the room for eight.
static void share_room_for_schemas(void) {
    struct subscription_request subscription_request = {.schemas_size = schemas_room};
    const int reader = subscribe_or_exit(&subscription_request);
    const struct eventlog_region* region = map_head(reader);
    publish_eight_as(ordinary);
    step("a user gets half of it", region->provider_count == 4);
    publish_eight_as(ordinary);
    step("also with another program", region->provider_count == 4);
    publish_eight_as(other);
    step("another one half of what is left", region->provider_count == 6);
    publish_eight();
    step("root all of the rest", region->provider_count == 8);
    step("who is refused is counted",
         statistics(reader, EVENTLOG_ALL_RINGS).providers_refused == 4 + 8 + 6 + 6);
    (void)munmap((void*)region, 4096);
    (void)close(reader);
    reopen_device();
}

/// Who listens to himself may fill his tables.
static void fill_own_quota(void) {
    const pid_t child = begin();
    if (child == 0) {
        step("an ordinary user", become(ordinary, ordinary, ordinary));
        const int reader =
            subscribe_or_exit(&(struct subscription_request){.schemas_size = schemas_room});
        publish_eight();
        step("all of one's own are heard",
             statistics(reader, EVENTLOG_ALL_RINGS).providers_refused == 0);
        _exit(0);
    }
    must_end(child);
}

/// As many providers as a user can have one after another.
static void publish_very_many(void) {
    static const char schema[schema_size] = "of all of them";
    for (uint64_t file = 0; file < files; ++file) {
        reopen_device();
        register_many(events_of_file);
        for (uint32_t i = 0; i < events_of_file; ++i) {
            if (publish_one(i, schema, file * events_of_file + i) != 0) {
                step("very many are published", false);
            }
        }
    }
}

static void share_numbers(void) {
    const int reader = subscribe_or_exit(&(struct subscription_request){0});
    const struct eventlog_region* region = map_head(reader);
    const pid_t child = begin();
    if (child == 0) {
        step("an ordinary user", become(ordinary, ordinary, ordinary));
        publish_very_many();
        _exit(0);
    }
    must_end(child);
    step("a user gets half of all numbers", region->provider_count == EVENTLOG_PROVIDERS_MAX / 2);
    step("who is refused is counted",
         statistics(reader, EVENTLOG_ALL_RINGS).providers_refused ==
             (uint64_t)files * events_of_file - EVENTLOG_PROVIDERS_MAX / 2);
    publish_eight();
    step("others have theirs", region->provider_count == EVENTLOG_PROVIDERS_MAX / 2 + 8);
    (void)munmap((void*)region, 4096);
    (void)close(reader);
}

int main(int count, char** arguments) {
    device = open_device();
    step("the device is there", device >= 0);
    step("it is permitted to all", chmod("/dev/eventlog", 0666) == 0);
    record_only_same_user();
    share_room_for_schemas();
    fill_own_quota();
    // Thousands of registrations, which debugging makes slow.
    if (count > 1 && strcmp(arguments[1], "numbers") == 0) {
        share_numbers();
    }
    step("as it was", chmod("/dev/eventlog", 0660) == 0);
    (void)close(device);
    puts("ok: all members");
    return 0;
}
