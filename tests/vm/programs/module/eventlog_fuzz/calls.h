// SPDX-License-Identifier: MIT
#pragma once

// Calls with random arguments, which count themselves.

/// Events: registration, deletion, writing.
void register_event(int file);
void unregister_word(int file);
void delete_random_event(int file);
/// Deletes an event whose name other threads are unlikely to use.
void delete_fresh_event(int file);
void write_event(int file);
void write_many(int file);

/// One call that publishes, subscribes, reads, maps or releases.
void listen_at_random(int file);
