/* SPDX-License-Identifier: MIT */
/*
 * C wrappers of the functions of libtracefs in use, because its header does not compile as C++.
 * Functions that return int return 0, or -1 with errno.
 */
#ifndef EVENTLOG_TRACEFS_LIBTRACEFS_H
#define EVENTLOG_TRACEFS_LIBTRACEFS_H

#ifdef __cplusplus
extern "C" {
#endif

struct tracefs_instance;

/* The mount point of tracefs, never freed; NULL if it is not mounted. Does not mount it. */
const char* eventlog_tracefs_folder(void);

/*
 * The list ends with NULL. Free it with eventlog_tracefs_free_list, also if it is NULL: empty, or
 * an error in errno.
 */
char** eventlog_tracefs_events(const char* system);
void eventlog_tracefs_free_list(char** list);

/* The content of an event's file, which the caller frees; NULL with errno. */
char* eventlog_tracefs_read_event(struct tracefs_instance* instance, const char* system,
                                  const char* event, const char* file);
int eventlog_tracefs_write_event(struct tracefs_instance* instance, const char* system,
                                 const char* event, const char* file, const char* text);
/*
 * Sets an event's filter. The kernel keeps the text of a filter that it refuses and records all
 * events; the wrapper then removes it.
 */
int eventlog_tracefs_filter(struct tracefs_instance* instance, const char* system,
                            const char* event, const char* condition);
/* Appends to the file. For triggers, where a write that truncates would remove all others. */
int eventlog_tracefs_append_event(struct tracefs_instance* instance, const char* system,
                                  const char* event, const char* file, const char* text);

/* The top instance if `instance` is NULL. */
char* eventlog_tracefs_read(struct tracefs_instance* instance, const char* file);
int eventlog_tracefs_write(struct tracefs_instance* instance, const char* file, const char* text);
int eventlog_tracefs_open(struct tracefs_instance* instance, const char* file, int flags);

/* A new instance. NULL with errno: EEXIST if one of that name exists. */
struct tracefs_instance* eventlog_tracefs_create(const char* name);
/* Removes the instance. The handle is freed in any case. */
int eventlog_tracefs_destroy(struct tracefs_instance* instance);
/* A handle for another owner's instance, which need not exist; NULL: no memory. */
struct tracefs_instance* eventlog_tracefs_lookup(const char* name);
/* Frees the handle and keeps the instance. */
void eventlog_tracefs_release(struct tracefs_instance* instance);
/* Removes another owner's instance. */
int eventlog_tracefs_destroy_named(const char* name);
/* Calls visit(name, context) for each. */
void eventlog_tracefs_instances(void (*visit)(const char* name, void* context), void* context);

#ifdef __cplusplus
}
#endif

#endif
