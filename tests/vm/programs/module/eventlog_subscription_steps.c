// SPDX-License-Identifier: MIT
//
// Tests subscriptions through /dev/eventlog of the kernel module as root: whole records, gaps at
// their place, waiting, the mapping, batches, and which users' events a subscription receives.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "device_client.h"
#include "device_steps.h"

enum { ordinary = 1002, other = 1003 };
enum { room = 1 << 20 };
enum { many = 4000, writes_of_many = 4 };
/// Sizes of an event with 8 bytes: in a batch, and as it is read.
static const size_t small_entry = 16;
static const ssize_t small_record = 32;

static unsigned char bytes[room];
static uint32_t index_small;
static uint32_t index_large;
static uint64_t words_of_many[32];

static void publish_two(void) {
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

static bool write_event(uint32_t index, uint64_t a) {
    unsigned char event[4 + 4000] = {0};
    memcpy(event, &index, sizeof index);
    memcpy(event + 4, &a, sizeof a);
    const size_t size = index == index_small ? 12 : sizeof event;
    return write(device, event, size) == (ssize_t)size;
}

static void write_large_or_exit(uint64_t a) {
    if (!write_event(index_large, a)) {
        step("the event is written", false);
    }
}

static void set_subscribed_bits(void) {
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
    step("until the last subscription ends", (word >> 29U & 1U) == 0);
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

static uint64_t value_of(const unsigned char* at) {
    uint64_t value = 0;
    memcpy(&value, at + sizeof(struct eventlog_record), sizeof value);
    return value;
}

static void read_whole_records(void) {
    const int reader = subscribe_or_exit(&(struct subscription_request){0});
    step("there are no records", read(reader, bytes, room) == -1 && errno == EAGAIN);
    step("two are written", write_event(index_large, 1) && write_event(index_small, 2));
    step("the first does not fit", read(reader, bytes, 32) == -1 && errno == EMSGSIZE);
    struct eventlog_statistics counts = statistics(reader, EVENTLOG_ALL_RINGS);
    step("the statistics have its size", counts.next_size == 24 + 4000);
    step("and it stays unread", counts.recorded == 2 && counts.read == 0 && counts.lost == 0);
    step("it is read alone", read(reader, bytes, 24 + 4000 + 31) == 24 + 4000);
    const struct eventlog_record* record = (const void*)bytes;
    step("and has its values", record->size == 24 + 4000 && record->event == 1 &&
                                   record->thread == (uint32_t)getpid() && value_of(bytes) == 1);
    step("the second follows", read(reader, bytes, room) == 32 && value_of(bytes) == 2);
    counts = statistics(reader, EVENTLOG_ALL_RINGS);
    step("both count as read", counts.read == 2 && counts.next_size == 0);
    (void)close(reader);
}

/// A read to memory that ends within a record returns the records in front of it.
static void read_to_the_end_of_memory(void) {
    const int reader = subscribe_or_exit(&(struct subscription_request){0});
    unsigned char* pages =
        mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    step("memory ends", pages != MAP_FAILED && munmap(pages + 4096, 4096) == 0 && run_on(0));
    step("three are written",
         write_event(index_small, 1) && write_event(index_large, 2) && write_event(index_small, 3));
    step("one fits",
         read(reader, pages + 4096 - 48, 8192) == 32 && value_of(pages + 4096 - 48) == 1);
    step("none does", read(reader, pages + 4096 - 48, 8192) == -1 && errno == EFAULT);
    step("the remaining two are read whole", read(reader, bytes, room) == 4024 + 32 &&
                                                 value_of(bytes) == 2 &&
                                                 value_of(bytes + 4024) == 3);
    (void)munmap(pages, 4096);
    (void)close(reader);
}

/// A record of one CPU that does not fit does not block the records of other CPUs.
static void read_past_large_record(void) {
    const int reader = subscribe_or_exit(&(struct subscription_request){0});
    step("one CPU has a large one", run_on(0) && write_event(index_large, 1));
    step("another has small ones", run_on(1) && write_event(index_small, 2));
    step("which are read", read(reader, bytes, 64) == 32 && value_of(bytes) == 2);
    step("the large one stays", read(reader, bytes, 64) == -1 && errno == EMSGSIZE);
    step("more small ones", write_event(index_small, 3) && read(reader, bytes, 64) == 32);
    step("then the large one fits", read(reader, bytes, room) == 4024 && value_of(bytes) == 1);
    (void)close(reader);
}

static int64_t milliseconds(void) {
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void wait_for_records(void) {
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
    step("that another process wrote", waitpid(child, &status, 0) == child && status == 0);
    step("one more", write_event(index_small, 8));
    step("is polled", poll(&polled, 1, 60000) == 1 && (polled.revents & POLLIN) != 0);
    step("also by epoll", epoll_wait(all, &event, 1, 60000) == 1);
    step("and read", read(reader, bytes, room) == 32);
    step("then there is none", poll(&polled, 1, 0) == 0 && epoll_wait(all, &event, 1, 0) == 0);
    (void)close(all);
    (void)close(reader);
}

/// With edge-triggered epoll, a reader that reads all records is woken by the next one.
static void wait_for_edges(void) {
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

/// Fills a ring until events are lost; returns the number of attempts.
static uint64_t fill(int reader) {
    uint64_t tried = 0;
    while (statistics(reader, EVENTLOG_ALL_RINGS).lost < 10) {
        write_large_or_exit(tried);
        ++tried;
    }
    return tried;
}

static void check_discard_mode(void) {
    const int reader = subscribe_or_exit(&(struct subscription_request){0});
    step("one CPU", run_on(0));
    const uint64_t tried = fill(reader);
    struct read_totals read_totals = {0};
    read_all(reader, &read_totals);
    step("the gap follows the records in front of it",
         read_totals.records + read_totals.lost == tried && read_totals.lost == 10 &&
             read_totals.last_was_gap);
    step("in the order of time", !read_totals.out_of_order);
    step("there is room again", write_event(index_large, 0));
    read_all(reader, &read_totals);
    step("and no gap is reported twice",
         read_totals.records + read_totals.lost == tried + 1 && read_totals.lost == 10);
    step("in the order of time", !read_totals.out_of_order);
    (void)close(reader);
}

static void check_overwrite_mode(void) {
    const int reader = subscribe_or_exit(&(struct subscription_request){.overwrite = true});
    uint64_t tried = 0;
    for (; tried < 500; ++tried) {
        write_large_or_exit(tried);
    }
    struct read_totals read_totals = {0};
    read_all(reader, &read_totals);
    step("the newest are read", read_totals.last_value == tried - 1 && read_totals.lost == 0);
    step("the overwritten ones are counted",
         read_totals.records + read_totals.overwritten == tried && read_totals.overwritten > 0);
    (void)close(reader);
}

/// An ended subscription accepts no events. Its records can be read, then read() returns 0.
static void end_and_read_the_rest(void) {
    struct subscription_request subscription_request = {.overwrite = true, .blocking = true};
    const int reader = subscribe_or_exit(&subscription_request);
    step("a file without a subscription cannot be ended", end_subscription(device) == EINVAL);
    const unsigned char* memory = mmap(NULL, 4096, PROT_READ, MAP_SHARED, reader, 0);
    step("it can be mapped", memory != MAP_FAILED);
    for (uint64_t tried = 0; tried < 500; ++tried) {
        write_large_or_exit(tried);
    }
    step("it ends", end_subscription(reader) == 0);
    step("all bits are cleared", word == 0);
    step("no event can be written", !write_event(index_large, 500) && errno == EBADF);
    const struct eventlog_region* region = (const void*)memory;
    step("the mapping has the end", region->state == EVENTLOG_REGION_ENDED);
    struct pollfd polled = {.fd = reader, .events = POLLIN};
    step("and poll reports it",
         poll(&polled, 1, 0) == 1 && (polled.revents & (POLLIN | POLLHUP)) == (POLLIN | POLLHUP));
    const struct eventlog_statistics counts = statistics(reader, EVENTLOG_ALL_RINGS);
    step("the statistics count all events", counts.recorded == 500 && counts.lost == 0);
    struct read_totals read_totals = {0};
    read_all(reader, &read_totals);
    step("the newest are read", read_totals.last_value == 499);
    step("the overwritten ones are counted",
         read_totals.records + read_totals.overwritten == 500 && read_totals.overwritten > 0);
    step("then read returns the end", read(reader, bytes, room) == 0);
    step("ending again is accepted", end_subscription(reader) == 0);
    step("the file stays a subscription",
         subscribe(reader, &(struct subscription_request){0}) == EBUSY);
    (void)munmap((void*)memory, 4096);
    (void)close(reader);
}

static void end_during_wait(void) {
    const int reader = subscribe_or_exit(&(struct subscription_request){.blocking = true});
    (void)fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        (void)usleep(100000);
        _exit(end_subscription(reader));
    }
    step("a waiting read returns the end", read(reader, bytes, room) == 0);
    int status = -1;
    step("that another process caused", waitpid(child, &status, 0) == child && status == 0);
    (void)close(reader);
}

static void map_for_reading(void) {
    struct subscription_request subscription_request = {0};
    const int reader = subscribe_or_exit(&subscription_request);
    step("it cannot be mapped for writing",
         mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, reader, 0) == MAP_FAILED);
    step("nor privately",
         mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE, reader, 0) == MAP_FAILED);
    step("nor beyond its end",
         mmap(NULL, 4096, PROT_READ, MAP_SHARED, reader,
              (off_t)(subscription_request.total_size + 4095) / 4096 * 4096) == MAP_FAILED);
    unsigned char* memory =
        mmap(NULL, subscription_request.total_size, PROT_READ, MAP_SHARED, reader, 0);
    step("it can be mapped", memory != MAP_FAILED);
    step("and never becomes writable", mprotect(memory, 4096, PROT_READ | PROT_WRITE) == -1);
    step("nor executable", mprotect(memory, 4096, PROT_READ | PROT_EXEC) == -1);
    const struct eventlog_region* region = (const void*)memory;
    step("it is a region", region->magic == EVENTLOG_REGION_MAGIC &&
                               region->total_size == subscription_request.total_size &&
                               region->state == EVENTLOG_REGION_LIVE);
    step("with one provider", region->provider_count == 1);
    const struct eventlog_provider_entry* entry = (const void*)(memory + region->providers_offset);
    step("this process",
         entry->state == EVENTLOG_PROVIDER_READY && entry->pid == (uint32_t)getpid());
    step("with its schema", memcmp(memory + entry->schema_offset, "schema", 6) == 0);
    step("one is written", run_on(0) && write_event(index_small, 77));
    const unsigned char* buffers = memory + region->buffers_offset;
    step("and is in the mapping", value_of(buffers) == 77);
    for (size_t i = 32; i < region->buffer_size; ++i) {
        if (buffers[i] != 0) {
            step("the rest is zero", false);
        }
    }
    step("a buffer in use cannot be released",
         release_buffers(reader, &(struct eventlog_buffer_release){.ring = 0, .drained = 1}) ==
             EINVAL);
    step("nor one of an unknown ring",
         release_buffers(reader, &(struct eventlog_buffer_release){.ring = region->ring_count}) ==
             EINVAL);
    while (statistics(reader, 0).lost == 0) {
        write_large_or_exit(0);
    }
    step("a full ring is polled",
         poll(&(struct pollfd){.fd = reader, .events = POLLIN}, 1, 0) == 1);
    step("a full buffer can be released",
         release_buffers(reader, &(struct eventlog_buffer_release){.ring = 0, .drained = 1}) == 0);
    const uint64_t lost = statistics(reader, 0).lost;
    step("and used again", write_event(index_large, 0) && statistics(reader, 0).lost == lost);
    (void)close(reader);
    step("the mapping stays readable", region->magic == EVENTLOG_REGION_MAGIC);
    step("and the subscription receives events", write_event(index_small, 1));
    (void)munmap(memory, subscription_request.total_size);
    step("unmapping ends the subscription", word == 0);
}

static void write_batch(void) {
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

/// Large events between small ones, in a batch that the kernel copies in several parts.
static void write_mixed_batch(void) {
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
    bool right = true;
    for (ssize_t at = 0; at < size && right;) {
        struct eventlog_record record;
        memcpy(&record, bytes + at, sizeof record);
        right = value_of(bytes + at) == ++expected &&
                record.event == (record.size == 24 + 4000 ? 1 : 0);
        at += ((ssize_t)record.size + 7) / 8 * 8;
    }
    step("and read in their order", right && expected == a);
    (void)close(reader);
}

/// Whole events in front of memory that cannot be read are written.
static void write_to_the_end_of_memory(void) {
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
    step("and read", read(reader, bytes, room) == 3 * small_record && value_of(bytes + 64) == 3);
    // One entry whose padding is cut by the end of memory.
    batch = pages + 4096 - 8 - 8 - 13 - 1;
    memcpy(batch, head, sizeof head);
    (void)put_entry(batch + sizeof head, index_small, 13, 4);
    step("an entry with a part of its padding is written",
         write(device, batch, 8 + 8 + 13 + 2) == 8 + 8 + 13 + 2);
    step("and read", read(reader, bytes, room) == 40 && value_of(bytes) == 4);
    (void)munmap(pages, 4096);
    (void)close(reader);
}

/// A text field that points outside its payload ends the batch in front of its event.
static void write_batch_of_texts(void) {
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
    step("and read", read(reader, bytes, room) == 5 * small_record);
    batch.of[3].length = 5;
    step("the events in front of one that points outside are written",
         write(device, &batch, sizeof batch) == (ssize_t)(8 + 3 * small_entry));
    step("and read, too", read(reader, bytes, room) == 3 * small_record);
    (void)close(reader);
    step("the text is unpublished", unpublish(device, number) == 0);
}

/// Each event of a timed batch has the time of its entry or, if that is 0, the time of the write.
static void write_timed_batch(void) {
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
    step("and read", read(reader, bytes, room) == 4 * small_record);
    for (int each = 0; each < 4; ++each) {
        struct eventlog_record record;
        memcpy(&record, bytes + each * small_record, sizeof record);
        const bool own = times[each] != 0;
        step(own ? "the record has the time of its entry" : "the record has the time of the write",
             record.flags == (own ? EVENTLOG_RECORD_CUSTOM_TIME : 0) &&
                 (own ? record.time == times[each] : record.time > 17));
    }
    const ssize_t single = 8 + (ssize_t)sizeof batch.of[0];
    step("a timed batch of one event is written", write(device, &batch, (size_t)single) == single &&
                                                      read(reader, bytes, room) == small_record);
    step("an empty batch is accepted", write(device, &batch, 8) == 8);
    step("half an entry is rejected", write(device, &batch, 8 + 15) == -1 && errno == EINVAL);
    batch.flags = 2;
    step("unknown flags are rejected",
         write(device, &batch, sizeof batch) == -1 && errno == EINVAL);
    (void)close(reader);
}

/// A gap in front of an event of a timed batch does not have the time of the event's entry.
static void lose_timed_events(void) {
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
        for (ssize_t at = 0; at < size;) {
            struct eventlog_record record;
            memcpy(&record, bytes + at, sizeof record);
            at += ((ssize_t)record.size + 7) / 8 * 8;
            is_of_cpu &= record.cpu == 1;
            is_last = record.provider == EVENTLOG_LOST_PROVIDER;
            if (is_last) {
                ++gaps;
                has_entry_time |= record.time == UINT64_MAX;
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

/// Batches beyond the capacity of the ring: each lost event is counted.
static void overflow_with_batches(void) {
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

_Noreturn static void run_as_user(uid_t user) {
    step("an ordinary user", setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0);
    step("the process is dumpable", prctl(PR_SET_DUMPABLE, 1) == 0);
    const int own = subscribe_or_exit(&(struct subscription_request){0});
    step("receives no events of others", (word >> enable_bit & 1U) == 0);
    struct eventlog_provider_query query = {.size = sizeof query};
    step("and finds no providers of others", next_provider(own, &query) == ENOENT);
    device = -1;
    reopen_device();
    publish_two();
    step("it receives its own events", (word >> enable_bit & 1U) != 0 &&
                                           write_event(index_small, 3) &&
                                           read(own, bytes, room) == 32 && value_of(bytes) == 3);
    step("and finds its own provider",
         next_provider(own, &query) == 0 && strcmp(query.name, "listen") == 0 && query.uid == user);
    _exit(0);
}

static void record_only_own_processes(void) {
    step("all users may open the device", chmod("/dev/eventlog", 0666) == 0);
    (void)fflush(stdout);
    for (uid_t user = ordinary; user <= other; ++user) {
        const pid_t child = fork();
        if (child == 0) {
            word = 0;
            run_as_user(user);
        }
        int status = -1;
        step("users receive only their own events",
             waitpid(child, &status, 0) == child && status == 0);
    }
    step("the mode is restored", chmod("/dev/eventlog", 0660) == 0);
}

static void unpublish_provider(void) {
    const int reader = subscribe_or_exit(&(struct subscription_request){0});
    struct eventlog_provider_query query = {.size = sizeof query};
    // The first provider is the kernel's.
    while (strcmp(query.name, "listen") != 0 && next_provider(reader, &query) == 0) {
    }
    step("the provider is found", strcmp(query.name, "listen") == 0);
    step("and unpublished", unpublish(device, query.provider) == 0);
    step("it cannot be unpublished twice", unpublish(device, query.provider) == ENOENT);
    step("its bit is cleared", word == 0 && !write_event(index_small, 1));
    (void)close(reader);
}

/// Publishes a provider with one event, both named by `number`. Returns 0 or an errno.
static int publish_with(int number, const char* schema, uint32_t size) {
    char text[64];
    uint32_t index = 0;
    (void)snprintf(text, sizeof text, "schema_%d u64 a", number);
    step("one more event is registered",
         register_at(text, words_of_many + number, enable_bit, &index) == 0);
    const struct eventlog_published_event offer = {.write_index = index, .level = 3, .name = "one"};
    struct eventlog_publication subscription_request = {
        .size = sizeof subscription_request,
        .event_count = 1,
        .events = (uintptr_t)&offer,
        .schema = (uintptr_t)schema,
        .schema_size = size,
        .schema_hash = 7,
    };
    (void)snprintf(subscription_request.name, sizeof subscription_request.name, "schema_%d",
                   number);
    return ioctl(device, EVENTLOG_PUBLISH, &subscription_request) == 0 ? 0 : errno;
}

/// Providers with equal schemas share memory. The bytes are compared, not only the hash.
static void share_equal_schemas(void) {
    enum { size = 20000, kinds = 4, last_kind = kinds - 1, count = 24 };
    static char schemas[kinds][size];
    for (int kind = 0; kind < kinds; ++kind) {
        memset(schemas[kind], 'x', size);
        schemas[kind][size - 1] = (char)('a' + kind);
    }
    reopen_device();
    struct subscription_request subscription_request = {.schemas_size = 1 << 16};
    const int reader = subscribe_or_exit(&subscription_request);
    for (int i = 0; i < count; ++i) {
        step("one of many is published", publish_with(i, schemas[i % last_kind], size) == 0);
    }
    step("so is one whose schema does not fit", publish_with(count, schemas[last_kind], size) == 0);
    step("only that one is refused", statistics(reader, EVENTLOG_ALL_RINGS).providers_refused == 1);
    step("a smaller one is published", publish_with(count + 1, schemas[last_kind], size / 8) == 0);
    const unsigned char* memory =
        mmap(NULL, subscription_request.total_size, PROT_READ, MAP_SHARED, reader, 0);
    step("it can be mapped", memory != MAP_FAILED);
    const struct eventlog_region* region = (const void*)memory;
    const struct eventlog_provider_entry* entries =
        (const void*)(memory + region->providers_offset);
    step("all but the refused one are in the region", region->provider_count == count + 1);
    for (int i = 0; i < count; ++i) {
        if (entries[i].schema_offset != entries[i % last_kind].schema_offset ||
            entries[i].schema_size != size ||
            memcmp(memory + entries[i].schema_offset, schemas[i % last_kind], size) != 0) {
            step("equal schemas are stored once", false);
        }
    }
    step("another schema is stored separately",
         entries[count].schema_size == size / 8 &&
             memcmp(memory + entries[count].schema_offset, schemas[last_kind], size / 8) == 0);
    (void)munmap((void*)memory, subscription_request.total_size);
    (void)close(reader);
    reopen_device();
}

/// A call whose result cannot be copied to the caller has no effect.
static void fail_without_result(void) {
    void* const page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    step("there is a page", page != MAP_FAILED);
    reopen_device();
    step("one event is registered",
         register_at("unknown u64 a", &word, enable_bit, &index_small) == 0);
    const struct eventlog_published_event offer = {
        .write_index = index_small, .level = 3, .name = "one"};
    const struct eventlog_publication publication = {
        .size = sizeof publication,
        .event_count = 1,
        .events = (uintptr_t)&offer,
        .schema = (uintptr_t) "schema",
        .schema_size = 6,
        .name = "unknown",
    };
    memcpy(page, &publication, sizeof publication);
    step("the page cannot be written to", mprotect(page, 4096, PROT_READ) == 0);
    step("publishing fails without a place for the number",
         ioctl(device, EVENTLOG_PUBLISH, page) == -1 && errno == EFAULT);
    uint32_t number = 0;
    step("the event is still unpublished", publish(device, "known", &offer, 1, &number) == 0);
    step("the page can be written to", mprotect(page, 4096, PROT_READ | PROT_WRITE) == 0);
    const struct eventlog_filter_rule rule = {.provider = "*", .event = "*"};
    const struct eventlog_subscription_request request = {
        .size = sizeof request,
        .clock = EVENTLOG_CLOCK_MONOTONIC,
        .buffer_count = 2,
        .buffer_size = EVENTLOG_BUFFER_SIZE_MIN,
        .rule_count = 1,
        .rules = (uintptr_t)&rule,
        .schemas_size = 1 << 16,
    };
    memcpy(page, &request, sizeof request);
    step("the page cannot be written to", mprotect(page, 4096, PROT_READ) == 0);
    const int file = open_device();
    step("subscribing fails without a place for the size",
         ioctl(file, EVENTLOG_SUBSCRIBE, page) == -1 && errno == EFAULT);
    step("no subscription began", (word >> enable_bit & 1U) == 0);
    step("the file can still become a subscription",
         subscribe(file, &(struct subscription_request){0}) == 0);
    (void)munmap(page, 4096);
    (void)close(file);
}

/// Publishing the same provider again needs no memory.
static void publish_again_at_the_limit(void) {
    const struct eventlog_published_event offer = {
        .write_index = index_small, .level = 3, .name = "one"};
    uint32_t number = 0;
    uint32_t again = 0;
    set_file(PARAMETERS "schema_pages_per_user", "1");
    step("it is published again", publish(device, "known", &offer, 1, &number) == 0);
    step("and again, as the same",
         publish(device, "known", &offer, 1, &again) == 0 && again == number);
    step("another one exceeds the limit", publish(device, "other", &offer, 1, &number) == EMFILE);
    set_file(PARAMETERS "schema_pages_per_user", "4096");
}

static void stay_within_limits(void) {
    set_file(PARAMETERS "subscriptions_per_user", "1");
    const int one = subscribe_or_exit(&(struct subscription_request){0});
    const int two = open_device();
    step("one more subscription is too many",
         subscribe(two, &(struct subscription_request){0}) == EMFILE);
    step("a file has at most one subscription",
         subscribe(one, &(struct subscription_request){0}) == EBUSY);
    set_file(PARAMETERS "subscriptions_per_user", "16");
    set_file(PARAMETERS "ring_pages_per_user", "100");
    step("so is too much memory", subscribe(two, &(struct subscription_request){0}) == EMFILE);
    set_file(PARAMETERS "ring_pages_per_user", "65536");
    step("below the limits it begins", subscribe(two, &(struct subscription_request){0}) == 0);
    (void)close(two);
    (void)close(one);
}

int main(void) {
    device = open_device();
    step("the device can be opened", device >= 0);
    step("a file without a subscription cannot be read",
         read(device, bytes, room) == -1 && errno == EINVAL);
    publish_two();
    set_subscribed_bits();
    read_whole_records();
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
