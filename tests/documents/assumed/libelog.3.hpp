// SPDX-License-Identifier: MIT
#include <poll.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include <elog/elog.hpp>
