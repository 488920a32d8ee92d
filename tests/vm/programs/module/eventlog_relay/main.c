// SPDX-License-Identifier: MIT
//
// Tests relay channels of the kernel module as root on two processors: creating, writing, reading,
// mapping and losses. The numbers of steps are those of the list in test_relay.py.
#include <sched.h>
#include <string.h>

#include "module/eventlog_relay/channel.h"
#include "module/eventlog_relay/trials.h"
#include "steps.h"

int main(int count, char** arguments) {
    pin(0);
    if (count > 1 && strcmp(arguments[1], "held") == 0) {
        try_open_buffer();
        return 0;
    }
    try_options();
    try_files();
    try_discard();
    try_mapped();
    try_overwrite();
    try_global();
    try_hidden();
    try_hotplug();
    try_bad_batches();
    try_reading_and_consuming();
    try_waiting_for_the_end();
    try_reading_at_length();
    open_concurrently();
    cpu_set_t both;
    CPU_ZERO(&both);
    CPU_SET(0, &both);
    CPU_SET(1, &both);
    (void)sched_setaffinity(0, sizeof both, &both);
    conserve(0);
    conserve(overwrite);
    try_killed();
    step("all relay steps", true);
    return 0;
}
