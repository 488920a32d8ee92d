// SPDX-License-Identifier: MIT
//
// Functions that emit an event in memory. run.py checks what they copy while the event is enabled.
//
// The comment above a function states what run.py expects:
//     // expect copy: N bytes         each byte is read once, in whole words, and only moved
//     // expect copy complaint: TEXT  other instructions, and TEXT in what run.py reports
#include <eventlog/eventlog.hpp>

#include "sites.hpp"

using namespace sites;

extern "C" {

// expect copy: 16 bytes
void copy_numbers(const numbers& event) {
    site::emit(event);
}

// expect copy: 8 bytes
void copy_flags(const flags& event) {
    site::emit(event);
}

// expect copy: 16 bytes
void copy_point(const point& event) {
    site::emit(event);
}

// expect copy: 40 bytes
void copy_every_width(const every_width& event) {
    site::emit(event);
}

// expect copy: 24 bytes
void copy_nested(const pair_of_points& event) {
    site::emit(event);
}

// expect copy: 24 bytes
void copy_short_arrays(const short_arrays& event) {
    site::emit(event);
}

// expect copy: 64 bytes
void copy_what_takes_more_than_registers(const eight_words& event) {
    site::emit(event);
}

// The library gets the event's address, and copies the event once, into the ring.
// expect copy: 0 bytes
void copy_block(const block& event) {
    site::emit(event);
}

// expect copy complaint: bytes of the event
void copy_unsorted(const unsorted& event) {
    site::emit(event);
}
}
