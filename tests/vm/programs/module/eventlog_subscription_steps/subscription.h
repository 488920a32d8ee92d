// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// The published events, and memory for reads. Single-threaded; a step that fails ends the program.

enum { room = 1 << 20 };
/// Sizes of events as they are stored: a small one in the context of the record before it and in
/// its own, a large one.
enum { small_record = 16, first_small_record = 24, large_record = 24 + 4000 };

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

/// Reads into `bytes`; returns how many records were read, or -1. The caller expects no gap.
ssize_t read_records(int file);

/// The first field of a record that was read into `bytes`.
uint64_t value_of(ssize_t index);

/// Whether the records of the last read, of one ring, take so many bytes. One may have a context
/// more, as the upper half of the time changes every four seconds.
bool are_bytes(size_t size);
