// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Asks a server for these, over one connection, and prints the first line of each answer. Throws
/// std::runtime_error if it does not answer.
void ask(std::uint16_t port, const std::vector<std::string>& targets);
