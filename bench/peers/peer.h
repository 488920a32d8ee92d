/* SPDX-License-Identifier: MIT */
/*
 * What the shared object of a peer offers to who measures it.  Each is compiled where the peer is
 * installed, by bench/peers.py, so that nobody needs any of them to build eventlog.
 *
 * The loop over the events of a burst stands in the shared object: between it and the peer is what
 * the peer's own headers put there, and nothing of ours.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns NULL, or a sentence that says why this peer cannot be measured. */
const char* peer_begin(const char* argument);

/* Emits so many of our event: a u64, two u32, and the text, which ends with NUL. */
void peer_burst(uint64_t events, const char* reason);

/* Behind each burst, while nobody measures: what a program that reads would do, if it is this one.
 */
void peer_rest(void);

/* Ends.  Returns how many events got lost, as far as the peer itself knows. */
uint64_t peer_end(void);

#ifdef __cplusplus
}
#endif
