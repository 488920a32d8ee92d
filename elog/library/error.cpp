// SPDX-License-Identifier: MIT
//
// Implements elog/error.hpp.
#include <elog/error.hpp>

namespace elog {

// Defined here so that the type information exists once: a catch clause compares it.
error::~error() = default;

}  // namespace elog
