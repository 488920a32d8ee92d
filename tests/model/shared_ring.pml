/* SPDX-License-Identifier: MIT */
/*
 * The shared ring, sdk/src/ring/shared_ring.cpp: two threads on two CPUs, a signal handler that may
 * interrupt the first of them, a reader, and a lock that outlives its holder. After the end of the
 * subscription, the buffers' memory is released: release_memory in sdk/src/shm/subscription_file.cpp.
 *
 * -DKILLS=n: n threads are killed, at any point.  -DSIGNALS=0: no handler.
 * -DLATE: buffers have no memory before their first use, and the allocation may fail.
 * -DRESERVES: the second thread reserves all buffers when it attaches (reserve_shared_ring in
 * sdk/src/emit/attach.cpp).
 * -DNAME_IS_REUSED: a killed thread is followed by one with the same thread number, as when the kernel
 * reuses numbers.
 */
#ifndef RECORDS_0
#define RECORDS_0 1 /* of thread 0; its handler has one more */
#endif
#ifndef RECORDS_1
#define RECORDS_1 2 /* of thread 1 */
#endif
#ifndef SIGNALS
#define SIGNALS 1 /* to thread 0 */
#endif
#ifndef KILLS
#define KILLS 1
#endif

#define RECORDS_MAX 3 /* for the names of records */
#define ATTEMPTS (RECORDS_0 + RECORDS_1 + SIGNALS + KILLS)

#ifdef LATE
#define BORN SEALED /* generation 0, empty */
#define HAS_NOT_BEGUN (expected == BORN)
#define GO_ON populate
/* The first buffer. */
#define FRESH (HAS_NOT_BEGUN -> 0 : GENERATION(expected) + 1)
#else
#define HAS_NOT_BEGUN false
#define GO_ON change
#endif

#include "memory.pml"

#define HANDLER 2
#define REUSED 3
/* The name of a thread in the lock; 0: not held. */
#define NAME_OF_0 1
#define NAME_OF_1 2

byte lock = 0;
byte holders = 0;     /* threads that believe to hold the lock */
bit is_running[3];    /* whether there is a thread of that name */
#ifdef LATE
bit has_memory[BUFFERS]; /* the whole buffer; a part counts as none */
byte reserved = 0;       /* eventlog_ring.reserved_buffers */
#endif
bit handling = 0;
bit signals = SIGNALS;
byte kills = KILLS;
byte writers_left = 2;
byte late = 0;        /* records committed after the end of the subscription */
bit is_released = 0;   /* the buffers' memory is released */
bit memory_is_free;
#define WRITERS_LATE (late != 0)

/* release_memory: not while a living thread has the lock. */
#define AFTER_END                       \
    memory_is_free = (lock == 0 || !is_running[lock]); \
    if                                  \
    :: memory_is_free -> is_released = 1 \
    :: else                             \
    fi

#include "reader.pml"

#define MAY_RUN (me != 0 || !handling)

#define DISTURBED(place)                                                    \
    MAY_RUN;                                                                \
    if                                                                      \
    :: me == 0 && signals > 0 ->                                            \
        signals--;                                                          \
        handling = 1;                                                       \
        writers_left++;                                                     \
        run writer(HANDLER, name, 1);                                       \
        goto place                                                          \
    :: kills > 0 && me != HANDLER ->                                        \
        kills--;                                                            \
        goto killed                                                         \
    :: true                                                                 \
    fi

#define CHANGING buffers[BUFFER(GENERATION(expected))]
#define NEXT buffers[BUFFER(GENERATION(expected) + 1)]

/* Variables that are not read again are not part of the state. */
#define FORGET    \
    id = 0;       \
    size = 0;     \
    unit = 0;     \
    holder = 0;   \
    expected = 0; \
    sealed = 0

#define NEXT_ONE FORGET; goto next

/* The compare-and-swap has found what it expected. */
inline take_lock() {
    lock = name;
    holder = 0;
    held = 1;
    holders++;
    assert(holders == 1)
}

/* Copied bytes that are not committed are never read. */
inline drop_copy() {
    do
    :: unit > 0 ->
        memory[PLACE(GENERATION(expected), UNITS(expected) + size - unit)] = 0;
        unit--
    :: else -> break
    od
}

