/* SPDX-License-Identifier: MIT */
#include <sched.h>

#include <eventlog/abi.h>

struct connection;
extern struct eventlog_provider* net;
extern struct connection* connections;
void announce_all(struct connection* connections);
