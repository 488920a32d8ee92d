// SPDX-License-Identifier: MIT
//
// Prints the filters of an event after the kernel has rejected one, in the top instance and in an
// instance of elog: both must be empty.
#include <cstdio>
#include <exception>
#include <string>

#include "kernel/error.hpp"
#include "kernel/event_control.hpp"
#include "kernel/instance.hpp"

namespace {

namespace tracefs = eventlog::tracefs;

const tracefs::event_name event{"sched", "sched_switch"};
// The kernel would keep it, with its error marked.
const std::string rejected = "common_type != 0 && no_such_field == 1";

void show(const char* instance_kind, bool was_accepted, const std::string& instance) {
    const tracefs::event_state state = tracefs::event_control(instance).state_of(event);
    std::printf("%s: %s, '%s'\n", instance_kind, was_accepted ? "accepted" : "rejected",
                state.filter.c_str());
}

bool is_accepted() {
    try {
        tracefs::event_control("").filter(event, rejected);
        return true;
    } catch (const tracefs::error&) {
        return false;
    }
}

void run() {
    show("top", is_accepted(), "");
    tracefs::instance own({});
    show("own", own.filter(event, rejected), own.name());
}

}  // namespace

int main() {
    try {
        run();
    } catch (const std::exception& problem) {
        std::printf("%s\n", problem.what());
        return 1;
    }
}
