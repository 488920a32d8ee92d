/* SPDX-License-Identifier: MIT */
#include <eventlog/eventlog.h>

enum { queue_length };
extern struct eventlog_provider* printer;
