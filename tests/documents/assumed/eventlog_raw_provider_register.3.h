/* SPDX-License-Identifier: MIT */
#include <sched.h>

#include <eventlog/abi.h>

struct connection;
extern struct eventlog_provider* net;
extern struct connection* connections;
void emit_all_current(struct connection* connections);
