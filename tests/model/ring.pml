/* SPDX-License-Identifier: MIT */
/*
 * A CPU's ring: two threads on one CPU, a signal handler that may interrupt one of them, and a
 * reader on another CPU. The threads run sdk/src/ring/ring_writer.cpp (write_record, make_room),
 * ring_transition.cpp (decide_when_full) and the restartable sequences of rseq_append.hpp,
 * rseq_sequence.hpp and rseq.cpp, with the assembly in x86_64/ and aarch64/.
 *
 * -DOVERWRITE: the producer switches to the next buffer whether it has been drained or not.
 * -DKILLS=n: n threads are killed, at any point.
 * -DPREEMPTIONS=n: at most n preemptions; without it, any number.
 */
#ifdef PREEMPTIONS
byte preemptions = PREEMPTIONS;
#define PREEMPTION_IS_LEFT (preemptions > 0)
#define COUNT_PREEMPTION preemptions--
#else
#define PREEMPTION_IS_LEFT true
#define COUNT_PREEMPTION skip
#endif
#ifndef KILLS
#define KILLS 0
#endif
#ifndef RECORDS_0
#define RECORDS_0 1 /* of thread 0; its handler has one more */
#endif
#ifndef RECORDS_1
#define RECORDS_1 2 /* of thread 1 */
#endif
#ifndef SIGNALS
#define SIGNALS 1 /* to thread 0 */
#endif

#define RECORDS_MAX 3 /* for the names of records */
#define ATTEMPTS (RECORDS_0 + RECORDS_1 + SIGNALS)

#include "memory.pml"

/* The running context: thread 0 or 1, and whether thread 0 is in its handler. */
#define HANDLER 2
#define THREAD_OF(me) ((me) == 1 -> 1 : 0)
bit running = 0;
bit handling = 0;
bit signals = SIGNALS;
bit ended[2];
byte kills = KILLS;
byte writers_left = 2;
byte late = 0; /* records committed after the end of the subscription */
#define WRITERS_LATE (late != 0)

#include "reader.pml"

#define MAY_RUN(me) \
    ((me) == 0 -> running == 0 && !handling && !ended[0] : \
        ((me) == 1 -> running == 1 : running == 0 && handling))

#ifdef FAULT_SWITCH_IGNORES_DRAINED
#define MAY_SWITCH true
#else
#define MAY_SWITCH (MODE_OVERWRITES || generation + 1 < drained_seen + BUFFERS)
#endif

#define FORGET                  \
    expected = 0;               \
    generation = 0;             \
    drained_seen = 0;           \
    sealed = 0;                 \
    records_before = 0;         \
    unit = 0

/* Leaves a sequence through its abort handler. */
#define ABORT drop_copy(); FORGET; goto append

/* An attempt is over. */
#define NEXT_ONE FORGET; id = 0; size = 0; goto next

/*
 * Precedes each step of a thread, which may be preempted, interrupted or killed. When it has the CPU
 * again, it continues at `place`. Within a sequence, rseq(2) makes that the abort handler, from which
 * all paths lead to `append`.
 */
#define DISTURBED(place) MAY_BE_DISTURBED(goto place)
#define SEQUENCE_DISTURBED MAY_BE_DISTURBED(ABORT)
#define MAY_BE_DISTURBED(go_on)                                             \
    MAY_RUN(me);                                                            \
    if                                                                      \
    :: PREEMPTION_IS_LEFT && !ended[1 - running] ->                         \
        COUNT_PREEMPTION;                                                   \
        running = 1 - running;                                              \
        go_on                                                               \
    :: me == 0 && signals > 0 ->                                            \
        signals--;                                                          \
        handling = 1;                                                       \
        writers_left++;                                                     \
        run writer(HANDLER, 1);                                             \
        go_on                                                               \
    :: me != HANDLER && kills > 0 ->                                        \
        kills--;                                                            \
        goto killed                                                         \
    :: true                                                                 \
    fi

/* Copied bytes that are not committed are never read: they are not part of the state. */
inline drop_copy() {
    do
    :: unit > 0 ->
        memory[PLACE(GENERATION(expected), UNITS(expected) + size - unit)] = 0;
        unit--
    :: else -> break
    od
}

