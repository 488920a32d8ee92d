/* SPDX-License-Identifier: MIT */
#include <eventlog/eventlog.h>

extern struct eventlog_provider* shop;
