// SPDX-License-Identifier: MIT
#include "module/eventlog_fuzz/fuzz.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct counters* counted;
_Thread_local uint32_t state;
int opened[files];
char* memory;
struct timespec end;
bool has_processors = false;
bool has_module = false;
bool may_delete = true;

uint32_t next(uint32_t below) {
    state ^= state << 13U;
    state ^= state >> 17U;
    state ^= state << 5U;
    return state % below;
}

uintptr_t address(void) {
    if (next(16) == 0) {
        return next(UINT32_MAX);
    }
    const uintptr_t word = next(8) == 0 ? next(page_size / 8) : next(2);
    return (uintptr_t)memory + next(pages) * (uintptr_t)page_size + word * 8;
}

uint8_t bit(void) {
    return (uint8_t)(next(8) == 0 ? next(33) : next(4));
}

void count(int kind, long result) {
    atomic_fetch_add(&counted->calls[kind], 1);
    atomic_fetch_add(&counted->succeeded[kind], result >= 0);
}

static bool is_allowed(int kind) {
    switch (kind) {
        case deleting:
            return may_delete;
        case switching:
            return has_processors;
        case unloading:
            return has_module;
        default:
            return true;
    }
}

bool has_each_kind_succeeded(void) {
    for (int kind = 0; kind < kinds; ++kind) {
        if (atomic_load(&counted->succeeded[kind]) == 0 && is_allowed(kind)) {
            return false;
        }
    }
    return true;
}

bool is_over(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec >= end.tv_sec &&
           (has_each_kind_succeeded() || now.tv_sec >= end.tv_sec + extra_seconds);
}
