// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// The published events, and memory for reads. Single-threaded; a step that fails ends the program.

enum { room = 1 << 20 };
/// Size of a small event as it is read.
static const ssize_t small_record = 32;

extern unsigned char bytes[room];
extern uint32_t index_small;
extern uint32_t index_large;
/// Enable words of further events.
extern uint64_t words_of_many[32];

/// Registers and publishes provider `listen` with the events `small` (8 bytes) and `large` (4000).
void publish_two(void);

/// Writes an event whose first field is `a`. False if the kernel rejects it.
bool write_event(uint32_t index, uint64_t a);

/// Writes a large event, which must succeed.
void write_large_or_exit(uint64_t a);

/// The first field of a record.
uint64_t value_of(const unsigned char* at);
