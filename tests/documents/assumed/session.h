/* SPDX-License-Identifier: MIT */
#include <stddef.h>

#include <eventlog/session.h>

extern struct eventlog_provider* net;
