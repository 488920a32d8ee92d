/* SPDX-License-Identifier: MIT */
#include <eventlog/abi.h>
