// SPDX-License-Identifier: MIT
//
// Tests the route through user_events over the life of a process and its memory. The first argument
// names the scenario; some scenarios wait for the script that runs them.
#include <cstdio>
#include <string_view>

#include "user_events_lifecycle/scenarios.hpp"

using namespace lifecycle;

namespace {

struct scenario {
    std::string_view name;
    void (*run)();
};
constexpr scenario scenarios[] = {
    {"fault", run_fault},
    {"absent-page", run_absent_page},
    {"listeners", run_listeners},
    {"stale-gate", run_stale_gate},
    {"toggling", run_toggling},
    {"single-format", run_single_format},
    {"spawning", run_spawning},
    {"shared-memory", run_shared_memory},
    {"exec", [] { run_exec(false); }},
    {"exec-again", [] { run_exec(true); }},
    {"late-mount", run_late_mount},
    {"multitude", run_multitude},
};

}  // namespace

int main(int argc, char** argv) {
    const std::string_view wanted = argc > 1 ? argv[1] : "";
    if (wanted == "unloading" && argc > 2) {
        run_unloading(argv[2]);
        return 0;
    }
    for (const scenario& each : scenarios) {
        if (each.name == wanted) {
            each.run();
            return 0;
        }
    }
    std::printf("There is no scenario %s. Name one of those in main.cpp.\n",
                argc > 1 ? argv[1] : "");
    return 2;
}
