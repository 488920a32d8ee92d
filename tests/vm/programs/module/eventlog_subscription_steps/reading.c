// SPDX-License-Identifier: MIT
//
// Enable bits, reads and waiting.
#include <errno.h>
#include <linux/eventlog_device.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device_client.h"
#include "device_steps.h"
#include "module/eventlog_subscription_steps/subscription.h"
#include "module/eventlog_subscription_steps/trials.h"
#include "record_stream.h"

void set_subscribed_bits(void) {
    step("a pattern without a NUL is rejected",
         subscribe(device, &(struct subscription_request){.unterminated_pattern = true}) == EINVAL);
    const int first = subscribe_or_exit(&(struct subscription_request){.event = "small"});
    step("the bit of the subscribed event is set", (word >> enable_bit & 1U) != 0);
    step("the bit of the other event is not", (word >> 29U & 1U) == 0);
    step("the other event cannot be written", !write_event(index_large, 1) && errno == EBADF);
    const int second =
        subscribe_or_exit(&(struct subscription_request){.event = "l*e", .level = 4});
    step("a subscription by pattern sets its bit", (word >> 29U & 1U) != 0);
    (void)close(second);
    step("the end of the last subscription clears the bit", (word >> 29U & 1U) == 0);
    const int third = subscribe_or_exit(&(struct subscription_request){.level = 3});
    step("levels are filtered", (word >> 29U & 1U) == 0);
    (void)close(third);
    const int fourth = subscribe_or_exit(&(struct subscription_request){.keywords = 1});
    step("keywords are filtered", (word >> 29U & 1U) == 0);
    (void)close(fourth);
    const int fifth =
        subscribe_or_exit(&(struct subscription_request){.pid = (uint32_t)getpid() + 1});
    step("processes are filtered", write_event(index_small, 1) && read(fifth, bytes, room) < 0);
    (void)close(fifth);
    (void)close(first);
    step("all bits are cleared", word == 0);
}

void read_whole_records(void) {
    const int reader = subscribe_or_exit(&(struct subscription_request){0});
    step("there are no records", read(reader, bytes, room) == -1 && errno == EAGAIN);
    step("two are written",
         run_on(0) && write_event(index_large, 1) && write_event(index_small, 2));
    step("the first record does not fit", read(reader, bytes, 64) == -1 && errno == EMSGSIZE);
    struct eventlog_statistics counts = statistics(reader, EVENTLOG_ALL_RINGS);
    step("the statistics have its size, with its marker",
         counts.next_size == marker_size + large_record);
    step("and it stays unread", counts.recorded == 2 && counts.read == 0 && counts.lost == 0);
    const ssize_t size = marker_size + large_record;
    step("it is read alone", read(reader, bytes, (size_t)size + 23) == size);
    const struct stream_item record = first_record(bytes, (size_t)size);
    step("it has its values", record.size == 4000 && record.kind == EVENTLOG_KIND_EXTENDED &&
                                  record.event == 2 && record.flags == 0 &&
                                  record.thread == (uint32_t)getpid() && item_value(&record) == 1);
    step("the second record follows",
         read_records(reader) == 1 && are_bytes(first_small_record) && value_of(0) == 2);
    const struct stream_item small = first_record(bytes, marker_size + first_small_record);
    step("with its own event", small.kind == EVENTLOG_KIND_CONTEXT && small.event == 1 &&
                                   small.thread == (uint32_t)getpid() && small.time >= record.time);
    counts = statistics(reader, EVENTLOG_ALL_RINGS);
    step("both count as read", counts.read == 2 && counts.next_size == 0);
    (void)close(reader);
}

