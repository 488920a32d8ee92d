// SPDX-License-Identifier: MIT
//
// Batches of events.
#include <errno.h>
#include <linux/eventlog_device.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "device_client.h"
#include "device_steps.h"
#include "module/eventlog_subscription_steps/subscription.h"
#include "module/eventlog_subscription_steps/trials.h"
#include "record_stream.h"

enum { many = 4000, writes_of_many = 8 };
/// Size of a small event in a batch.
static const size_t small_entry = 16;

void write_batch(void) {
    const int reader = subscribe_or_exit(&(struct subscription_request){.event = "small"});
    struct {
        uint32_t first, zero;
        struct {
            struct eventlog_batch_entry entry;
            uint64_t a;
        } of[1000];
    } batch = {.first = EVENTLOG_BATCH};
    for (uint32_t i = 0; i < 1000; ++i) {
        batch.of[i].entry = (struct eventlog_batch_entry){.write_index = index_small, .size = 8};
        batch.of[i].a = i;
    }
    step("a thousand events in one write", write(device, &batch, sizeof batch) == sizeof batch);
    struct read_totals read_totals = {0};
    read_all(reader, &read_totals);
    step("are a thousand records", read_totals.records == 1000 && read_totals.last_value == 999);
    batch.of[10].entry.write_index = 999;
    step("the entries in front of an invalid one are written",
         write(device, &batch, sizeof batch) == 8 + 10 * (ssize_t)sizeof batch.of[0]);
    batch.of[0].entry.size = UINT32_MAX;
    step("a size that is too large is rejected",
         write(device, &batch, sizeof batch) == -1 && errno == EINVAL);
    (void)close(reader);
}

/// Writes an entry of a batch, without padding; returns its end.
static unsigned char* put_entry(unsigned char* to, uint32_t index, uint32_t size, uint64_t a) {
    const struct eventlog_batch_entry entry = {.write_index = index, .size = size};
    memcpy(to, &entry, sizeof entry);
    memset(to + sizeof entry, 0, size);
    memcpy(to + sizeof entry, &a, sizeof a);  // no payload is smaller
    return to + sizeof entry + size;
}

void write_mixed_batch(void) {
    static unsigned char batch[1 << 16];
    const int reader = subscribe_or_exit(&(struct subscription_request){0});
    step("one CPU", run_on(0));
    const uint32_t head[2] = {EVENTLOG_BATCH, 0};
    memcpy(batch, head, sizeof head);
    unsigned char* end = batch + sizeof head;
    uint64_t a = 0;
    for (int rounds = 0; rounds < 5; ++rounds) {
        for (int small = 0; small < 100; ++small) {
            end = put_entry(end, index_small, 8, ++a);
        }
        end = put_entry(end, index_large, 4000, ++a);
    }
    // A payload may be longer than the event's fields. The last one needs no padding.
    end = put_entry(end, index_small, 13, ++a);
    step("different events are written",
         write(device, batch, (size_t)(end - batch)) == end - batch);
    const ssize_t size = read(reader, bytes, room);
    uint64_t expected = 0;
    bool right = size > 0;
    struct record_stream stream = {.at = bytes, .left = size > 0 ? (size_t)size : 0};
    struct stream_item item;
    while (next_item(&stream, &item)) {
        right = right && (item.is_run ||
                          (item_value(&item) == ++expected && item.thread == (uint32_t)getpid() &&
                           item.event == (item.size == 4000 ? 2 : 1)));
    }
    step("and read in their order", right && !stream.damaged && expected == a);
    (void)close(reader);
}

void write_to_the_end_of_memory(void) {
    const int reader = subscribe_or_exit(&(struct subscription_request){0});
    step("one CPU", run_on(0));
    unsigned char* pages =
        mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    step("memory ends", pages != MAP_FAILED && munmap(pages + 4096, 4096) == 0);
    unsigned char* batch = pages + 4096 - 8 - 3 * small_entry - 8;
    unsigned char* end = batch;
    const uint32_t head[2] = {EVENTLOG_BATCH, 0};
    memcpy(end, head, sizeof head);
    end += sizeof head;
    for (uint64_t a = 1; a <= 3; ++a) {
        end = put_entry(end, index_small, 8, a);
    }
    const struct eventlog_batch_entry fourth = {.write_index = index_small, .size = 8};
    memcpy(end, &fourth, sizeof fourth);
    step("three of four are written",
         write(device, batch, 8 + 4 * small_entry) == (ssize_t)(8 + 3 * small_entry));
    step("and read", read_records(reader) == 3 &&
                         are_bytes(first_small_record + 2 * small_record) && value_of(2) == 3);
    // One entry whose padding is cut by the end of memory.
    batch = pages + 4096 - 8 - 8 - 13 - 1;
    memcpy(batch, head, sizeof head);
    (void)put_entry(batch + sizeof head, index_small, 13, 4);
    step("an entry with a part of its padding is written",
         write(device, batch, 8 + 8 + 13 + 2) == 8 + 8 + 13 + 2);
    step("and read", read_records(reader) == 1 && are_bytes(small_record + 8) && value_of(0) == 4);
    (void)munmap(pages, 4096);
    (void)close(reader);
}

