// SPDX-License-Identifier: MIT
#pragma once

#include <stdint.h>

// The processes that run until the time is over.

/// Calls at random with several threads, without capabilities. `process` determines the seeds.
void run_caller(uintptr_t process);

/// Enables, filters and reads events through tracefs.
void run_tracer(void);
/// Ends all tracing. The kernel keeps events that are traced.
void stop_tracing(void);

/// Turns a processor off and on, and tries to unload the module.
void run_disturber(void);
