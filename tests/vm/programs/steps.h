// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>

// Steps of test programs in guests. Single-threaded.

#define TRACING "/sys/kernel/tracing/"
#define EVENTS TRACING "events/user_events/"

#ifdef __cplusplus
extern "C" {
#endif

/// Prints a condition and whether it is true; ends the program with status 1 if it is not.
void step(const char* what, bool right);

/// Writes a text to a file of tracefs; ends the program if that fails.
void set_file(const char* path, const char* text);

/// Whether a line of a file has that text.
bool file_contains(const char* path, const char* text);
bool trace_contains(const char* text);

#ifdef __cplusplus
}
#endif
