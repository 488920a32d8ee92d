// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Requests the targets over one connection, and prints the first line of each response. Throws
/// std::runtime_error if the server does not respond.
void send_requests(std::uint16_t port, const std::vector<std::string>& targets);
