/* SPDX-License-Identifier: MIT */
#include <sched.h>

#include <eventlog/abi.h>

extern struct eventlog_provider* provider;
