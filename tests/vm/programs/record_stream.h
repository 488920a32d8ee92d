// SPDX-License-Identifier: MIT
#pragma once

#include <linux/eventlog_device.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// Decodes the bytes of a read of the kernel module's device, or of the records of a relay buffer.
// Single-threaded.

enum { context_size = 16, extended_size = 24, marker_size = EVENTLOG_RUN_MARKER_SIZE };

/// Size of a record with padding.
static inline size_t short_record_size(size_t payload) {
    return 8 + (payload + 7) / 8 * 8;
}

/// Bytes that are left, and what holds for the next record. Zero but for the bytes at first.
struct record_stream {
    const unsigned char* at;
    size_t left;
    uint64_t context;
    uint32_t ring;
    bool damaged;  // it ended at bytes that are no record
};

/// A record, or a marker of a run.
struct stream_item {
    bool is_run;
    struct eventlog_run run;  // of a marker
    unsigned kind;
    uint32_t event;  // its number in the region
    uint32_t thread;
    uint64_t time;
    uint32_t cpu;
    uint32_t flags;
    size_t size;  // of the payload
    const unsigned char* payload;
};

static inline uint64_t stream_word(const struct record_stream* stream, size_t index) {
    uint64_t value = 0;
    memcpy(&value, stream->at + index * sizeof value, sizeof value);
    return value;
}

/// Size of the header, or 0 if it is not there, or not valid.
static inline size_t stream_header(const struct record_stream* stream, struct stream_item* item) {
    if (stream->left < sizeof(uint64_t)) {
        return 0;
    }
    const uint64_t head = stream_word(stream, 0);
    item->kind = head >> EVENTLOG_KIND_SHIFT & EVENTLOG_KIND_MASK;
    item->event = (uint32_t)(head >> EVENTLOG_EVENT_SHIFT);
    item->size = head >> EVENTLOG_SHORT_SIZE_SHIFT & EVENTLOG_SHORT_SIZE_MAX;
    item->is_run = item->kind == EVENTLOG_KIND_MARKER;
    const size_t header = item->is_run ? EVENTLOG_MARKER_HEADER_SIZE : (item->kind + 1U) * 8U;
    const bool has_context = item->kind != EVENTLOG_KIND_SHORT || stream->context != 0;
    return item->event != 0 && has_context && stream->left >= header ? header : 0;
}

/// Decodes what the header contains.
static inline void stream_decode(struct record_stream* stream, struct stream_item* item) {
    const uint64_t first =
        item->kind == EVENTLOG_KIND_SHORT ? stream->context : stream_word(stream, 1);
    item->thread = (uint32_t)(first >> EVENTLOG_THREAD_SHIFT);
    item->time = first << 32U | (uint32_t)stream_word(stream, 0);
    item->cpu = stream->ring;
    item->flags = 0;
    if (item->kind == EVENTLOG_KIND_EXTENDED) {
        const uint64_t last = stream_word(stream, 2);
        item->cpu = last >> EVENTLOG_CPU_SHIFT & UINT16_MAX;
        item->flags = last >> EVENTLOG_FLAGS_SHIFT & UINT16_MAX;
        item->size = last & UINT16_MAX;
    } else {
        stream->context = first;
    }
}

/// The next record or marker. False at the end.
static inline bool next_item(struct record_stream* stream, struct stream_item* item) {
    const size_t header = stream_header(stream, item);
    if (header == 0) {
        stream->damaged = stream->left != 0;
        return false;
    }
    stream_decode(stream, item);
    const size_t whole = header + (item->size + 7) / 8 * 8;
    if (whole > stream->left || (item->is_run && item->size < sizeof item->run)) {
        stream->damaged = true;
        return false;
    }
    item->payload = stream->at + header;
    if (item->is_run) {
        memcpy(&item->run, item->payload, sizeof item->run);
        stream->ring = item->run.ring;
        item->cpu = stream->ring;
    }
    stream->at += whole;
    stream->left -= whole;
    return true;
}

/// The first eight bytes of the payload.
static inline uint64_t item_value(const struct stream_item* item) {
    uint64_t value = 0;
    memcpy(&value, item->payload, item->size < sizeof value ? item->size : sizeof value);
    return value;
}

/// The first record of a read, behind its marker.
static inline struct stream_item first_record(const void* begin, size_t size) {
    // In the words that C and C++ have in common.
    // NOLINTBEGIN(cppcoreguidelines-pro-type-member-init, cppcoreguidelines-pro-type-cstyle-cast)
    struct record_stream stream;
    struct stream_item item;
    memset(&stream, 0, sizeof stream);
    memset(&item, 0, sizeof item);
    stream.at = (const unsigned char*)begin;
    // NOLINTEND(cppcoreguidelines-pro-type-member-init, cppcoreguidelines-pro-type-cstyle-cast)
    stream.left = size;
    while (next_item(&stream, &item) && item.is_run) {
    }
    return item;
}
