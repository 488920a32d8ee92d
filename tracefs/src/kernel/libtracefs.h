/* SPDX-License-Identifier: MIT */
/*
 * What we take from libtracefs, whose own header no C++ compiler takes.
 * Functions that return int return 0, or -1 with errno.
 */
#ifndef EVENTLOG_TRACEFS_LIBTRACEFS_H
#define EVENTLOG_TRACEFS_LIBTRACEFS_H

#ifdef __cplusplus
extern "C" {
#endif

struct tracefs_instance;

/* Where tracefs is mounted, for ever; NULL if it is not. Mounts nothing. */
const char* eventlog_tracefs_folder(void);

/* Lists end with NULL, and are freed by the last of these. NULL: there is nothing, or errno. */
char** eventlog_tracefs_systems(void);
char** eventlog_tracefs_events(const char* system);
void eventlog_tracefs_free_list(char** list);

/* What stands in an event's file, which the caller frees; NULL with errno. */
char* eventlog_tracefs_read_event(struct tracefs_instance* instance, const char* system,
                                  const char* event, const char* file);
int eventlog_tracefs_write_event(struct tracefs_instance* instance, const char* system,
                                 const char* event, const char* file, const char* text);
/*
 * Has an event's filter be that condition. The kernel keeps one that it refuses, as a text, and
 * lets all events through: then there is none.
 */
int eventlog_tracefs_filter(struct tracefs_instance* instance, const char* system,
                            const char* event, const char* condition);
/* Adds to what stands there, where writing would remove it first: of triggers. */
int eventlog_tracefs_append_event(struct tracefs_instance* instance, const char* system,
                                  const char* event, const char* file, const char* text);

/* The top one where `instance` is NULL. */
char* eventlog_tracefs_read(struct tracefs_instance* instance, const char* file);
int eventlog_tracefs_write(struct tracefs_instance* instance, const char* file, const char* text);
int eventlog_tracefs_open(struct tracefs_instance* instance, const char* file, int flags);

/* A new one. NULL with errno: EEXIST if there is one of that name. */
struct tracefs_instance* eventlog_tracefs_create(const char* name);
/* Removes it, and frees what create has returned in any case. */
int eventlog_tracefs_destroy(struct tracefs_instance* instance);
/* One that somebody else has made, whether or not it is there; NULL: there is no memory. */
struct tracefs_instance* eventlog_tracefs_lookup(const char* name);
/* Forgets it, and leaves it alone. */
void eventlog_tracefs_release(struct tracefs_instance* instance);
/* Removes one that somebody else has made. */
int eventlog_tracefs_destroy_named(const char* name);
/* Calls visit(name, context) for each. */
void eventlog_tracefs_instances(void (*visit)(const char* name, void* context), void* context);

#ifdef __cplusplus
}
#endif

#endif
