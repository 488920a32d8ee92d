// SPDX-License-Identifier: MIT
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "steps.h"
#include "user_events_abi.h"

// What programs share that try /dev/eventlog of the kernel module, as root. Single-threaded. It is
// spoken to as user_events are, with declarations of its own, so that they prove to be the same.

#define OUR_EVENTS TRACING "events/eventlog/"
#define PARAMETERS "/sys/module/eventlog/parameters/"

enum { enable_bit = 30 };

/// The one that most steps use.
extern int device;
/// On a page of its own.
extern volatile uint64_t word;

int open_device(void);

/// Closes the device, and opens it anew.
void reopen_device(void);

/// A registration of an event for enable_bit of `word`.
struct user_events_registration registration_of(const char* description);

/// Through `device`. 0 or an errno.
int try_registration(struct user_events_registration* wanted);
int unregister_bit(const volatile void* address, uint8_t which);
int delete_event(const char* name);

/// The same for a description and a word; `index`, if there is one, gets the event's number.
int register_at(const char* description, volatile void* address, uint8_t which, uint32_t* index);

/// Whether tracefs has the event.
bool event_exists(const char* event);

/// Waits for that: the kernel removes what nobody uses a second later. False after a minute.
bool wait_until_removed(const char* event);
