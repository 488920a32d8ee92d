// SPDX-License-Identifier: MIT
//
// expect: returns a std::string, std::vector or large array by value
#include <vector>

#include <eventlog/eventlog.hpp>

struct person {
    int year;
};

template <>
struct eventlog::convert<person> {
    static std::vector<int> to_field(const person& who) { return {who.year}; }
};

struct greeted {
    person who;
};

void emit_it(const greeted& event) {
    eventlog::provider<"bad", greeted>::emit(event);
}
