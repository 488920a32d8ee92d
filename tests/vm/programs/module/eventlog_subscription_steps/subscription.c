// SPDX-License-Identifier: MIT
#include "module/eventlog_subscription_steps/subscription.h"

#include <linux/eventlog_device.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "device_client.h"
#include "device_steps.h"
#include "record_stream.h"

unsigned char bytes[room];
uint32_t index_small;
uint32_t index_large;
uint64_t words_of_many[32];

void publish_two(void) {
    step("two events are registered",
         register_at("listen_small u64 a", &word, enable_bit, &index_small) == 0 &&
             register_at("listen_large u64 a; struct block b 3992", &word, 29, &index_large) == 0);
    const struct eventlog_published_event offers[] = {
        {.write_index = index_small, .event = 0, .level = 3, .name = "small"},
        {.write_index = index_large, .event = 1, .level = 4, .keywords = 2, .name = "large"},
    };
    uint32_t number = 0;
    step("and published", publish(device, "listen", offers, 2, &number) == 0 && number != 0);
}

bool write_event(uint32_t index, uint64_t a) {
    unsigned char event[4 + 4000] = {0};
    memcpy(event, &index, sizeof index);
    memcpy(event + 4, &a, sizeof a);
    const size_t size = index == index_small ? 12 : sizeof event;
    return write(device, event, size) == (ssize_t)size;
}

void write_large_or_exit(uint64_t a) {
    if (!write_event(index_large, a)) {
        step("the event is written", false);
    }
}

/// Bytes of the last read.
static size_t bytes_read;

ssize_t read_records(int file) {
    const ssize_t size = read(file, bytes, sizeof bytes);
    ssize_t count = 0;
    bytes_read = size > 0 ? (size_t)size : 0;
    if (size < 0) {
        return -1;
    }
    struct record_stream stream = {.at = bytes, .left = bytes_read};
    struct stream_item item;
    while (next_item(&stream, &item)) {
        count += !item.is_run;
        if (item.is_run && (item.run.lost != 0 || item.run.overwritten != 0)) {
            step("nothing is lost", false);
        }
    }
    step("the records are whole", !stream.damaged);
    return count;
}

uint64_t value_of(ssize_t index) {
    struct record_stream stream = {.at = bytes, .left = bytes_read};
    struct stream_item item;
    while (next_item(&stream, &item)) {
        if (!item.is_run && index-- == 0) {
            return item_value(&item);
        }
    }
    return UINT64_MAX;
}

bool are_bytes(size_t size) {
    return bytes_read == marker_size + size || bytes_read == marker_size + size + 8;
}
