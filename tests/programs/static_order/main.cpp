// SPDX-License-Identifier: MIT
//
// Emits in every phase of a program, including those in which its provider is not published, and
// prints for each whether the event was enabled.
#include <cstdio>
#include <cstdlib>

#include "emit_points.hpp"

namespace {

using static_order::emit_point;

void emit(const char* name) {
    std::printf("%s %s\n", static_order::provider::enabled<emit_point>() ? "enabled" : "disabled",
                name);
    static_order::provider::emit(emit_point{name});
}

class ordinary {
  public:
    ordinary() { emit("constructor"); }
    ordinary(const ordinary&) = delete;
    ordinary& operator=(const ordinary&) = delete;
    ~ordinary() { emit("destructor"); }
};

const ordinary instance;

}  // namespace

int main() {
    static_cast<void>(std::atexit([] { emit("atexit"); }));
    static const ordinary local;
    emit("main");
}
