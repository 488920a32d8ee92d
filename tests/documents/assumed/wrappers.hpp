// SPDX-License-Identifier: MIT
#include <cstdint>

#include <eventlog/eventlog.hpp>
