// SPDX-License-Identifier: MIT
#include <cstdint>
#include <iostream>

#include <eventlog/collector.hpp>

void run();
