// SPDX-License-Identifier: MIT
//
// Functions that kernel_bench and batch_bench share. Any failure ends the program.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { buffer_count = 4, buffer_size = 128 << 10 };  // the same as in the module

void check(bool is_good, const char* what);

/// Subscribes to two events of a provider. The subscription keeps the newest, so it needs no
/// reader.
void subscribe(const char* provider, const char* first, const char* second);

/// The number of these events recorded so far.
uint64_t count_recorded(void);

/// Nanoseconds of this thread's processor time, because other threads may run in between.
uint64_t now(void);

/// Prints a line: the time of each event and the number of losses.
void report(const char* name, double taken, uint64_t lost);

/// The program's only argument, the number of turns.
long read_turns(int argc, char** argv);

#ifdef __cplusplus
}
#endif
