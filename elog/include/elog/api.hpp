// SPDX-License-Identifier: MIT
//
// The marker of symbols that the shared library exports.
#pragma once

#define ELOG_API [[gnu::visibility("default")]]
