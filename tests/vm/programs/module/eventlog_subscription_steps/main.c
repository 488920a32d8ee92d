// SPDX-License-Identifier: MIT
//
// Tests subscriptions through /dev/eventlog of the kernel module as root: whole records, gaps at
// their place, waiting, the mapping, batches, dumps of state, and which users' events a
// subscription receives.
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "device_client.h"
#include "device_steps.h"
#include "module/eventlog_subscription_steps/subscription.h"
#include "module/eventlog_subscription_steps/trials.h"

int main(void) {
    device = open_device();
    step("the device can be opened", device >= 0);
    step("a file without a subscription cannot be read",
         read(device, bytes, room) == -1 && errno == EINVAL);
    publish_two();
    set_subscribed_bits();
    read_whole_records();
    read_in_parts();
    read_to_the_end_of_memory();
    read_past_large_record();
    wait_for_records();
    wait_for_edges();
    check_discard_mode();
    check_overwrite_mode();
    end_and_read_the_rest();
    end_during_wait();
    map_for_reading();
    write_batch();
    write_mixed_batch();
    write_to_the_end_of_memory();
    write_batch_of_texts();
    write_timed_batch();
    lose_timed_events();
    overflow_with_batches();
    dump_to_one_listener();
    notify_of_listeners();
    notify_publisher_alone();
    record_only_own_processes();
    stay_within_limits();
    unpublish_provider();
    share_equal_schemas();
    fail_without_result();
    publish_again_at_the_limit();
    (void)close(device);
    puts("ok: all subscription steps");
    return 0;
}
