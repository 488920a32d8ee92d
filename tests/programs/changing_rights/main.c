// SPDX-License-Identifier: MIT
//
// Publishes a provider and changes its own rights, in the order of its arguments.
//
//     changing_rights STEP...
//
// The steps:
//
// - define: publishes the provider vault
// - emit:COUNT: emits events of a kilobyte
// - emit_canceled:COUNT: the same in a thread that is canceled at its next cancellation point
// - status: prints the code, the numbers of written and of unattached events, and the sentence
// - snapshot: asks for snapshots and prints how many flight recorders were asked
// - seteuid:USER: becomes that user for a while
// - setuid:USER: becomes that user, with the group of the same number
// - undumpable: may not be traced from then on
// - unshare: moves to a user namespace of its own, without numbers of users
// - chroot:FOLDER: changes the root to that folder
// - bind:SOURCE:TARGET: mounts a file or folder on another one
// - fork: a child takes the rest of the steps
// - wait: prints a line and waits for one on standard input
#include <grp.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <eventlog/eventlog.h>

static struct eventlog_provider* provider;

// The leak checker of AddressSanitizer cannot trace this program, which cannot read its environment
// for the sanitizer's options either.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
const char* __asan_default_options(void);
const char* __asan_default_options(void) {
    // NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)
    return "detect_leaks=0";
}

static int define(void) {
    static const struct eventlog_field_definition fields[] = {
        {.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_64},
        {.name = "text", .type = EVENTLOG_TYPE_TEXT}};
    static const struct eventlog_event_definition events[] = {
        {.name = "opened", .fields = fields, .field_count = 2}};
    static const struct eventlog_definition definition = {
        EVENTLOG_DEFINITION_SIZES, .name = "vault", .events = events, .event_count = 1};
    return eventlog_provider_create(&definition, &provider, NULL, 0) == EVENTLOG_ERROR_NONE;
}

static int emit(uint64_t count) {
    static char text[1001];
    memset(text, 'x', sizeof text - 1);
    for (uint64_t i = 0; i < count; ++i) {
        const struct eventlog_value values[] = {eventlog_unsigned(i), eventlog_text(text)};
        if (eventlog_emit(provider, 0, values, 2) != EVENTLOG_ERROR_NONE) {
            return 0;
        }
    }
    return 1;
}

static void* emit_in_thread(void* count) {
    return pthread_cancel(pthread_self()) == 0 && emit(*(const uint64_t*)count) ? count : NULL;
}

static int emit_canceled(uint64_t count) {
    pthread_t thread = 0;
    void* result = NULL;
    return pthread_create(&thread, NULL, emit_in_thread, &count) == 0 &&
           pthread_join(thread, &result) == 0 && result == &count;
}

static int bind_mount(const char* names) {
    char source[PATH_MAX];
    const char* const colon = strchr(names, ':');
    if (colon == NULL || (size_t)(colon - names) >= sizeof source) {
        return 0;
    }
    memcpy(source, names, (size_t)(colon - names));
    source[colon - names] = '\0';
    return mount(source, colon + 1, NULL, MS_BIND, NULL) == 0;
}

static int print_status(void) {
    char text[256];
    struct eventlog_counters counters;
    const enum eventlog_status_code code = eventlog_provider_status(provider, text, sizeof text);
    (void)eventlog_provider_route_status(provider, EVENTLOG_ROUTE_MEMORY, &counters,
                                         sizeof counters, NULL, 0);
    return printf("%d %" PRIu64 " %" PRIu64 " %s\n", (int)code, counters.written,
                  counters.lost_unattached, text) > 0;
}

static int set_user(uid_t user) {
    return setgroups(0, NULL) == 0 && setresgid(user, user, user) == 0 &&
           setresuid(user, user, user) == 0;
}

static int fork_child(void) {
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
        return 1;
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) {
        return 0;
    }
    exit(WEXITSTATUS(status));
}

static int take_step(const char* step) {
    const char* const colon = strchr(step, ':');
    const uint64_t number = colon == NULL ? 0 : strtoull(colon + 1, NULL, 10);
    if (strcmp(step, "define") == 0) {
        return define();
    }
    if (strncmp(step, "emit:", 5) == 0) {
        return emit(number);
    }
    if (strncmp(step, "emit_canceled:", 14) == 0) {
        return emit_canceled(number);
    }
    if (strcmp(step, "status") == 0) {
        return print_status();
    }
    if (strcmp(step, "snapshot") == 0) {
        return printf("%u\n", eventlog_request_snapshot("alarm")) > 0;
    }
    if (strncmp(step, "seteuid:", 8) == 0) {
        return seteuid((uid_t)number) == 0;
    }
    if (strncmp(step, "setuid:", 7) == 0) {
        return set_user((uid_t)number);
    }
    if (strcmp(step, "undumpable") == 0) {
        return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
    }
    if (strcmp(step, "unshare") == 0) {
        return unshare(CLONE_NEWUSER) == 0;
    }
    if (strncmp(step, "chroot:", 7) == 0) {
        return chroot(step + 7) == 0 && chdir("/") == 0;
    }
    if (strncmp(step, "bind:", 5) == 0) {
        return bind_mount(step + 5);
    }
    if (strcmp(step, "fork") == 0) {
        return fork_child();
    }
    if (strcmp(step, "wait") == 0) {
        return puts("waiting") > 0 && fflush(stdout) == 0 && getchar() != EOF;
    }
    return 0;
}

int main(int argument_count, char** arguments) {
    for (int i = 1; i < argument_count; ++i) {
        if (!take_step(arguments[i])) {
            fprintf(stderr, "changing_rights: the step %s has failed\n", arguments[i]);
            return 1;
        }
    }
    return 0;
}
