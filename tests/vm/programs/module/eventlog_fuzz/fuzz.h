// SPDX-License-Identifier: MIT
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

// Random values, counts and the kinds of calls, for one process with several threads.

#define SECOND_PROCESSOR "/sys/devices/system/cpu/cpu1/online"

enum { files = 4, pages = 4, page_size = 4096, names = 12, processes = 4, threads = 2 };
enum { extra_seconds = 60, disturber_pause = 20000 };
enum {
    registering,
    unregistering,
    deleting,
    writing,
    tracing,
    publishing,
    withdrawing,
    subscribing,
    reading,
    mapping,
    asking,
    ending,
    switching,
    unloading,
    kinds
};

/// Counts the calls of all processes, in shared memory.
struct counters {
    atomic_ulong calls[kinds];
    atomic_ulong succeeded[kinds];
};

/// In memory that all processes share.
extern struct counters* counted;
/// Of the thread; not 0.
extern _Thread_local uint32_t state;
/// The first file is shared by all processes.
extern int opened[files];
/// Of the process: `pages` pages, and one more.
extern char* memory;
/// When the calls end.
extern struct timespec end;
/// Which kinds of calls can succeed on this machine.
extern bool has_processors;
extern bool has_module;
/// Whether users other than root may delete events.
extern bool may_delete;

/// A random number below `below`.
uint32_t next(uint32_t below);

/// An address for a word. Few values, so that calls often meet a registered word.
uintptr_t address(void);

uint8_t bit(void);

/// Counts a call of a kind, which succeeded if the result is not negative.
void count(int kind, long result);

/// Whether each kind that is allowed succeeded at least once.
bool has_each_kind_succeeded(void);

/// Whether the time is over, and each allowed kind has succeeded or the extra time is over, too.
bool is_over(void);
