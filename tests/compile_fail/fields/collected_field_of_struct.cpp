// SPDX-License-Identifier: MIT
//
// expect: a field is read as a number, bool, enumeration, text or std::vector of elements
#include <eventlog/collector.hpp>

struct place {
    int x;
    int y;
};

bool has_place(const eventlog::collected_event& event) {
    return event.get<place>("at").has_value();
}
