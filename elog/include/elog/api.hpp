// SPDX-License-Identifier: MIT
//
// What libelog lets out of the shared library.
#pragma once

#define ELOG_API [[gnu::visibility("default")]]
