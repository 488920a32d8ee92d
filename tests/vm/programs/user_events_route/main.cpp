// SPDX-License-Identifier: MIT
//
// Emits events of a libeventlog provider through user_events and prints how tracefs shows them, as
// root. The test compares the output.
//
// Kernels before Linux 6.4 have a page of status bits instead of writing to gates; code that
// differs for them depends on has_page.
#include "steps.hpp"
#include "user_events_route/checks.hpp"

using namespace route_steps;

int main() {
    set_file(TRACING "buffer_size_kb", "16384");
    clear_trace();
    check_fields();
    check_many();
    check_end_of_listening();
    check_sizes();
    check_fork();
    check_versions();
    check_names();
    check_permission();
    check_limit();
    check_lost_descriptor();
    check_lost_descriptors_of_two();
    return 0;
}
