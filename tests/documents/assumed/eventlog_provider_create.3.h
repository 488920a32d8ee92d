/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include <eventlog/eventlog.h>
