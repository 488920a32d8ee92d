// SPDX-License-Identifier: MIT
#include <eventlog/eventlog.hpp>
