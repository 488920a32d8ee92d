/* SPDX-License-Identifier: MIT */
#include <eventlog/eventlog.h>

extern struct eventlog_provider* database;
extern const char* sql;
uint32_t run(const char* statement);
