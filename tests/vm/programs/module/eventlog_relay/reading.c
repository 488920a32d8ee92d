// SPDX-License-Identifier: MIT
//
// Reading and consuming buffers, and counting losses.
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "module/eventlog_relay/channel.h"
#include "module/eventlog_relay/trials.h"
#include "steps.h"

void try_discard(void) {
    const int file = create(0);
    const int buffer = open_part("cpu0", O_RDONLY);
    struct pollfd one = {.fd = buffer, .events = POLLIN};
    struct seen seen = {0};
    step("R6: nothing yet", poll(&one, 1, 0) == 0);
    step("R3: a sub-buffer and one more", write_batch(file, in_subbuf + 1) == in_subbuf + 1);
    step("R6: a sub-buffer is full",
         poll(&one, 1, -1) == 1 && (one.revents & (POLLIN | POLLRDNORM)) != 0);
    drain(buffer, &seen);
    step("R3, R4: without padding",
         seen.right && seen.records == in_subbuf + 1 && seen.subbufs == 2);
    const uint64_t before = stat_of("cpu0", "recorded ");
    step("R9: more than there is room for", write_batch(file, 1000) == 1000);
    const uint64_t lost = stat_of("cpu0", "lost ");
    step("R9, R16, R25: recorded and lost are all",
         lost > 0 && stat_of("cpu0", "recorded ") - before + lost == 1000);
    drain(buffer, &seen);
    step("R9: until there is room again", write_batch(file, 1) == 1);
    drain(buffer, &seen);
    step("R9: the loss is reported at its place",
         seen.right && seen.lost == lost && seen.gaps == 0);
    step("R9: all records are read or lost", seen.records + lost == in_subbuf + 1 + 1000 + 1);
    const uint64_t subbufs = stat_of("cpu0", "produced ");
    send_command("flush");
    step("R18: flush ends a sub-buffer", stat_of("cpu0", "produced ") == subbufs + 1);
    send_command("flush");
    step("R18: but none that is empty", stat_of("cpu0", "produced ") == subbufs + 1);
    (void)write_batch(file, 10);
    send_command("reset");
    (void)write_batch(file, 1);
    struct seen after = {.next = seen.next};
    drain(buffer, &after);
    step("R18: reset leaves a gap", after.records == 1 && after.gaps == 10);
    step("an unknown command", try_command("flush me") == EINVAL);
    (void)write_batch(file, 1000);
    drain(buffer, &after);
    const uint64_t all_lost = stat_of("cpu0", "lost ");
    step("more is lost, and not yet reported", all_lost > lost && after.lost < all_lost);
    (void)close(file);
    drain(buffer, &after);
    step("R9: the end reports the last losses", after.lost == all_lost);
    (void)close(buffer);
}

void try_mapped(void) {
    const int file = create(0);
    const int buffer = open_part("cpu0", O_RDONLY);
    const size_t all = (size_t)subbuf_size * subbuf_count;
    const uint8_t* whole = mmap(NULL, all, PROT_READ, MAP_SHARED, buffer, 0);
    step("mapped", whole != MAP_FAILED);
    uint64_t records = 0;
    for (uint64_t round = 0; round < 50; ++round) {
        step("R14: a batch that fits", write_batch(file, in_subbuf) == in_subbuf);
        send_command("flush");
        const struct header* header =
            (const void*)(whole + (round % subbuf_count) * (size_t)subbuf_size);
        step("R14: the next sub-buffer", __atomic_load_n(&header->used, __ATOMIC_ACQUIRE) ==
                                                 sizeof *header + (size_t)in_subbuf * record_size &&
                                             header->sequence == round &&
                                             header->records_before == records &&
                                             header->lost_before == 0);
        records += header->records;
        send_command("consumed 0 1");
    }
    step("R14: nothing is lost", stat_of("cpu0", "lost ") == 0 && records == 50ULL * in_subbuf);
    send_command("consumed 0 4");
    step("R14: no more than there is",
         stat_of("cpu0", "consumed ") == stat_of("cpu0", "produced "));
    step("R14: more than there can be", try_command("consumed 0 5") == EINVAL);
    step("R14: a processor that does not exist", try_command("consumed 4000000000 1") == EINVAL);
    (void)munmap((void*)(uintptr_t)whole, all);
    (void)close(buffer);
    (void)close(file);
}

