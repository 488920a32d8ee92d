// SPDX-License-Identifier: MIT
//
// eventlog_members [numbers]
//
// Tests what members of the device's group receive of each other, as root: a user does not receive
// events of programs with more rights than the user has, nor from within a PID namespace those of
// programs outside of it, and no user can fill the tables of a subscription.
#include <errno.h>
#include <fcntl.h>
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

static pid_t fork_child(void) {
    (void)fflush(stdout);
    const pid_t child = fork();
    step("fork", child >= 0);
    return child;
}

static void expect_exit(pid_t child) {
    int status = -1;
    step("the child succeeds", waitpid(child, &status, 0) == child && status == 0);
}

/// Makes the process dumpable, as if it had not been root before.
static bool become(uid_t user, uid_t effective, uid_t saved) {
    return setresgid(user, user, user) == 0 && setresuid(user, effective, saved) == 0 &&
           prctl(PR_SET_DUMPABLE, 1) == 0;
}

static bool have_capabilities(uint32_t which) {
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2] = {{.permitted = which}};
    return syscall(SYS_capset, &head, sets) == 0;
}

static bool become_ordinary(void) {
    return become(ordinary, ordinary, ordinary);
}

static bool become_setuid(void) {
    return become(ordinary, ordinary, other);
}

static bool of_groups(gid_t real, gid_t effective, gid_t saved) {
    return setresgid(real, effective, saved) == 0 && setresuid(ordinary, ordinary, ordinary) == 0 &&
           prctl(PR_SET_DUMPABLE, 1) == 0;
}

static bool become_setgid(void) {
    return of_groups(ordinary, other, other);
}

static bool drop_setgid(void) {
    return of_groups(ordinary, ordinary, other);
}

static bool drop_root(void) {
    return become_ordinary() && prctl(PR_SET_DUMPABLE, 0) == 0;
}

static bool become_capable(void) {
    return prctl(PR_SET_KEEPCAPS, 1) == 0 && become_ordinary() &&
           have_capabilities(1U << CAP_NET_RAW);
}

static bool become_root(void) {
    return true;
}

static bool become_root_without_rights(void) {
    return have_capabilities(0);
}

/// A user namespace, with all rights within it.
static bool enter_namespace(void) {
    return become_ordinary() && unshare(CLONE_NEWUSER) == 0;
}

/// PID namespaces: that of this program, and two in it like those of containers.
enum pid_namespace { outer, first, second, pid_namespaces };
static int pid_namespace_files[pid_namespaces];
static pid_t pid_namespace_holders[pid_namespaces];

static int open_pid_namespace(pid_t process) {
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)process);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/// The next children are in that namespace; this process stays where it is.
static void select_pid_namespace(enum pid_namespace which) {
    step("a PID namespace is selected", setns(pid_namespace_files[which], CLONE_NEWPID) == 0);
}

/// A namespace exists as long as its first process.
static void create_pid_namespaces(void) {
    pid_namespace_files[outer] = open_pid_namespace(getpid());
    for (int which = first; which < pid_namespaces; ++which) {
        step("a PID namespace is created", unshare(CLONE_NEWPID) == 0);
        const pid_t holder = fork_child();
        if (holder == 0) {
            _exit(pause() == 0);
        }
        pid_namespace_holders[which] = holder;
        pid_namespace_files[which] = open_pid_namespace(holder);
        select_pid_namespace(outer);
    }
}

static void remove_pid_namespaces(void) {
    for (int which = first; which < pid_namespaces; ++which) {
        const pid_t holder = pid_namespace_holders[which];
        step("a PID namespace is removed",
             kill(holder, SIGKILL) == 0 && waitpid(holder, NULL, 0) == holder);
    }
    for (int which = outer; which < pid_namespaces; ++which) {
        (void)close(pid_namespace_files[which]);
    }
}

static pid_t fork_child_in(enum pid_namespace which) {
    select_pid_namespace(which);
    const pid_t child = fork_child();
    if (child != 0) {
        select_pid_namespace(outer);
    }
    return child;
}

/// The rights of the publishing and of the subscribing process.
struct pair {
    const char* name;
    bool (*publisher)(void);
    bool (*listener)(void);
    bool is_received;
};

