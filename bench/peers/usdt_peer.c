/* SPDX-License-Identifier: MIT */
/*
 * The event as a USDT probe with a uprobe of perf. Each hit leaves time, thread and CPU in perf's
 * ring buffer, without the four arguments, so this is less work than that of the remaining peers.
 * The argument is PATH:OFFSET, the offset of the probe's instruction in this file.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sdt.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "peer.h"

/* 4 MiB, a power of two: room for much more than one burst. */
enum { ring_pages = 1024 };

static char problem[256];
static int probe = -1;
static struct perf_event_mmap_page* ring;
static size_t page_size;
static uint64_t emitted;
static uint64_t seen;

static const char* fail(const char* what) {
    snprintf(problem, sizeof problem, "%s (%s).", what, strerror(errno));
    return problem;
}

static int read_type(void) {
    int type = -1;
    FILE* file = fopen("/sys/bus/event_source/devices/uprobe/type", "r");
    if (file) {
        if (fscanf(file, "%d", &type) != 1) {
            type = -1;
        }
        fclose(file);
    }
    return type;
}

const char* peer_begin(const char* argument) {
    const int type = read_type();
    if (type < 0) {
        return fail("this kernel has no uprobes");
    }
    static char path[4096];
    snprintf(path, sizeof path, "%s", argument);
    char* colon = strrchr(path, ':');
    if (!colon) {
        return "its argument is PATH:OFFSET.";
    }
    *colon = '\0';
    struct perf_event_attr attributes = {
        .type = (uint32_t)type,
        .size = sizeof attributes,
        .config1 = (uint64_t)(uintptr_t)path,
        .config2 = strtoull(colon + 1, NULL, 0),
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
        .watermark = 1,
        .wakeup_watermark = UINT32_MAX,
    };
    probe = (int)syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (probe < 0) {
        return fail("no uprobe can be placed; that takes root, or CAP_PERFMON");
    }
    page_size = (size_t)sysconf(_SC_PAGESIZE);
    void* memory =
        mmap(NULL, (ring_pages + 1) * page_size, PROT_READ | PROT_WRITE, MAP_SHARED, probe, 0);
    if (memory == MAP_FAILED) {
        return fail("perf has no ring buffer for the uprobe");
    }
    ring = (struct perf_event_mmap_page*)memory;
    return NULL;
}

void peer_burst(uint64_t events, const char* reason) {
    for (uint64_t i = 0; i < events; ++i) {
        STAP_PROBE4(bench, retransmission, i, (uint32_t)i, (uint32_t)(i >> 32), reason);
    }
    emitted += events;
}

/* Counts the samples and releases their room. */
void peer_rest(void) {
    const char* data = (const char*)ring + page_size;
    const uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = ring->data_tail;
    while (tail < head) {
        /* Records begin at multiples of 8 bytes, so a header is contiguous. */
        struct perf_event_header header;
        memcpy(&header, data + tail % (ring_pages * page_size), sizeof header);
        seen += header.type == PERF_RECORD_SAMPLE;
        tail += header.size;
    }
    __atomic_store_n(&ring->data_tail, tail, __ATOMIC_RELEASE);
}

uint64_t peer_end(void) {
    close(probe);
    return emitted - seen;
}
