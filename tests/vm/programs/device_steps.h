// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "steps.h"
#include "user_events_abi.h"

// Steps with /dev/eventlog of the kernel module, as root. Single-threaded. They use the
// declarations of user_events, which checks that both ABIs are equal.

#define OUR_EVENTS TRACING "events/eventlog/"
#define PARAMETERS "/sys/module/eventlog/parameters/"

enum { enable_bit = 30 };

/// The file that most steps use.
extern int device;
/// At the start of a page.
extern volatile uint64_t word;

int open_device(void);

/// Closes the device, and opens it anew.
void reopen_device(void);

/// A registration of an event for enable_bit of `word`.
struct user_events_registration registration_of(const char* description);

/// Each uses `device` and returns 0 or an errno.
int try_registration(struct user_events_registration* wanted);
int unregister_bit(const volatile void* address, uint8_t which);
int delete_event(const char* name);

/// Registers a description with a word; the event's number is stored in `index` unless it is NULL.
int register_at(const char* description, volatile void* address, uint8_t which, uint32_t* index);

/// Whether tracefs has the event.
bool event_exists(const char* event);

/// Waits until the kernel has removed the event, a second after its last use. False after a minute.
bool wait_until_removed(const char* event);