void write_batch_of_texts(void) {
    uint32_t index = 0;
    uint32_t number = 0;
    step("an event with a text is registered",
         register_at("listen_text __rel_loc char[] t", &words_of_many[0], 0, &index) == 0);
    const struct eventlog_published_event offer = {
        .write_index = index, .level = 3, .name = "text"};
    step("and published", publish(device, "texts", &offer, 1, &number) == 0);
    const int reader = subscribe_or_exit(&(struct subscription_request){.event = "text"});
    step("one CPU", run_on(0));
    struct {
        uint32_t first, zero;
        struct {
            struct eventlog_batch_entry entry;
            uint16_t distance, length;
            char text[4];
        } of[5];
    } batch = {.first = EVENTLOG_BATCH};
    for (int each = 0; each < 5; ++each) {
        batch.of[each].entry = (struct eventlog_batch_entry){.write_index = index, .size = 8};
        batch.of[each].length = 4;
        memcpy(batch.of[each].text, "abc", 4);
    }
    step("texts are written", write(device, &batch, sizeof batch) == sizeof batch);
    step("and read", read_records(reader) == 5 && are_bytes(first_small_record + 4 * small_record));
    batch.of[3].length = 5;
    step("the events in front of one that points outside are written",
         write(device, &batch, sizeof batch) == (ssize_t)(8 + 3 * small_entry));
    step("and read, too", read_records(reader) == 3);
    (void)close(reader);
    step("the text is unpublished", unpublish(device, number) == 0);
}

void write_timed_batch(void) {
    const int reader = subscribe_or_exit(&(struct subscription_request){.event = "small"});
    step("one CPU", run_on(0));
    struct {
        uint32_t first, flags;
        struct {
            struct eventlog_timed_entry entry;
            uint64_t a;
        } of[4];
    } batch = {.first = EVENTLOG_BATCH, .flags = EVENTLOG_BATCH_TIMED};
    static const uint64_t times[4] = {17, 5, 0, UINT64_MAX};
    for (int each = 0; each < 4; ++each) {
        batch.of[each].entry = (struct eventlog_timed_entry){
            .write_index = index_small, .size = 8, .time = times[each]};
    }
    step("a timed batch is written", write(device, &batch, sizeof batch) == sizeof batch);
    // Records with their own times are extended, also within a run of short ones.
    step("and read", read_records(reader) == 4 && are_bytes(3 * (24 + 8) + first_small_record));
    struct record_stream stream = {.at = bytes, .left = sizeof bytes};
    struct stream_item item;
    step("behind a marker", next_item(&stream, &item) && item.is_run);
    for (int each = 0; each < 4; ++each) {
        const bool own = times[each] != 0;
        step(own ? "the record has the time of its entry" : "the record has the time of the write",
             next_item(&stream, &item) && item.flags == (own ? EVENTLOG_RECORD_CUSTOM_TIME : 0) &&
                 item.thread == (uint32_t)getpid() &&
                 (own ? item.time == times[each] : item.time > 17));
    }
    const ssize_t single = 8 + (ssize_t)sizeof batch.of[0];
    step("a timed batch of one event is written",
         write(device, &batch, (size_t)single) == single && read_records(reader) == 1);
    step("an empty batch is accepted", write(device, &batch, 8) == 8);
    step("half an entry is rejected", write(device, &batch, 8 + 15) == -1 && errno == EINVAL);
    batch.flags = 4;
    step("unknown flags are rejected",
         write(device, &batch, sizeof batch) == -1 && errno == EINVAL);
    (void)close(reader);
}

void lose_timed_events(void) {
    static struct {
        uint32_t first, flags;
        struct {
            struct eventlog_timed_entry entry;
            uint64_t a;
        } of[1000];
    } batch = {.first = EVENTLOG_BATCH, .flags = EVENTLOG_BATCH_TIMED};
    const int reader = subscribe_or_exit(&(struct subscription_request){.event = "small"});
    step("the last CPU", run_on(1));
    for (int each = 0; each < 1000; ++each) {
        batch.of[each].entry = (struct eventlog_timed_entry){
            .write_index = index_small, .size = 8, .time = UINT64_MAX};
    }
    bool all_written = true;
    while (all_written && statistics(reader, 1).lost == 0) {
        all_written = write(device, &batch, sizeof batch) == sizeof batch;
    }
    step("events are lost", all_written);
    // Each read makes room for an event behind the gap while more records are unread.
    uint64_t gaps = 0;
    bool has_entry_time = false;
    bool is_last = false;
    bool is_of_cpu = true;
    for (ssize_t size = 1; size > 0;) {
        size = read(reader, bytes, 4096);
        struct record_stream stream = {.at = bytes, .left = size > 0 ? (size_t)size : 0};
        for (struct stream_item item; next_item(&stream, &item);) {
            is_of_cpu &= item.cpu == 1 && stream.ring == 1;
            is_last = item.is_run;
            if (item.is_run && item.run.lost != 0) {
                ++gaps;
                has_entry_time |= item.run.time == UINT64_MAX;
            }
        }
        if (gaps == 0 && size > 0) {
            (void)write(device, &batch, 8 + sizeof batch.of[0]);
        }
    }
    step("a gap is in front of an event", gaps != 0 && !is_last);
    step("and does not have a time of an entry", !has_entry_time);
    step("all records are of that CPU", is_of_cpu);
    (void)close(reader);
}

void overflow_with_batches(void) {
    static unsigned char batch[8 + many * 16];
    const int reader = subscribe_or_exit(&(struct subscription_request){.event = "small"});
    const uint32_t head[2] = {EVENTLOG_BATCH, 0};
    memcpy(batch, head, sizeof head);
    unsigned char* end = batch + sizeof head;
    for (uint64_t a = 1; a <= many; ++a) {
        end = put_entry(end, index_small, 8, a);
    }
    step("one CPU", run_on(0));
    for (int writes = 0; writes < writes_of_many; ++writes) {
        step("the batch is accepted", write(device, batch, sizeof batch) == sizeof batch);
    }
    struct read_totals read_totals = {0};
    read_all(reader, &read_totals);
    step("all are read or counted",
         read_totals.lost != 0 && read_totals.records != 0 &&
             read_totals.records + read_totals.lost == (uint64_t)many * writes_of_many);
    (void)close(reader);
}
