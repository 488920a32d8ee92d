// SPDX-License-Identifier: MIT
//
// Requests for the state of running programs, for recordings that the kernel cannot address alone.
#pragma once

#include <vector>

#include "schema/provider_schema.hpp"

namespace elog {

/// Asks the running programs with one of these providers, of all users that this one may act for,
/// to emit their state to all listeners in the kernel. Does not wait for their next emit. Prints
/// how many providers were asked, and which places could not be. To be called before there are
/// threads.
void request_state(const std::vector<provider_instance>& providers);

}  // namespace elog
