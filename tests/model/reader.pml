/* SPDX-License-Identifier: MIT */
/*
 * The reader: elog/src/memory/region_reader.cpp, and recording::run of elog/src/memory/recording.cpp, which calls
 * it. It runs on a CPU of its own: every access to what is shared is a step of its own.
 */
#ifndef AFTER_END
#define AFTER_END skip
#endif
bit reader_done = 0;

/* What has been told, and what has been read, nobody looks at again: states do not differ by it. */
inline forget_told() {
    log[TOLD] = LOST;
    #ifdef OVERWRITE
    log_generation[TOLD] = 0
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

/* A run of records has been copied, and is handed over; in one step, as nobody else looks on. */
inline deliver() {
    #ifdef OVERWRITE
    /* What lies between the last record and this one has been written over, or lost. */
    do
    :: TOLD < first_records + first_lost + at_records && log[TOLD] == LOST -> lost_reported++
    :: TOLD < first_records + first_lost + at_records && log[TOLD] != LOST ->
        /* Nobody calls a record lost while its buffer has not been taken by another. */
        assert(buffers[BUFFER(log_generation[TOLD])].generation != log_generation[TOLD]);
        forget_told();
        overwritten++
    :: else -> break
    od;
    assert(delivered + overwritten == first_records + at_records);
    #endif
    /* Losses lie between buffers, and as many are told as have been counted. */
    do
    :: lost_reported < first_lost ->
        assert(TOLD < attempted && log[TOLD] == LOST);
        lost_reported++
    :: else -> break
    od;
    assert(TOLD == first_records + first_lost + at_records);
    forget_read();
    do
    :: at_offset < copied_end ->
        /* check_records and deliver: whole and sound. Then: the right one, once, in its place. */
        assert(at_offset + SIZE_OF(copied[at_offset]) <= copied_end);
        assert(TOLD < attempted && log[TOLD] != LOST);
        assert(copied[at_offset] ==
            WORD(log[TOLD], 0, SIZE_OF(copied[at_offset])));
        if
        :: SIZE_OF(copied[at_offset]) == 2 ->
            assert(copied[at_offset + 1] == WORD(log[TOLD], 1, 2))
        :: else
        fi;
        forget_told();
        at_offset = at_offset + SIZE_OF(copied[at_offset]);
        at_records++;
        delivered++
    :: else -> break
    od
}

/* state_of and read_buffer. The copy is one read(2) there; here each word is a step. */
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
    /* is_still_there. Copied first, believed second. */
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
            /* Older ones are gone. */
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
                /* All of it has been read, and nothing been written to it since. */
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
    short filled; /* that of the buffer at hand */
    byte at_generation, at_offset, at_records;
    byte first_lost, first_records; /* lost_before and records_before of the buffer at hand */
    byte copied[CAPACITY];
    byte copied_end, unit;
    bit is_active, is_sound;
    /* At any time, as often as you like; then somebody asks for the end. */
    do
    :: poll();
#ifdef PROGRESS
progress: skip /* a reader may read for ever, nobody else may do anything for ever */
#endif
    :: break
    od;
    /* subscription::end, then what is left, then region_reader::finish. */
    state = ENDED;
    poll();
    skip; /* nothing may jump to what follows */
    d_step {
        do
        :: lost_reported < lost ->
            #ifndef OVERWRITE
            assert(WRITERS_LATE || (TOLD < attempted && log[TOLD] == LOST));
            #endif
            lost_reported++
        :: else -> break
        od;
        skip
    }
    AFTER_END;
    reader_done = 1
}
