// SPDX-License-Identifier: MIT
//
// expect: returns a type that is not a field
#include <list>

#include <eventlog/eventlog.hpp>

struct person {
    std::list<int> years;
};

template <>
struct eventlog::convert<person> {
    static const std::list<int>& to_field(const person& who) { return who.years; }
};

struct greeted {
    person who;
};

void emit_it(const greeted& event) {
    eventlog::provider<"bad", greeted>::emit(event);
}
