/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include <eventlog/collector.h>
