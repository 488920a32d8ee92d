// SPDX-License-Identifier: MIT
//
// Emits before the provider is published, and after it is unregistered.
#include <cstdlib>

#include "emit_points.hpp"

namespace {

using static_order::emit_point;

class earliest {
  public:
    earliest() {
        static_order::provider::emit(emit_point{"before all constructors"});
        // Runs after the destruction of all later objects.
        static_cast<void>(std::atexit(
            [] { static_order::provider::emit(emit_point{"atexit, registered first"}); }));
    }
    earliest(const earliest&) = delete;
    earliest& operator=(const earliest&) = delete;
    ~earliest() { static_order::provider::emit(emit_point{"after all destructors"}); }
};

[[gnu::init_priority(101)]] const earliest instance;

}  // namespace
