// SPDX-License-Identifier: GPL-2.0
/*
 * Prints the trace events of a system while a command runs, read through libperf:
 * print_events SYSTEM COMMAND [ARGUMENT...].
 *
 * libperf opens one event for each trace event and CPU, and maps one buffer for each CPU; all
 * events of a CPU share it. The samples have the bytes that the kernel also writes to tracefs, so
 * libtraceevent decodes them by the event's format. Losses are read from the kernel's counters at
 * the end: a record of losses in a buffer appears only if another event follows.
 *
 * Events of one CPU are in order; those of several CPUs are printed as they are read.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <perf/core.h>
#include <perf/cpumap.h>
#include <perf/event.h>
#include <perf/evlist.h>
#include <perf/evsel.h>
#include <perf/mmap.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <traceevent/event-parse.h>
#include <unistd.h>

#define EVENTS "/sys/kernel/tracing/events"
#define BUFFER_PAGES 1024 /* of each CPU; a power of two */
#define FORMAT_SIZE 65536
#define EVENTS_AT_ONCE 4096
#define POLL_MILLISECONDS 100
#define SECOND UINT64_C(1000000000)

struct counts {
    uint64_t printed;
    uint64_t lost;
};

/* The members of a sample in the order that perf_event_open(2) documents. */
struct sample {
    uint32_t pid, tid;
    uint64_t time;
    uint32_t cpu, reserved;
    uint32_t size;
    unsigned char data[];
};
#define SAMPLE_TYPE (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW)

static int print_message(enum libperf_print_level level, const char* format, va_list arguments) {
    return level > LIBPERF_WARN ? 0 : vfprintf(stderr, format, arguments);
}

/* Reads a file of a trace event. Returns its size, or -1. */
static long read_file(const char* system, const char* event, const char* name, char* text,
                      size_t room) {
    char path[512];
    FILE* file;
    size_t size;

    snprintf(path, sizeof(path), "%s/%s/%s/%s", EVENTS, system, event, name);
    file = fopen(path, "r");
    if (!file)
        return -1;
    size = fread(text, 1, room - 1, file);
    text[size] = '\0';
    fclose(file);
    return size;
}

/* Adds a trace event to the list, and its format to the parser. */
static bool add_event(struct perf_evlist* list, struct tep_handle* formats, const char* system,
                      const char* event) {
    static char format[FORMAT_SIZE];
    char id[32];
    struct perf_event_attr attributes = {
        .size = sizeof(attributes),
        .type = PERF_TYPE_TRACEPOINT,
        .sample_type = SAMPLE_TYPE,
        .sample_period = 1,
        .read_format = PERF_FORMAT_LOST,
        .disabled = 1,
    };
    struct perf_evsel* selected;
    long size;

    if (read_file(system, event, "id", id, sizeof(id)) < 0)
        return false;
    size = read_file(system, event, "format", format, sizeof(format));
    if (size < 0 || tep_parse_event(formats, format, size, system) != TEP_ERRNO__SUCCESS)
        return false;
    attributes.config = strtoull(id, NULL, 10);
    selected = perf_evsel__new(&attributes);
    if (!selected)
        return false;
    perf_evlist__add(list, selected);
    return true;
}

/* Adds all trace events of a system; returns their number. */
static unsigned int add_events(struct perf_evlist* list, struct tep_handle* formats,
                               const char* system) {
    char path[512];
    const struct dirent* entry;
    unsigned int count = 0;
    DIR* folder;

    snprintf(path, sizeof(path), "%s/%s", EVENTS, system);
    folder = opendir(path);
    if (!folder)
        return 0;
    while ((entry = readdir(folder)) != NULL) {
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
            continue;
        if (add_event(list, formats, system, entry->d_name))
            count++;
        else
            fprintf(stderr, "%s:%s is left out: its files cannot be read or parsed.\n", system,
                    entry->d_name);
    }
    closedir(folder);
    return count;
}

static void print_sample(struct tep_handle* formats, struct trace_seq* line,
                         const union perf_event* event) {
    const struct sample* sample = (const void*)event->sample.array;
    struct tep_record record = {
        .ts = sample->time,
        .cpu = sample->cpu,
        .size = sample->size,
        .data = (void*)sample->data,
    };

    trace_seq_reset(line);
    trace_seq_printf(line, "%" PRIu64 ".%09" PRIu64 " [%03u] ", sample->time / SECOND,
                     sample->time % SECOND, sample->cpu);
    tep_print_event(formats, line, &record, "%s: %s\n", TEP_PRINT_NAME, TEP_PRINT_INFO);
    trace_seq_do_printf(line);
}

/*
 * Prints what the buffers have, a part of each: printing may itself cause events.
 * perf_mmap__consume frees the room; perf_mmap__read_done is for buffers that overwrite, and would
 * skip new events.
 */