void try_overwrite(void) {
    const int file = create(overwrite);
    const int buffer = open_part("cpu0", O_RDONLY);
    step("R10: never full", write_batch(file, 1000) == 1000);
    send_command("consumed 0 4");
    step("R14: consuming is ignored", stat_of("cpu0", "consumed ") == 0);
    const uint64_t overwritten_records = stat_of("cpu0", "overwritten ");
    step("R10: nothing is lost", stat_of("cpu0", "lost ") == 0 && overwritten_records > 0);
    struct seen seen = {0};
    drain(buffer, &seen);
    step("R10: the newest are read", seen.right && seen.next == 1000);
    step("R10: the rest was overwritten",
         seen.gaps == overwritten_records && seen.records + overwritten_records == 1000);
    (void)close(buffer);
    (void)close(file);
}

void try_reading_and_consuming(void) {
    struct header header;
    const int file = create(0);
    const int buffer = open_part("cpu0", O_RDONLY);
    step("two sub-buffers", write_batch(file, (size_t)2 * in_subbuf) == (size_t)2 * in_subbuf);
    step("a part is read", read(buffer, text, sizeof header + (size_t)3 * record_size) ==
                               (ssize_t)(sizeof header + (size_t)3 * record_size));
    send_command("consumed 0 0");
    struct record record;
    step("nothing is released",
         read(buffer, &record, sizeof record) == sizeof record && is_record(&record));
    step("nothing is read twice",
         read(buffer, text, (size_t)2 * record_size) == (ssize_t)2 * record_size);
    send_command("consumed 0 1");
    step("R14: the next one is read from its beginning",
         read(buffer, &header, sizeof header) == sizeof header && header.magic == magic &&
             header.sequence == 1);
    struct seen seen = {0};
    drain(buffer, &seen);
    step("a part of the last one", write_batch(file, 2) == 2);
    drain(buffer, &seen);
    send_command("consumed 0 1");
    step("R14: an incomplete sub-buffer is not released", read(buffer, text, sizeof text) == 0);
    (void)close(buffer);
    (void)close(file);
}

void conserve(uint32_t flags) {
    enum { rounds = 200, each = 50 };
    const int file = create(flags);
    (void)fflush(stdout);
    for (int i = 0; i < writers; ++i) {
        if (fork() == 0) {
            for (int round = 0; round < rounds; ++round) {
                if (write_batch(file, each) != each) {
                    _exit(1);
                }
            }
            _exit(0);
        }
    }
    const char* names[] = {"cpu0", "cpu1"};
    struct seen seen[2] = {{0}, {0}};
    int buffers[2] = {open_part("cpu0", O_RDONLY), open_part("cpu1", O_RDONLY)};
    bool good = true;
    for (int left = writers; left > 0;) {
        int status = 0;
        const bool ended = waitpid(-1, &status, WNOHANG) > 0;
        left -= ended;
        good = good && (!ended || status == 0);
        for (int i = 0; i < 2 && (flags & overwrite) == 0; ++i) {
            drain(buffers[i], &seen[i]);
        }
    }
    step("writers end well", good);
    uint64_t all = 0;
    for (int i = 0; i < 2; ++i) {
        drain(buffers[i], &seen[i]);
        if ((flags & overwrite) == 0) {
            send_command("flush");  // A new sub-buffer reports the last losses.
        }
        drain(buffers[i], &seen[i]);
        all += seen[i].records + seen[i].lost + seen[i].gaps;
        step("the counts match stats", seen[i].right &&
                                           seen[i].lost == stat_of(names[i], "lost ") &&
                                           seen[i].next == stat_of(names[i], "recorded ") &&
                                           seen[i].gaps == stat_of(names[i], "overwritten "));
        (void)close(buffers[i]);
    }
    printf("read %" PRIu64 " lost %" PRIu64 " overwritten %" PRIu64 "\n",
           seen[0].records + seen[1].records, seen[0].lost + seen[1].lost,
           seen[0].gaps + seen[1].gaps);
    step("all are accounted for", all == (uint64_t)writers * rounds * each);
    (void)close(file);
}
