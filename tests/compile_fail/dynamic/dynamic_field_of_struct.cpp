// SPDX-License-Identifier: MIT
//
// expect: a field of a dynamic event needs a type that is a single field
#include <eventlog/dynamic_definition.hpp>

struct point {
    int x;
    int y;
};

auto make() {
    return eventlog::definition("shapes").event("moved").field<point>("to");
}
