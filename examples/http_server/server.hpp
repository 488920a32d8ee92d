// SPDX-License-Identifier: MIT
//
// Takes connections, and tells who comes late to listen which ones there are.
#pragma once

#include <cstdint>

/// Serves that many requests. Throws std::runtime_error if the port cannot be had.
void serve(std::uint16_t port, std::uint64_t requests_max);
