// SPDX-License-Identifier: MIT
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// What all programs that try user_events share. Single-threaded.

#define TRACING "/sys/kernel/tracing/"
#define EVENTS TRACING "events/user_events/"

/// Says what has been tried; ends the program with status 1 if it did not turn out right.
static inline void step(const char* what, bool right) {
    const int error = errno;
    printf("%s: %s\n", right ? "ok" : "WRONG", what);
    if (!right) {
        printf("errno is %d: %s\n", error, strerror(error));
        exit(1);
    }
}

/// Writes a text to a file of tracefs; ends the program if that fails.
static inline void set_file(const char* path, const char* text) {
    const int file = open(path, O_WRONLY);
    step(path, file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    (void)close(file);
}

// NOLINTBEGIN(modernize-use-nullptr): it is C, and included by C++, too
static inline bool file_holds(const char* path, const char* text) {
    FILE* file = fopen(path, "r");
    char line[1024];
    bool found = false;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        found = found || strstr(line, text) != NULL;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}
// NOLINTEND(modernize-use-nullptr)

static inline bool trace_holds(const char* text) {
    return file_holds(TRACING "trace", text);
}
