// SPDX-License-Identifier: MIT
#include "steps.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void step(const char* what, bool right) {
    const int error = errno;
    printf("%s: %s\n", right ? "ok" : "WRONG", what);
    if (!right) {
        printf("errno is %d: %s\n", error, strerror(error));
        exit(1);
    }
}

void set_file(const char* path, const char* text) {
    const int file = open(path, O_WRONLY);
    step(path, file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    (void)close(file);
}

bool file_contains(const char* path, const char* text) {
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

bool trace_contains(const char* text) {
    return file_contains(TRACING "trace", text);
}
