// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/types.h>

// A relay channel named `trial`, with separate declarations of the ABI. Single-threaded; a step
// that fails ends the program.

#define DEVICE "/dev/eventlog_relay"
#define FOLDER "/sys/kernel/debug/eventlog/"

enum { overwrite = 1, global = 2, hidden = 4, magic = 0x594c4552 };
enum { subbuf_size = 4096, subbuf_count = 4, payload = 40, record_size = 64, writers = 4 };
enum { header_size = 48, in_subbuf = (subbuf_size - header_size) / record_size };

struct options {
    uint32_t size, flags, subbuf_size, subbuf_count;
    char name[32];
};

struct header {
    uint64_t magic;
    uint32_t cpu, reserved;
    uint64_t sequence, records_before, lost_before;
    uint32_t records, used;
};

/// A record whose flag requires a header of three words, wherever it is stored.
struct record {
    uint64_t words[3];
    uint8_t payload[payload];
};

/// With event 1 and the flag TRUNCATED.
struct record record_at(uint64_t time);

/// Whether the record was written by record_at.
bool is_record(const struct record* record);

#define CREATE _IOW('*', 64, struct options)
#define ATTACH _IOW('*', 65, char[32])
#define SHOW _IO('*', 66)

/// Scratch memory for reads.
extern char text[65536];

/// Moves the process to a CPU.
void pin(size_t cpu);

struct options options_of(uint32_t flags);

/// A new file with a new channel, or a negative errno.
int try_create(struct options wanted);

/// The same, which must succeed.
int create(uint32_t flags);

/// Opens a file of the channel in debugfs. -1 with errno if that fails.
int open_part(const char* name, int how);

/// Writes a command to the file `control`, which must succeed.
void send_command(const char* command);

/// The same; returns 0 or an errno.
int try_command(const char* command);

/// A number of the file `stats`; UINT64_MAX if it is missing.
uint64_t stat_of(const char* buffer, const char* what);

/// Writes records in one batch; returns the number of records written.
size_t write_batch(int file, size_t count);

/// The sum of what drain() has read of a buffer.
struct seen {
    uint64_t records, subbufs, first, next, lost, gaps;
    bool right;
};

/// Reads a buffer until it is empty, and adds what was read to `seen`.
void drain(int file, struct seen* seen);

/// The result of fork(), which must succeed. Output is flushed first.
pid_t fork_child(void);
