// SPDX-License-Identifier: MIT
#include <elog/error.hpp>

namespace elog {

// Here, so that it has one place: whoever catches it compares its type.
error::~error() = default;

}  // namespace elog
