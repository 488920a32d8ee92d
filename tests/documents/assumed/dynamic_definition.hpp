// SPDX-License-Identifier: MIT
#include <cstdint>
#include <string_view>

#include <eventlog/dynamic_definition.hpp>
#include <eventlog/dynamic_provider.hpp>
