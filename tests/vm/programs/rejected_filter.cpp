// SPDX-License-Identifier: MIT
//
// A filter that the kernel refuses leaves none behind, in an instance of somebody else's and in one
// of our own. Prints what stands there then.
#include <cstdio>
#include <exception>
#include <string>

#include "kernel/error.hpp"
#include "kernel/event_control.hpp"
#include "kernel/instance.hpp"

namespace {

namespace tracefs = eventlog::tracefs;

const tracefs::event_name event{"sched", "sched_switch"};
// The kernel would keep it with a mistake marked in it.
const std::string refused = "common_type != 0 && no_such_field == 1";

void show(const char* whose, bool was_taken, const std::string& instance) {
    const tracefs::event_state state = tracefs::event_control(instance).state_of(event);
    std::printf("%s: %s, '%s'\n", whose, was_taken ? "taken" : "refused", state.filter.c_str());
}

bool is_taken() {
    try {
        tracefs::event_control("").filter(event, refused);
        return true;
    } catch (const tracefs::error&) {
        return false;
    }
}

void run() {
    show("others", is_taken(), "");
    tracefs::instance ours({});
    show("ours", ours.filter(event, refused), ours.name());
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