proctype writer(byte me; byte name; byte left) {
    byte id, size, unit, holder;
    bit held;
    short expected, sealed;

    is_running[name] = 1;
#ifdef RESERVES
    if
    :: me == 1 ->
        /* reserve_shared_ring: signals are blocked. */
reserve: atomic {
            DISTURBED(reserve);
            has_memory[0] = 1;
            has_memory[1] = 1;
            #ifdef FAULT_RESERVES_WITHOUT_THE_LOCK
            reserved = BUFFERS
            #endif
        }
reserve_lock: atomic {
            DISTURBED(reserve_lock);
            if
            :: lock == 0 -> take_lock()
            :: lock != 0 -> goto reserved_or_not /* buffers are reserved when they are needed */
            fi
        }
reserve_again: atomic {
            DISTURBED(reserve_again);
            has_memory[0] = 1;
            has_memory[1] = 1
        }
reserve_note: atomic { DISTURBED(reserve_note); reserved = BUFFERS }
reserve_unlock: atomic {
            DISTURBED(reserve_unlock);
            lock = 0;
            held = 0;
            holders--
        }
reserved_or_not:
        skip
    :: else
    fi;
#endif
    do
    :: left > 0 ->
        /* write_record_shared: no record is written after the end. */
start:  atomic {
            DISTURBED(start);
            if
            :: state != LIVE -> goto done
            :: else
            fi;
            id = me * RECORDS_MAX + left;
            left--;
            if
            :: size = 1
            :: size = 2
            fi
        }

        /* ring_lock::wait: repeats while the lock changes; its limit may be reached at any time. */
wait:   atomic {
            DISTURBED(wait);
            if
            :: lock == 0 -> take_lock(); goto refresh
            :: lock != 0 && lock == name -> NEXT_ONE /* busy: a handler in the holder's thread */
            :: lock != 0 && lock != name -> holder = lock
            fi
        }
gives_up: atomic {
            DISTURBED(gives_up);
            if
            :: lock == 0 -> holder = 0; goto wait
            :: true ->
                /* has_holder_died */
                if
#ifndef FAULT_TAKE_FROM_THE_LIVING
                :: is_running[holder] -> NEXT_ONE /* busy */
#endif
                :: else
                fi
            fi
        }
take_over: atomic {
            DISTURBED(take_over);
            if
            :: lock == holder -> take_lock(); goto refresh
            :: else -> NEXT_ONE /* busy */
            fi
        }

        /* Checked again: waiting may have been long. */
refresh: atomic {
            DISTURBED(refresh);
            if
#ifndef FAULT_LOOK_ONCE
            :: state != LIVE -> goto unlock_and_end
#endif
            :: else
            fi
        }

        /* make_room and decide_when_full: of the values that they read, only `drained` changes meanwhile. */
make_room: atomic {
            DISTURBED(make_room);
            expected = control;
            if
#ifdef LATE
            :: HAS_NOT_BEGUN -> goto begin
#endif
            :: UNITS(expected) + size <= CAPACITY -> goto copy
            :: UNITS(expected) + size > CAPACITY && MODE_OVERWRITES && !HAS_NOT_BEGUN -> goto GO_ON
            :: else ->
                if
                :: CHANGING.generation + 1 < drained + BUFFERS -> goto GO_ON
                :: CHANGING.generation + 1 >= drained + BUFFERS && !IS_SEALED(expected) ->
                    goto seal
                :: else -> goto count_lost
                fi
            fi
        }

#ifdef LATE
        /* has_memory and begin: for a ring without records. */
begin:  atomic {
            DISTURBED(begin);
            if
            :: reserved > 0
            :: reserved == 0 -> has_memory[0] = 1
            #ifdef RESERVES
            :: reserved == 0 -> goto give_back
            #else
            :: goto count_lost
            #endif
            fi
        }
begin_lost: atomic {
            DISTURBED(begin_lost);
            #ifndef FAULT_LOSSES_BEFORE_THE_FIRST_FORGOTTEN
            buffers[0].lost_before = lost
            #endif
        }
begin_control: atomic {
            DISTURBED(begin_control);
            control = FIRST_OF(0);
            note_switch();
            expected = 0;
            goto make_room
        }

        /* has_memory: for the next buffer, before its first generation. */
populate: atomic {
            DISTURBED(populate);
            if
            :: GENERATION(expected) + 1 >= BUFFERS || GENERATION(expected) + 1 < reserved
            :: GENERATION(expected) + 1 < BUFFERS && GENERATION(expected) + 1 >= reserved ->
                #ifndef FAULT_GOES_ON_WITHOUT_MEMORY
                if
                :: has_memory[GENERATION(expected) + 1] = 1
                #ifdef RESERVES
                :: goto give_back
                #else
                :: IS_SEALED(expected) -> goto count_lost
                :: !IS_SEALED(expected) -> goto seal
                #endif
                fi
                #else
                skip
                #endif
            fi;
            goto change
        }

        /* The allocation failed. A step only where another thread may have reserved the buffer meanwhile. */
#ifdef RESERVES
give_back: atomic {
            DISTURBED(give_back);
            has_memory[FRESH] = 0;
            if
            :: IS_SEALED(expected) -> goto count_lost
            :: else -> goto seal
            fi
        }
#endif
#endif

        /* switch_shared_buffers. */
change: atomic {
            DISTURBED(change);
            sealed = (IS_SEALED(expected) -> CHANGING.sealed : expected);
            CHANGING.sealed = sealed
        }
generation: atomic { DISTURBED(generation); NEXT.generation = GENERATION(expected) + 1 }
before: atomic {
            DISTURBED(before);
            NEXT.records_before = CHANGING.records_before + COUNT(sealed);
            sealed = 0
        }
lost_before: atomic { DISTURBED(lost_before); NEXT.lost_before = lost; NEXT.sealed = 0 }
change_control: atomic {
            DISTURBED(change_control);
            control = FIRST_OF(GENERATION(expected) + 1);
            note_switch();
            expected = 0;
            goto make_room
        }

        /* seal. */
seal:   atomic { DISTURBED(seal); CHANGING.sealed = expected }
seal_control: atomic {
            DISTURBED(seal_control);
            control = SEAL(expected);
            expected = 0;
            goto make_room
        }

count_lost: atomic {
            DISTURBED(count_lost);
            lost++;
            note_loss();
            goto unlock
        }

        /* copy_record, and the committing store. */
copy:   atomic {
            DISTURBED(copy);
            assert(!is_released);
            #ifdef LATE
            assert(has_memory[BUFFER(GENERATION(expected))]);
            #endif
            memory[PLACE(GENERATION(expected), UNITS(expected) + size - 1 - unit)] =
                WORD(id, size - 1 - unit, size);
            unit++;
            if
            :: unit < size -> goto copy
            :: else
            fi
        }
commit: atomic {
            DISTURBED(commit);
            control = expected + ONE_RECORD + size;
            note_record(id);
            if
            :: state != LIVE ->
                /* Only the holder of the lock at the end. */
                late++;
                assert(late == 1)
            :: else
            fi;
            FORGET
        }

unlock: atomic {
            DISTURBED(unlock);
            lock = 0;
            held = 0;
            holders--;
            NEXT_ONE
        }
unlock_and_end: atomic {
            DISTURBED(unlock_and_end);
            lock = 0;
            held = 0;
            holders--;
            FORGET;
            goto done
        }

next:   skip
    :: else -> break
    od;

done: atomic {
        MAY_RUN;
        if
        :: me == HANDLER -> handling = 0
        :: else -> is_running[name] = 0
        fi;
        left = 0;
        writers_left--;
        goto end_writer
    }
killed: atomic {
        drop_copy();
        FORGET;
        left = 0;
        holders = holders - held;
        held = 0;
        is_running[name] = 0;
#ifdef NAME_IS_REUSED
        run writer(REUSED, name, 1);
        writers_left++;
#endif
        writers_left--
    }
end_writer:
    skip
}

init {
    atomic {
        set_up_ring();
        run writer(0, NAME_OF_0, RECORDS_0);
        run writer(1, NAME_OF_1, RECORDS_1)
    };
    atomic {
        reader_done && writers_left == 0 -> check_conservation()
    }
}
