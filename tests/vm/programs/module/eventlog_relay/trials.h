// SPDX-License-Identifier: MIT
#pragma once

#include <stdint.h>

// The trials of the program. A comment has the numbers of the list in test_relay.py.

// channels.c

void try_options(void);      // R1
void try_files(void);        // R2, R5 to R8, R12 to R14, R22
void try_global(void);       // R19
void try_hidden(void);       // R20
void try_hotplug(void);      // R23
void try_bad_batches(void);  // R17, R24

// reading.c

void try_discard(void);    // R3, R4, R6, R9, R16, R18, R25
void try_mapped(void);     // R5, R14, R21
void try_overwrite(void);  // R10, R14
/// Reads a part of a sub-buffer, and then releases the whole sub-buffer.
void try_reading_and_consuming(void);
/// Each written record is in a buffer, lost or overwritten. The buffer reports each record that its
/// reader misses.
void conserve(uint32_t flags);

// waiting.c

/// A reader that waits for records wakes when the channel ends.
void try_waiting_for_the_end(void);
/// A read that does not return blocks resetting and closing its channel, and no other channel.
void try_reading_at_length(void);
/// Opening a buffer while its channel begins or ends yields a complete buffer or an error.
void open_concurrently(void);
/// The channel of a killed process is removed.
void try_killed(void);
/// An open file of a buffer keeps the module loaded after its channel has ended.
void try_open_buffer(void);