static void drain(struct perf_evlist* list, struct tep_handle* formats, struct trace_seq* line,
                  struct counts* counts, unsigned int events_max) {
    struct perf_mmap* map;

    perf_evlist__for_each_mmap(list, map, false) {
        union perf_event* event;

        if (perf_mmap__read_init(map) < 0)
            continue;
        for (unsigned int i = 0; i < events_max && (event = perf_mmap__read_event(map)); i++) {
            if (event->header.type == PERF_RECORD_SAMPLE) {
                print_sample(formats, line, event);
                counts->printed++;
            }
            perf_mmap__consume(map);
        }
    }
}

/* The kernel counts losses by event and CPU, since Linux 6.0. */
static void count_losses(struct perf_evlist* list, struct perf_cpu_map* cpus,
                         struct counts* counts) {
    struct perf_evsel* selected;

    perf_evlist__for_each_evsel(list, selected) {
        for (int i = 0; i < perf_cpu_map__nr(cpus); i++) {
            struct perf_counts_values values = {};

            if (perf_evsel__read(selected, i, 0, &values) == 0)
                counts->lost += values.lost;
        }
    }
}

/* Starts a command that waits for a byte in `go` before it becomes the program. */
static pid_t start(char** command, int* go) {
    int ends[2];
    pid_t child;

    if (pipe(ends) != 0)
        return -1;
    child = fork();
    if (child == 0) {
        char byte;

        close(ends[1]);
        if (read(ends[0], &byte, 1) != 1)
            _exit(1);
        close(ends[0]);
        execvp(command[0], command);
        fprintf(stderr, "%s cannot be started: %s\n", command[0], strerror(errno));
        _exit(127);
    }
    close(ends[0]);
    *go = ends[1];
    return child;
}

/* Returns the status of the command, as a shell does. */
static int follow(struct perf_evlist* list, struct tep_handle* formats, pid_t child, int go,
                  struct counts* counts) {
    struct trace_seq line;
    int status = 0;

    trace_seq_init(&line);
    perf_evlist__enable(list);
    if (write(go, "", 1) != 1)
        kill(child, SIGKILL);
    close(go);
    while (waitpid(child, &status, WNOHANG) == 0) {
        perf_evlist__poll(list, POLL_MILLISECONDS);
        drain(list, formats, &line, counts, EVENTS_AT_ONCE);
    }
    perf_evlist__disable(list);
    drain(list, formats, &line, counts, UINT_MAX);
    trace_seq_destroy(&line);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Opens one file for each event and CPU, and a buffer for each CPU. */
static bool open_events(struct perf_evlist* list, const char* system) {
    struct rlimit files;
    int problem;

    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    problem = perf_evlist__open(list);
    if (problem == 0 && perf_evlist__mmap(list, BUFFER_PAGES) != 0)
        problem = -errno;
    if (problem == 0)
        return true;
    fprintf(stderr, "The events of %s cannot be opened: %s. %s\n", system, strerror(-problem),
            problem == -EMFILE ? "Raise the limit on open files: ulimit -n"
                               : "perf_event_open(2) states the permissions that this needs.");
    return false;
}

int main(int argc, char** argv) {
    struct counts counts = {};
    struct perf_cpu_map* cpus;
    struct perf_evlist* list;
    struct tep_handle* formats;
    pid_t child;
    int go, status;

    if (argc < 3) {
        fputs("usage: print_events SYSTEM COMMAND [ARGUMENT...]\n", stderr);
        return 2;
    }
    libperf_init(print_message);
    cpus = perf_cpu_map__new_online_cpus();
    list = perf_evlist__new();
    formats = tep_alloc();
    if (!cpus || !list || !formats) {
        fputs("There is too little memory.\n", stderr);
        return 1;
    }
    tep_set_long_size(formats, sizeof(long));
    if (add_events(list, formats, argv[1]) == 0) {
        fprintf(stderr,
                "%s/%s has no trace event that can be read. Start a program that has "
                "events, and run this as root.\n",
                EVENTS, argv[1]);
        return 1;
    }
    perf_evlist__set_maps(list, cpus, NULL);
    signal(SIGCHLD, SIG_DFL); /* waitpid() returns no status where it is ignored */
    child = start(argv + 2, &go);
    if (child < 0) {
        fprintf(stderr, "%s cannot be started: %s\n", argv[2], strerror(errno));
        return 1;
    }
    if (!open_events(list, argv[1])) {
        close(go); /* the child ends */
        return 1;
    }
    status = follow(list, formats, child, go, &counts);
    count_losses(list, cpus, &counts);
    fprintf(stderr, "%" PRIu64 " events, %" PRIu64 " lost\n", counts.printed, counts.lost);
    perf_evlist__delete(list);
    perf_cpu_map__put(cpus);
    tep_free(formats);
    return status;
}
