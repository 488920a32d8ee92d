/* SPDX-License-Identifier: MIT */
/*
 * The memory that writers and reader share: one small ring of a region, as linux/eventlog.h describes
 * it; and a log that writers and reader cannot read, for the checks.
 *
 * The control word has the fields of the real one, with fewer bits: position 3, count 3, generation
 * the rest. A unit is one word; a record has one or two, and each word names its record.
 */
#ifndef BUFFERS
#define BUFFERS 2
#endif
#ifndef CAPACITY
#define CAPACITY 2 /* units in a buffer */
#endif

#ifdef OVERWRITE
#define MODE_OVERWRITES true
#else
#define MODE_OVERWRITES false
#endif

#define SEALED 7
#define UNITS(control) ((control) & 7)
#define COUNT(control) (((control) >> 3) & 7)
#define GENERATION(control) ((control) >> 6)
#define IS_SEALED(control) (UNITS(control) == SEALED)
#define SEAL(control) ((control) | SEALED)
#define FIRST_OF(generation) ((generation) << 6)
#define ONE_RECORD 8

#define BUFFER(generation) ((generation) % BUFFERS)
#define PLACE(generation, unit) (BUFFER(generation) * CAPACITY + (unit))
#define WORD(id, unit, size) ((id) << 2 | (unit) << 1 | ((size) - 1))
#define SIZE_OF(word) (((word) & 1) + 1)
#define ID_OF(word) ((word) >> 2)

#define LIVE 1
#define ENDED 0

/* struct eventlog_ring, and the bytes of the buffers. */
#ifndef BORN
#define BORN 0
#endif
short control = BORN;
byte lost = 0;
byte drained = 0;
byte memory[BUFFERS * CAPACITY];

/* struct eventlog_buffer. Generation 255 stands for UINT64_MAX: no generation yet. */
typedef descriptor {
    byte generation;
    byte records_before;
    byte lost_before;
    short sealed
};
descriptor buffers[BUFFERS];

/* struct eventlog_region. */
bit state = LIVE;

/* The log: committed records and counted losses, in their order. */
#define LOST 0
byte attempted = 0;
byte log[ATTEMPTS];
byte log_generation[ATTEMPTS]; /* generation of the record's buffer; checked in overwrite mode only */
byte recorded = 0;

/* The numbers of log entries that the reader has reported. */
byte delivered = 0;
byte overwritten = 0;
byte lost_reported = 0;
#define REPORTED (delivered + overwritten + lost_reported)

inline note_record(id) {
    log[attempted] = id;
    #ifdef OVERWRITE
    log_generation[attempted] = GENERATION(control);
    #endif
    attempted++;
    recorded++;
    /* Invariant 4 of the header, at the instant at which it is visible to a reader. */
    assert(buffers[BUFFER(GENERATION(control))].records_before + COUNT(control) == recorded)
}

inline note_loss() {
    log[attempted] = LOST;
    attempted++;
    assert(lost + recorded == attempted)
}

/* A control word with a new generation has just been stored. */
inline note_switch() {
    /* Invariant 2. */
    assert(MODE_OVERWRITES || GENERATION(control) < drained + BUFFERS);
    /* Invariant 3. */
    assert(buffers[BUFFER(GENERATION(control))].generation == GENERATION(control));
    assert(buffers[BUFFER(GENERATION(control))].records_before == recorded);
    assert(buffers[BUFFER(GENERATION(control))].lost_before == lost)
}

inline set_up_ring() {
    byte each = 1;
    do
    :: each < BUFFERS ->
        buffers[each].generation = 255;
        each++
    :: else -> break
    od;
    each = 0
}

/* After the end of all processes: attempted = read + lost + unread, by the fields of the ring. */
inline check_conservation() {
    byte unread;
    unread = buffers[BUFFER(GENERATION(control))].records_before + COUNT(control) - delivered -
        overwritten;
    assert(delivered + overwritten + unread + lost == attempted);
    assert(REPORTED + unread + (lost - lost_reported) == attempted)
}