proctype writer(byte me; byte left) {
    byte id, size, unit;
    /* full_decision */
    short expected, sealed;
    byte generation, drained_seen, records_before;

    do
    :: left > 0 ->
        atomic {
            MAY_RUN(me);
            id = me * RECORDS_MAX + left;
            left--;
            if
            :: size = 1
            :: size = 2
            fi
        }

        /* rseq_append_block and rseq_append_pieces: EVENTLOG_SEQUENCE_START or the check that it is
           armed, ..._LOCATE_RECORD. */
append: atomic {
            DISTURBED(append);
            if
            :: state != LIVE -> goto done
            :: state == LIVE && UNITS(control) + size > CAPACITY -> goto make_room
            :: else -> expected = control /* rdi: the record's position */
            fi
        }
#ifdef FAULT_COMMIT_BEFORE_COPY
        atomic {
            SEQUENCE_DISTURBED;
            control = control + ONE_RECORD + size;
            note_record(id)
        }
#endif
        /* The copy: from the last word to the first, as in the code. */
        do
        :: atomic {
            unit < size && MAY_RUN(me) ->
                SEQUENCE_DISTURBED;
                unit++;
                memory[PLACE(GENERATION(expected), UNITS(expected) + size - unit)] =
                    WORD(id, size - unit, size)
            }
        :: atomic {
            unit == size && MAY_RUN(me) ->
                SEQUENCE_DISTURBED;
                /* The commit: addq to the control word. */
#ifndef FAULT_COMMIT_BEFORE_COPY
                assert(control == expected);
                control = control + ONE_RECORD + size;
                note_record(id);
                if
                :: state != LIVE ->
                    /* Only the sequence that was running at the end. */
                    late++;
                    assert(late == 1)
                :: else
                fi;
#endif
                NEXT_ONE
            }
        od;

        /*
         * decide_when_full. It reads the control word first, and its decision is effective only if that
         * is still the same. So it is one step: see README.md.
         */
make_room: atomic {
            DISTURBED(make_room);
            expected = control;
            generation = buffers[BUFFER(GENERATION(expected))].generation;
            drained_seen = drained;
            sealed = (IS_SEALED(expected) -> buffers[BUFFER(GENERATION(expected))].sealed :
                expected);
            records_before =
                buffers[BUFFER(GENERATION(expected))].records_before + COUNT(expected);
            if
            :: UNITS(expected) + size <= CAPACITY -> ABORT
            :: UNITS(expected) + size > CAPACITY && MAY_SWITCH ->
                drained_seen = 0;
                goto switch
            :: UNITS(expected) + size > CAPACITY && !MAY_SWITCH && !IS_SEALED(expected) ->
                drained_seen = 0;
                records_before = 0;
                generation = 0;
                goto seal
            :: else ->
                drained_seen = 0;
                sealed = 0;
                records_before = 0;
                generation = 0;
                goto count_lost
            fi
        }

        /* rseq_switch_buffers. */
switch: atomic {
            DISTURBED(switch);
            if
            :: control != expected -> ABORT
            :: else
            fi;
            if
            :: buffers[BUFFER(GENERATION(expected))].generation != generation -> ABORT
            :: else
            fi;
#ifndef FAULT_SEALED_NOT_NOTED
            buffers[BUFFER(generation)].sealed = sealed
#endif
        }
#ifndef FAULT_GENERATION_LAST
        atomic {
            SEQUENCE_DISTURBED;
            buffers[BUFFER(generation + 1)].generation = generation + 1
        }
#endif
        atomic {
            SEQUENCE_DISTURBED;
            buffers[BUFFER(generation + 1)].records_before = records_before
        }
        atomic {
            SEQUENCE_DISTURBED;
            buffers[BUFFER(generation + 1)].lost_before = lost;
            buffers[BUFFER(generation + 1)].sealed = 0
        }
#ifdef FAULT_GENERATION_LAST
        atomic {
            SEQUENCE_DISTURBED;
            buffers[BUFFER(generation + 1)].generation = generation + 1
        }
#endif
        atomic {
            SEQUENCE_DISTURBED;
            control = FIRST_OF(generation + 1);
            note_switch();
            ABORT /* wake_reader is in wake.pml; then try again */
        }

        /* rseq_seal. */
seal:   atomic {
            DISTURBED(seal);
            if
            :: control != expected -> ABORT
            :: else -> buffers[BUFFER(GENERATION(expected))].sealed = expected
            fi
        }
        atomic {
            SEQUENCE_DISTURBED;
            control = SEAL(expected);
            ABORT
        }

        /* rseq_count_lost. */
count_lost: atomic {
            DISTURBED(count_lost);
#ifdef FAULT_WAIT_FOR_ROOM
            ABORT;
#endif
#ifndef FAULT_LOSS_COUNTED_AFTER_SWITCH
            if
            :: control != expected -> ABORT
            :: else
            fi;
#endif
            lost++;
            note_loss();
            NEXT_ONE
        }

next:   skip
    :: else -> break
    od;

done: atomic {
        MAY_RUN(me);
killed: drop_copy();
        FORGET;
        id = 0;
        size = 0;
        left = 0;
        if
        :: me == HANDLER -> handling = 0
        :: else ->
            ended[THREAD_OF(me)] = 1;
            running = 1 - running
        fi;
        writers_left--
    }
}

init {
    atomic {
        set_up_ring();
        run writer(0, RECORDS_0);
        run writer(1, RECORDS_1)
    };
    atomic {
        reader_done && writers_left == 0 -> check_conservation()
    }
}
