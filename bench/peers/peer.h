/* SPDX-License-Identifier: MIT */
/*
 * The interface of a peer's shared object. bench/peers.py compiles each where the peer is
 * installed, so eventlog can be built without them.
 *
 * The loop over the events of a burst is in the shared object: between the loop and the peer there
 * is only the code of the peer's own headers.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns NULL, or a sentence with the reason why this peer cannot be measured. */
const char* peer_begin(const char* argument);

/* Emits that many events: a u64, two u32, and the NUL-terminated text. */
void peer_burst(uint64_t events, const char* reason);

/*
 * Called after each burst, outside of the measurement: does a reader's work, if this object has to.
 */
void peer_rest(void);

/* Ends the peer. Returns the number of lost events, if the peer knows it. */
uint64_t peer_end(void);

#ifdef __cplusplus
}
#endif
