// SPDX-License-Identifier: MIT
//
// expect: returns a std::string, std::vector or large array by value
#include <string>

#include <eventlog/eventlog.hpp>

struct person {
    std::string first;
    std::string last;
};

template <>
struct eventlog::convert<person> {
    static std::string to_field(const person& who) { return who.first + " " + who.last; }
};

struct greeted {
    person who;
};

void emit_it(const greeted& event) {
    eventlog::provider<"bad", greeted>::emit(event);
}
