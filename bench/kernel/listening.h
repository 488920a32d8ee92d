// SPDX-License-Identifier: MIT
//
// What kernel_bench and batch_bench share. Whatever fails ends the program.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { buffer_count = 4, buffer_size = 128 << 10 };  // as those of the module

void check(bool is_good, const char* what);

/// Subscribes to two events of a provider. The newest are kept, so that nobody has to read.
void subscribe(const char* provider, const char* first, const char* second);

/// How many events of them have been recorded so far.
uint64_t count_recorded(void);

/// Of this thread alone, in nanoseconds: others may run in between.
uint64_t now(void);

/// A line: what each has taken, and how many were lost.
void report(const char* name, double taken, uint64_t lost);

/// The program's only argument: a number of turns.
long read_turns(int argc, char** argv);

#ifdef __cplusplus
}
#endif
