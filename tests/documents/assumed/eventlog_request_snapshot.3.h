/* SPDX-License-Identifier: MIT */
#include <eventlog/abi.h>

extern unsigned milliseconds;
extern const unsigned deadline;
