/* SPDX-License-Identifier: MIT */
#include "kernel/libtracefs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/types.h>
#include <tracefs.h>

const char* eventlog_tracefs_folder(void) {
    const char* path = NULL;

    /* The debugfs of older kernels contains tracefs and is accepted. */
    return tracefs_tracing_dir_is_mounted(false, &path) > 0 ? path : NULL;
}

char** eventlog_tracefs_events(const char* system) {
    return tracefs_system_events(NULL, system);
}

void eventlog_tracefs_free_list(char** list) {
    if (list) {
        tracefs_list_free(list);
    }
}

char* eventlog_tracefs_read_event(struct tracefs_instance* instance, const char* system,
                                  const char* event, const char* file) {
    int size = 0;

    return tracefs_event_file_read(instance, system, event, file, &size);
}

/* libtracefs returns the number of bytes written. */
static int as_result(int written) {
    return written < 0 ? -1 : 0;
}

int eventlog_tracefs_write_event(struct tracefs_instance* instance, const char* system,
                                 const char* event, const char* file, const char* text) {
    return as_result(tracefs_event_file_write(instance, system, event, file, text));
}

int eventlog_tracefs_filter(struct tracefs_instance* instance, const char* system,
                            const char* event, const char* condition) {
    const int result = eventlog_tracefs_write_event(instance, system, event, "filter", condition);
    const int error = errno;

    if (result != 0) {
        eventlog_tracefs_write_event(instance, system, event, "filter", "0");
    }
    errno = error;
    return result;
}

int eventlog_tracefs_append_event(struct tracefs_instance* instance, const char* system,
                                  const char* event, const char* file, const char* text) {
    return as_result(tracefs_event_file_append(instance, system, event, file, text));
}

char* eventlog_tracefs_read(struct tracefs_instance* instance, const char* file) {
    int size = 0;

    return tracefs_instance_file_read(instance, file, &size);
}

int eventlog_tracefs_write(struct tracefs_instance* instance, const char* file, const char* text) {
    return as_result(tracefs_instance_file_write(instance, file, text));
}

int eventlog_tracefs_open(struct tracefs_instance* instance, const char* file, int flags) {
    return tracefs_instance_file_open(instance, file, flags);
}

struct tracefs_instance* eventlog_tracefs_create(const char* name) {
    struct tracefs_instance* made = tracefs_instance_create(name);

    if (made && !tracefs_instance_is_new(made)) {
        tracefs_instance_free(made);
        errno = EEXIST;
        return NULL;
    }
    return made;
}

int eventlog_tracefs_destroy(struct tracefs_instance* instance) {
    const int result = tracefs_instance_destroy(instance);
    const int error = errno;

    tracefs_instance_free(instance);
    errno = error;
    return result;
}

struct tracefs_instance* eventlog_tracefs_lookup(const char* name) {
    return tracefs_instance_alloc(NULL, name);
}

void eventlog_tracefs_release(struct tracefs_instance* instance) {
    tracefs_instance_free(instance);
}

int eventlog_tracefs_destroy_named(const char* name) {
    struct tracefs_instance* found = eventlog_tracefs_lookup(name);

    return found ? eventlog_tracefs_destroy(found) : -1;
}

struct visitor {
    void (*visit)(const char* name, void* context);
    void* context;
};

static int visit_one(const char* name, void* context) {
    const struct visitor* visitor = context;

    visitor->visit(name, visitor->context);
    return 0;
}

void eventlog_tracefs_instances(void (*visit)(const char* name, void* context), void* context) {
    struct visitor visitor = {visit, context};

    tracefs_instances_walk(visit_one, &visitor);
}
