/* SPDX-License-Identifier: MIT */
/*
 * The reader: elog/src/memory/region_reader.cpp, and its caller recording::run of
 * elog/src/memory/recording.cpp. It runs on a separate CPU: each access to shared memory is one step.
 */
#ifndef AFTER_END
#define AFTER_END skip
#endif
bit reader_done = 0;

/* Clears reported log entries and read bytes, which are not used again, so that states do not differ. */
inline forget_reported() {
    log[REPORTED] = LOST;
    #ifdef OVERWRITE
    log_generation[REPORTED] = 0
    #endif
}
inline forget_read() {
    unit = at_offset;
    do
    :: unit < copied_end && GENERATION(control) < at_generation + BUFFERS ->
        memory[PLACE(at_generation, unit)] = 0;
        unit++
    :: else -> break
    od
}

/* Delivers a copied run of records. One step, because the copy is private. */
inline deliver() {
    #ifdef OVERWRITE
    /* Entries between the last record and this one were overwritten or lost. */
    do
    :: REPORTED < first_records + first_lost + at_records && log[REPORTED] == LOST -> lost_reported++
    :: REPORTED < first_records + first_lost + at_records && log[REPORTED] != LOST ->
        /* A record is missing only if another generation uses its buffer. */
        assert(buffers[BUFFER(log_generation[REPORTED])].generation != log_generation[REPORTED]);
        forget_reported();
        overwritten++
    :: else -> break
    od;
    assert(delivered + overwritten == first_records + at_records);
    #endif
    /* Losses are between buffers; the reported number is the counted one. */
    do
    :: lost_reported < first_lost ->
        assert(REPORTED < attempted && log[REPORTED] == LOST);
        lost_reported++
    :: else -> break
    od;
    assert(REPORTED == first_records + first_lost + at_records);
    forget_read();
    do
    :: at_offset < copied_end ->
        /* check_records and deliver: whole records. Also: the right record, once, in order. */
        assert(at_offset + SIZE_OF(copied[at_offset]) <= copied_end);
        assert(REPORTED < attempted && log[REPORTED] != LOST);
        assert(copied[at_offset] ==
            WORD(log[REPORTED], 0, SIZE_OF(copied[at_offset])));
        if
        :: SIZE_OF(copied[at_offset]) == 2 ->
            assert(copied[at_offset + 1] == WORD(log[REPORTED], 1, 2))
        :: else
        fi;
        forget_reported();
        at_offset = at_offset + SIZE_OF(copied[at_offset]);
        at_records++;
        delivered++
    :: else -> break
    od
}

/* state_of and read_buffer. The code copies with one read(2); here each word is a step. */
inline read_buffer() {
    first_lost = buffers[BUFFER(at_generation)].lost_before;
    atomic {
        first_records = buffers[BUFFER(at_generation)].records_before;
        copied_end = (UNITS(filled) < CAPACITY -> UNITS(filled) : CAPACITY);
        unit = at_offset
    };
    do
    :: atomic {
        unit < copied_end ->
            copied[unit] = memory[PLACE(at_generation, unit)];
            unit++
        }
    :: unit >= copied_end -> break
    od;
    is_sound = true;
    #if defined(OVERWRITE) && !defined(FAULT_TRUST_BEFORE_CHECK)
    /* is_still_buffered: checked after the copy. */
    #ifndef FAULT_LOOK_AT_CONTROL_ONLY
    is_sound = (buffers[BUFFER(at_generation)].generation == at_generation);
    #endif
    if
    :: atomic { is_sound -> is_sound = (GENERATION(control) < at_generation + BUFFERS) }
    :: !is_sound
    fi;
    #endif
    d_step {
        if
        :: is_sound && at_offset < copied_end -> deliver()
        :: else
        fi;
        unit = 0;
        do
        :: unit < CAPACITY -> copied[unit] = 0; unit++
        :: else -> break
        od;
        unit = 0;
        copied_end = 0;
        first_lost = 0;
        first_records = 0
    }
}

/* region_reader::drain_ring, and in overwrite mode follow_ring, which stores nothing. */
inline poll() {
    seen = control;
    do
    :: atomic {
            #ifdef OVERWRITE
            /* Older generations are overwritten. */
            if
            :: GENERATION(seen) >= at_generation + BUFFERS ->
                at_generation = GENERATION(seen) - BUFFERS + 1;
                at_offset = 0;
                at_records = 0
            :: else
            fi;
            #endif
            is_active = (GENERATION(seen) == at_generation);
            if
            :: is_active && !IS_SEALED(seen) -> filled = seen
            :: else -> filled = buffers[BUFFER(at_generation)].sealed
            fi
        }
        #ifdef FAULT_GIVE_BACK_BEFORE_COPY
        if
        :: !is_active -> drained = at_generation + 1
        :: else
        fi;
        #endif
        read_buffer();
        if
        :: atomic {
            is_active ->
                seen = 0;
                filled = 0;
                is_active = 0;
                is_sound = 0;
                break
            }
        :: atomic {
            !is_active ->
                /* The whole buffer has been read, and not written to since. */
                #ifdef OVERWRITE
                assert(!is_sound || at_offset == UNITS(filled));
                #else
                assert(at_offset == UNITS(filled) && at_records == COUNT(filled));
                assert(buffers[BUFFER(at_generation)].generation == at_generation);
                assert(drained <= at_generation + 1);
                drained = at_generation + 1;
                #endif
                at_generation++;
                at_offset = 0;
                at_records = 0;
                filled = 0
            }
        fi
    od
}

active proctype reader() {
    short seen;   /* control word of this poll */
    short filled; /* control word of the current buffer */
    byte at_generation, at_offset, at_records;
    byte first_lost, first_records; /* lost_before and records_before of the current buffer */
    byte copied[CAPACITY];
    byte copied_end, unit;
    bit is_active, is_sound;
    /* Polls any number of times at any time; then the subscription ends. */
    do
    :: poll();
#ifdef PROGRESS
progress: skip /* only the reader may run without end */
#endif
    :: break
    od;
    /* subscription::end, then the remaining records, then region_reader::finish. */
    state = ENDED;
    poll();
    skip; /* no jump may target the d_step */
    d_step {
        do
        :: lost_reported < lost ->
            #ifndef OVERWRITE
            assert(WRITERS_LATE || (REPORTED < attempted && log[REPORTED] == LOST));
            #endif
            lost_reported++
        :: else -> break
        od;
        skip
    }
    AFTER_END;
    reader_done = 1
}