/// What a subscribing process reports.
struct listening {
    bool has_begun;
    bool is_listed;  // the provider, for its user
};

static bool lists_provider(int file, const char* name) {
    struct eventlog_provider_query query = {.size = sizeof query};
    while (next_provider(file, &query) == 0) {
        if (strcmp(query.name, name) == 0) {
            return true;
        }
        query.size = sizeof query;
    }
    return false;
}

static pid_t listen_as(bool (*change_rights)(void), enum pid_namespace where, int results) {
    const pid_t child = fork_child_in(where);
    if (child == 0) {
        struct listening listening = {.has_begun = change_rights()};
        const int reader = open_device();
        listening.is_listed = lists_provider(reader, "members");
        listening.has_begun =
            listening.has_begun && subscribe(reader, &(struct subscription_request){0}) == 0;
        _exit(write(results, &listening, sizeof listening) < 0 || pause() == 0);
    }
    return child;
}

static void publish_as(bool (*change_rights)(void)) {
    step("the process changes its rights", change_rights());
    reopen_device();
    step("its event is registered",
         register_at("members_own u64 a", &word, enable_bit, &index_own) == 0);
    const struct eventlog_published_event offer = {
        .write_index = index_own, .level = 3, .name = "own"};
    uint32_t number = 0;
    step("and published", publish(device, "members", &offer, 1, &number) == 0);
}

/// The publisher checks its word after the subscription has begun.
static void try_pair(const struct pair* pair, enum pid_namespace publisher_namespace,
                     enum pid_namespace listener_namespace) {
    int start[2];
    int results[2];
    bool is_set = false;
    struct listening listening = {0};
    step("pipes", pipe(start) == 0 && pipe(results) == 0);
    const pid_t publisher = fork_child_in(publisher_namespace);
    if (publisher == 0) {
        publish_as(pair->publisher);
        step("the result is sent", write(results[1], &is_set, sizeof is_set) == 1);
        step("the publisher waits", read(start[0], &is_set, sizeof is_set) == 1);
        step(pair->name, (word >> enable_bit & 1U) == (pair->is_received ? 1U : 0U));
        _exit(0);
    }
    step("the provider is published", read(results[0], &is_set, sizeof is_set) == 1);
    const pid_t listener = listen_as(pair->listener, listener_namespace, results[1]);
    step("the subscription begins",
         read(results[0], &listening, sizeof listening) == sizeof listening && listening.has_begun);
    step("the provider is listed if its events are received",
         listening.is_listed == pair->is_received);
    step("the publisher continues", write(start[1], &is_set, sizeof is_set) == 1);
    expect_exit(publisher);
    step("the subscriber is killed",
         kill(listener, SIGKILL) == 0 && waitpid(listener, NULL, 0) == listener);
    (void)close(start[0]);
    (void)close(start[1]);
    (void)close(results[0]);
    (void)close(results[1]);
}

static void record_only_same_user(void) {
    static const struct pair pairs[] = {
        {"a user's subscription receives the user's programs", become_ordinary, become_ordinary,
         true},
        {"no program that may become another user", become_setuid, become_ordinary, false},
        {"no program of another group", become_setgid, become_ordinary, false},
        {"no program that may become of another group", drop_setgid, become_ordinary, false},
        {"no program that may have had more rights", drop_root, become_ordinary, false},
        {"no program with a capability", become_capable, become_ordinary, false},
        {"unless the user has it, too", become_capable, become_capable, true},
        {"within a namespace no program outside it", become_ordinary, enter_namespace, false},
        {"nor programs of another namespace", enter_namespace, enter_namespace, false},
        {"outside it the programs of the user's namespace", enter_namespace, become_ordinary, true},
        {"root receives all", become_setgid, become_root, true},
        {"root without rights does not", become_root, become_root_without_rights, false},
        {"but programs with equal rights", become_root_without_rights, become_root_without_rights,
         true},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; ++i) {
        try_pair(&pairs[i], outer, outer);
    }
}