/// A read has a marker with the context of its first records.
void read_in_parts(void) {
    enum { part = marker_size + first_small_record };  // less than two records
    const int reader = subscribe_or_exit(&(struct subscription_request){.event = "small"});
    uint64_t last_time = 0;
    step("one CPU", run_on(0));
    for (uint64_t a = 0; a < 5; ++a) {
        step("one is written", write_event(index_small, a));
    }
    for (uint64_t a = 0; a < 5; ++a) {
        const ssize_t size = read(reader, bytes, part);
        const struct stream_item item = first_record(bytes, size > 0 ? (size_t)size : 0);
        // The upper half of the time may have changed between two of them.
        const bool begins = a == 0 || item.time >> 32U != last_time >> 32U;
        step("one fits", size == (begins ? part : part - 8));
        step("it has its context",
             item.kind == (begins ? EVENTLOG_KIND_CONTEXT : EVENTLOG_KIND_SHORT) &&
                 item_value(&item) == a && item.thread == (uint32_t)getpid() &&
                 item.time >= last_time);
        last_time = item.time;
    }
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t present = (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
    step("the time is the present one", present - last_time < UINT64_C(60000000000));
    (void)close(reader);
}

void read_to_the_end_of_memory(void) {
    const int reader = subscribe_or_exit(&(struct subscription_request){0});
    unsigned char* pages =
        mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    step("memory ends", pages != MAP_FAILED && munmap(pages + 4096, 4096) == 0 && run_on(0));
    step("three are written",
         write_event(index_small, 1) && write_event(index_large, 2) && write_event(index_small, 3));
    unsigned char* const end = pages + 4096 - 96;
    const ssize_t size = marker_size + first_small_record;
    step("one record fits", read(reader, end, 8192) == size);
    const struct stream_item first = first_record(end, (size_t)size);
    step("as it was written", item_value(&first) == 1);
    step("the next record does not fit", read(reader, end, 8192) == -1 && errno == EFAULT);
    step("nor does a marker alone",
         read(reader, pages + 4096 - marker_size, 8192) == -1 && errno == EFAULT);
    step("the remaining two are read whole", read_records(reader) == 2 &&
                                                 are_bytes(large_record + small_record) &&
                                                 value_of(0) == 2 && value_of(1) == 3);
    (void)munmap(pages, 4096);
    (void)close(reader);
}

void read_past_large_record(void) {
    enum { little = marker_size + first_small_record };
    const int reader = subscribe_or_exit(&(struct subscription_request){0});
    step("one CPU has a large one", run_on(0) && write_event(index_large, 1));
    step("another has small ones", run_on(1) && write_event(index_small, 2));
    step("the small ones are read", read(reader, bytes, little) == little);
    const struct stream_item small = first_record(bytes, little);
    step("of their CPU", item_value(&small) == 2 && small.cpu == 1);
    step("the large one stays", read(reader, bytes, little) == -1 && errno == EMSGSIZE);
    step("more small ones", write_event(index_small, 3) && read(reader, bytes, little) > 0);
    step("a larger read returns the large one",
         read_records(reader) == 1 && are_bytes(large_record) && value_of(0) == 1);
    (void)close(reader);
}

static int64_t milliseconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void wait_for_records(void) {
    int reader = subscribe_or_exit(&(struct subscription_request){.blocking = true, .timeout = 50});
    const int64_t begin = milliseconds();
    step("a read ends when its time is over",
         read(reader, bytes, room) == -1 && errno == EAGAIN && milliseconds() - begin >= 50);
    (void)close(reader);
    reader = subscribe_or_exit(&(struct subscription_request){.blocking = true});
    struct pollfd polled = {.fd = reader, .events = POLLIN};
    step("nothing to be polled", poll(&polled, 1, 0) == 0);
    const int all = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    step("epoll accepts it", epoll_ctl(all, EPOLL_CTL_ADD, reader, &event) == 0);
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        (void)usleep(100000);
        _exit(write_event(index_small, 7) ? 0 : 1);
    }
    step("a read waits for a record", read_records(reader) == 1 && value_of(0) == 7);
    int status = -1;
    step("the writing process succeeds", waitpid(child, &status, 0) == child && status == 0);
    step("one more", write_event(index_small, 8));
    step("is polled", poll(&polled, 1, 60000) == 1 && (polled.revents & POLLIN) != 0);
    step("also by epoll", epoll_wait(all, &event, 1, 60000) == 1);
    step("and read", read_records(reader) == 1);
    step("then there is no record", poll(&polled, 1, 0) == 0 && epoll_wait(all, &event, 1, 0) == 0);
    (void)close(all);
    (void)close(reader);
}

void wait_for_edges(void) {
    const int reader = subscribe_or_exit(&(struct subscription_request){0});
    const int all = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET};
    step("epoll accepts it with edges", epoll_ctl(all, EPOLL_CTL_ADD, reader, &event) == 0);
    for (uint64_t value = 0; value < 3; ++value) {
        step("one is written", write_event(index_small, value));
        step("epoll reports it", epoll_wait(all, &event, 1, 60000) == 1);
        step("once, while it stays unread", epoll_wait(all, &event, 1, 100) == 0);
        step("it is read", read_records(reader) == 1 && value_of(0) == value);
        step("and there are no more", read(reader, bytes, room) == -1 && errno == EAGAIN);
    }
    (void)close(all);
    (void)close(reader);
}
