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
    step("two are written", write_event(index_large, 1) && write_event(index_small, 2));
    step("the first record does not fit", read(reader, bytes, 32) == -1 && errno == EMSGSIZE);
    struct eventlog_statistics counts = statistics(reader, EVENTLOG_ALL_RINGS);
    step("the statistics have its size", counts.next_size == 24 + 4000);
    step("and it stays unread", counts.recorded == 2 && counts.read == 0 && counts.lost == 0);
    step("it is read alone", read(reader, bytes, 24 + 4000 + 31) == 24 + 4000);
    const struct eventlog_record* record = (const void*)bytes;
    step("it has its values", record->size == 24 + 4000 && record->event == 1 &&
                                  record->thread == (uint32_t)getpid() && value_of(bytes) == 1);
    step("the second record follows", read(reader, bytes, room) == 32 && value_of(bytes) == 2);
    counts = statistics(reader, EVENTLOG_ALL_RINGS);
    step("both count as read", counts.read == 2 && counts.next_size == 0);
    (void)close(reader);
}

void read_to_the_end_of_memory(void) {
    const int reader = subscribe_or_exit(&(struct subscription_request){0});
    unsigned char* pages =
        mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    step("memory ends", pages != MAP_FAILED && munmap(pages + 4096, 4096) == 0 && run_on(0));
    step("three are written",
         write_event(index_small, 1) && write_event(index_large, 2) && write_event(index_small, 3));
    step("one record fits",
         read(reader, pages + 4096 - 48, 8192) == 32 && value_of(pages + 4096 - 48) == 1);
    step("the next record does not fit",
         read(reader, pages + 4096 - 48, 8192) == -1 && errno == EFAULT);
    step("the remaining two are read whole", read(reader, bytes, room) == 4024 + 32 &&
                                                 value_of(bytes) == 2 &&
                                                 value_of(bytes + 4024) == 3);
    (void)munmap(pages, 4096);
    (void)close(reader);
}

void read_past_large_record(void) {
    const int reader = subscribe_or_exit(&(struct subscription_request){0});
    step("one CPU has a large one", run_on(0) && write_event(index_large, 1));
    step("another has small ones", run_on(1) && write_event(index_small, 2));
    step("the small ones are read", read(reader, bytes, 64) == 32 && value_of(bytes) == 2);
    step("the large one stays", read(reader, bytes, 64) == -1 && errno == EMSGSIZE);
    step("more small ones", write_event(index_small, 3) && read(reader, bytes, 64) == 32);
    step("a larger read returns the large one",
         read(reader, bytes, room) == 4024 && value_of(bytes) == 1);
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
    step("a read waits for a record", read(reader, bytes, room) == 32 && value_of(bytes) == 7);
    int status = -1;
    step("the writing process succeeds", waitpid(child, &status, 0) == child && status == 0);
    step("one more", write_event(index_small, 8));
    step("is polled", poll(&polled, 1, 60000) == 1 && (polled.revents & POLLIN) != 0);
    step("also by epoll", epoll_wait(all, &event, 1, 60000) == 1);
    step("and read", read(reader, bytes, room) == 32);
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
        step("it is read", read(reader, bytes, room) == 32 && value_of(bytes) == value);
        step("and there are no more", read(reader, bytes, room) == -1 && errno == EAGAIN);
    }
    (void)close(all);
    (void)close(reader);
}
