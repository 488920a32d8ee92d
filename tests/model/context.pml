/* SPDX-License-Identifier: MIT */
/*
 * The context of a CPU's ring (rule W9 of linux/eventlog.h): two threads on one CPU, and a signal
 * handler that may interrupt one of them. Readers do not look at the context, so there is none; a
 * log of the last record with a context takes its place. The threads run rseq_append_block
 * (rseq_append.hpp in sdk/src/ring/x86_64 and aarch64), rseq_append_context and rseq_switch_buffers
 * (rseq.cpp there). The ring is in overwrite mode, where a switch does not wait.
 *
 * A short record has one unit, a record with a context two. The context of a record is the number of
 * its thread, which a handler shares.
 *
 * -DKILLS=n: n threads are killed, at any point.
 * -DGENERATIONS=n: the control word has the generation modulo n.
 */
#ifndef KILLS
#define KILLS 0
#endif
#ifndef SIGNALS
#define SIGNALS 1 /* to thread 0 */
#endif
#ifndef RECORDS_0
#define RECORDS_0 2 /* of thread 0; its handler has two more */
#endif
#ifndef RECORDS_1
#define RECORDS_1 3 /* of thread 1 */
#endif
#ifndef GENERATIONS
#define GENERATIONS 8
#endif
#define BUFFERS 2
#ifndef CAPACITY
#define CAPACITY 3 /* units in a buffer */
#endif

#define UNITS(control) ((control) & 7)
#define IN_WORD(generation) ((generation) % GENERATIONS)
#define FIRST_OF(generation) (IN_WORD(generation) << 6)
#define ONE_RECORD 8
#define BUFFER(generation) ((generation) % BUFFERS)
#define ACTIVE BUFFER((control) >> 6) /* GENERATIONS is a multiple of BUFFERS */

/* struct eventlog_ring, and the generations of its descriptors. 255: no generation yet. */
short control = 0;
byte context = 0;
byte generations[BUFFERS];

/* The log: the context of the last record with one in the active buffer; 0: there is none. */
byte last = 0;
#define CHECK assert(context == 0 || context == last)

#define HANDLER 2
bit running = 0;
bit handling = 0;
bit signals = SIGNALS;
bit ended[2];
byte kills = KILLS;
byte writers_left = 2;

#define MAY_RUN(me) \
    ((me) == 0 -> running == 0 && !handling && !ended[0] : \
        ((me) == 1 -> running == 1 : running == 0 && handling))

#define FORGET expected = 0; generation = 0
#define NEXT_ONE FORGET; goto next

/* As in ring.pml. */
#define DISTURBED(place) MAY_BE_DISTURBED(goto place)
#define SEQUENCE_DISTURBED MAY_BE_DISTURBED(FORGET; goto append)
/* B has one store that matters. If it is not done, the context stays 0. */
#define LAST_SEQUENCE_DISTURBED MAY_BE_DISTURBED(NEXT_ONE)
#define MAY_BE_DISTURBED(go_on)         \
    MAY_RUN(me);                        \
    if                                  \
    :: !ended[1 - running] ->           \
        running = 1 - running;          \
        go_on                           \
    :: me == 0 && signals > 0 ->        \
        signals--;                      \
        handling = 1;                   \
        writers_left++;                 \
        run writer(HANDLER, 1, 2);      \
        go_on                           \
    :: me != HANDLER && kills > 0 ->    \
        kills--;                        \
        goto killed                     \
    :: true                             \
    fi

proctype writer(byte me; byte own; byte left) {
    short expected;  /* the control word; in B the one that A has committed */
    byte generation; /* of the active buffer's descriptor */

    do
    :: left > 0 ->
        atomic { MAY_RUN(me); left-- }

        /* rseq_append_block. */
append: atomic {
            DISTURBED(append);
            if
            :: context != own -> goto append_context
            :: context == own && UNITS(control) + 1 > CAPACITY -> goto make_room
            :: else -> expected = control
            fi
        }
        atomic {
            SEQUENCE_DISTURBED;
            assert(control == expected && last == own); /* the reader finds its thread and time */
            control = control + ONE_RECORD + 1;
            NEXT_ONE
        }

        /* rseq_append_context: A. */
append_context: atomic {
            DISTURBED(append_context);
            if
            :: UNITS(control) + 2 > CAPACITY -> goto make_room
            :: else -> expected = control
            fi;
#ifndef FAULT_CONTEXT_NOT_CLEARED
            context = 0
#endif
        }
#ifdef FAULT_CONTEXT_BEFORE_COMMIT
        atomic { SEQUENCE_DISTURBED; context = own }
#endif
        atomic {
            SEQUENCE_DISTURBED;
            assert(control == expected);
            control = control + ONE_RECORD + 2;
            last = own;
            expected = control;
            generation = generations[ACTIVE]
        }
        /* B. */
append_end: atomic {
            DISTURBED(append_end);
#ifndef FAULT_CONTROL_NOT_COMPARED
            if
            :: control != expected -> NEXT_ONE
            :: else
            fi;
#endif
#if !defined(FAULT_GENERATION_NOT_COMPARED) && !defined(FAULT_CONTROL_NOT_COMPARED)
            if
            :: generations[ACTIVE] != generation -> NEXT_ONE
            :: else
            fi;
#endif
            skip
        }
        atomic {
            LAST_SEQUENCE_DISTURBED;
            context = own;
            CHECK;
            NEXT_ONE
        }

        /* decide_when_full, for the longest header. */
make_room: atomic {
            DISTURBED(make_room);
            if
            :: UNITS(control) + 2 <= CAPACITY -> FORGET; goto append
            :: else -> expected = control; generation = generations[ACTIVE]
            fi
        }
        /* rseq_switch_buffers. */
switch: atomic {
            DISTURBED(switch);
            if
            :: control != expected || generations[ACTIVE] != generation -> FORGET; goto append
            :: else
            fi;
            generations[BUFFER(generation + 1)] = generation + 1
        }
#ifndef FAULT_SWITCH_KEEPS_CONTEXT
        atomic { SEQUENCE_DISTURBED; context = 0 }
#endif
        atomic {
            SEQUENCE_DISTURBED;
            control = FIRST_OF(generation + 1);
            last = 0;
            CHECK;
            FORGET;
            goto append
        }

next:   skip
    :: else -> break
    od;

    atomic {
        MAY_RUN(me);
killed: FORGET;
        left = 0;
        if
        :: me == HANDLER -> handling = 0
        :: else ->
            ended[me] = 1;
            running = 1 - running
        fi;
        writers_left--
    }
}

init {
    atomic {
        generations[1] = 255;
        run writer(0, 1, RECORDS_0);
        run writer(1, 2, RECORDS_1)
    };
    writers_left == 0
}
