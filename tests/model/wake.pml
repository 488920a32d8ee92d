/* SPDX-License-Identifier: MIT */
/*
 * Waking the reader: wake_reader in sdk/src/ring/ring_transition.cpp, and region_reader::wait in
 * elog/src/memory/region_reader.cpp. Two threads on two CPUs that switch buffers in separate rings, and
 * a reader without a timer, which never reads a buffer whose wakeup it misses.
 *
 * -DKILLS=n: n writers are killed, at any point. Then the reader needs the timer (-DTIMER).
 */
#ifndef SWITCHES
#define SWITCHES 3 /* of each writer */
#endif
#ifndef KILLS
#define KILLS 0
#endif

byte generation[2]; /* of the rings' control words */
byte seen[2];       /* the generations that the reader has read */
bit waiting = 0;
byte wake = 0;
bit asleep = 0; /* the reader, in the kernel */
byte writers_left = 2;
byte kills = KILLS;

#define MAY_BE_KILLED       \
    if                      \
    :: kills > 0 ->         \
        kills--;            \
        goto end_writer           \
    :: true                 \
    fi

proctype writer(byte me; byte left) {
    do
    :: left > 0 ->
        atomic {
            MAY_BE_KILLED;
            left--;
            generation[me]++ /* the control word */
        }
        /* wake_reader, after a full fence. */
        atomic {
            MAY_BE_KILLED;
            if
            :: !waiting -> goto next
            :: else
            fi
        }
        atomic {
            MAY_BE_KILLED;
            if
            :: !waiting -> goto next
            :: else -> waiting = 0 /* the exchange */
            fi
        }
        atomic { MAY_BE_KILLED; wake++ }
        atomic { MAY_BE_KILLED; asleep = 0 /* FUTEX_WAKE */ }
next:   skip
    :: else -> break
    od;
end_writer:
    writers_left--
}

#define SOMETHING_TO_READ (generation[0] != seen[0] || generation[1] != seen[1])

proctype reader() {
    byte expected;
    do
    :: /* poll */
        seen[0] = generation[0];
        seen[1] = generation[1];
        if
        :: atomic { writers_left == 0 && !SOMETHING_TO_READ -> break }
        :: else
        fi;
        /* wait */
        expected = wake;
#ifdef FAULT_LOOK_BEFORE_WAITING
        if
        :: SOMETHING_TO_READ -> goto awake
        :: else
        fi;
        waiting = 1;
#else
        waiting = 1; /* and a full fence */
        if
        :: SOMETHING_TO_READ -> goto awake
        :: else
        fi;
#endif
        /* FUTEX_WAIT: the kernel compares and sleeps in one step. */
        atomic {
            if
            :: wake == expected -> asleep = 1
            :: else -> goto awake
            fi
        }
        if
        :: !asleep
#ifdef TIMER
        :: asleep = 0
#endif
        :: atomic {
            writers_left == 0 && asleep && !SOMETHING_TO_READ -> /* the end, by a signal */
                asleep = 0
            }
        fi;
awake:  waiting = 0
    od
}

init {
    atomic {
        run writer(0, SWITCHES);
        run writer(1, SWITCHES);
        run reader()
    };
    atomic {
        _nr_pr == 1 -> assert(generation[0] == seen[0] && generation[1] == seen[1])
    }
}