static void record_only_visible_processes(void) {
    static const struct {
        struct pair pair;
        enum pid_namespace publisher, listener;
    } pairs[] = {
        {{"a user in a PID namespace receives the user's programs there", become_ordinary,
          become_ordinary, true},
         first,
         first},
        {{"no program outside of it", become_ordinary, become_ordinary, false}, outer, first},
        {{"no program of another one", become_ordinary, become_ordinary, false}, first, second},
        {{"outside of it the programs within", become_ordinary, become_ordinary, true},
         first,
         outer},
        {{"root without rights in one receives no program outside of it",
          become_root_without_rights, become_root_without_rights, false},
         outer,
         first},
        {{"root receives all", become_ordinary, become_root, true}, outer, first},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; ++i) {
        try_pair(&pairs[i].pair, pairs[i].publisher, pairs[i].listener);
    }
}

/// Returns 0 or an errno.
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

/// Publishes eight providers with different schemas.
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
    const pid_t child = fork_child();
    if (child == 0) {
        step("the process becomes an ordinary user", become(user, user, user));
        publish_eight();
        _exit(0);
    }
    expect_exit(child);
}

static const struct eventlog_region* map_head(int reader) {
    const void* memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, reader, 0);
    step("the region can be mapped", memory != MAP_FAILED);
    return memory;
}

/// The region of a subscription with room for eight providers.
static void share_room_for_schemas(void) {
    struct subscription_request subscription_request = {.schemas_size = schemas_room};
    const int reader = subscribe_or_exit(&subscription_request);
    const struct eventlog_region* region = map_head(reader);
    publish_eight_as(ordinary);
    step("a user has half of the table", region->provider_count == 4);
    publish_eight_as(ordinary);
    step("also with another program", region->provider_count == 4);
    publish_eight_as(other);
    step("another user has half of the rest", region->provider_count == 6);
    publish_eight();
    step("root has all of the rest", region->provider_count == 8);
    step("rejected providers are counted",
         statistics(reader, EVENTLOG_ALL_RINGS).providers_refused == 4 + 8 + 6 + 6);
    (void)munmap((void*)region, 4096);
    (void)close(reader);
    reopen_device();
}

/// A user's own providers may fill the table of the user's subscription.
static void fill_own_quota(void) {
    const pid_t child = fork_child();
    if (child == 0) {
        step("the process becomes an ordinary user", become(ordinary, ordinary, ordinary));
        const int reader =
            subscribe_or_exit(&(struct subscription_request){.schemas_size = schemas_room});
        publish_eight();
        step("all providers of the user are in the table",
             statistics(reader, EVENTLOG_ALL_RINGS).providers_refused == 0);
        _exit(0);
    }
    expect_exit(child);
}

/// Publishes the maximum number of providers of a user, one after another.
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
    const pid_t child = fork_child();
    if (child == 0) {
        step("the process becomes an ordinary user", become(ordinary, ordinary, ordinary));
        publish_very_many();
        _exit(0);
    }
    expect_exit(child);
    step("a user has half of all numbers", region->provider_count == EVENTLOG_PROVIDERS_MAX / 2);
    step("rejected providers are counted",
         statistics(reader, EVENTLOG_ALL_RINGS).providers_refused ==
             (uint64_t)files * events_of_file - EVENTLOG_PROVIDERS_MAX / 2);
    publish_eight();
    step("other users have the rest", region->provider_count == EVENTLOG_PROVIDERS_MAX / 2 + 8);
    (void)munmap((void*)region, 4096);
    (void)close(reader);
}

int main(int count, char** arguments) {
    device = open_device();
    step("the device can be opened", device >= 0);
    step("all users may open the device", chmod("/dev/eventlog", 0666) == 0);
    create_pid_namespaces();
    record_only_same_user();
    record_only_visible_processes();
    remove_pid_namespaces();
    share_room_for_schemas();
    fill_own_quota();
    // Thousands of registrations, which debugging makes slow.
    if (count > 1 && strcmp(arguments[1], "numbers") == 0) {
        share_numbers();
    }
    step("the mode is restored", chmod("/dev/eventlog", 0660) == 0);
    (void)close(device);
    puts("ok: all members");
    return 0;
}
