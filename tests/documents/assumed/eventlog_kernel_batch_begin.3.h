/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <stdint.h>

#include <eventlog/eventlog.h>

extern struct eventlog_provider* shop;
extern const uint32_t order_shipped;
extern const uint64_t* orders;
extern size_t count;
