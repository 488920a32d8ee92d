// SPDX-License-Identifier: MIT
//
// Accepts connections, and emits the open ones for new listeners.
#pragma once

#include <cstdint>

/// Serves that many requests. Throws std::runtime_error if it cannot listen on the port.
void serve(std::uint16_t port, std::uint64_t requests_max);
