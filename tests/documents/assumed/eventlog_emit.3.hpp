// SPDX-License-Identifier: MIT
#include <eventlog/dynamic_provider.hpp>

extern const eventlog_definition definition;
