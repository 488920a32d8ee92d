/* SPDX-License-Identifier: (GPL-2.0 WITH Linux-syscall-note) OR MIT */
/*
 * eventlog: layout and protocol of the memory that writers and readers share.
 *
 * PURPOSE
 *
 * A subscription is one region of memory. In user space it is a file in tmpfs,
 * created by the consumer and written by every application that has a provider
 * the consumer asked for. The kernel module uses the same layout.
 *
 * Records go from many writers to any number of readers through one ring per
 * CPU. Writers do not wait for readers or for the consumer, and may be killed at
 * any instruction. Every record that was attempted on a ring is read, or counted
 * as lost or overwritten, exactly and at its position.
 *
 * A region has one of two modes, for good:
 *
 *   discard    What has not been read stays. What finds no room is lost.
 *   overwrite  New records replace the oldest, read or not: the flight recorder
 *              (EVENTLOG_FEATURE_OVERWRITE).
 *
 * LAYOUT
 *
 * Region
 *
 *   0                  +-------------------------------------------+
 *                      | struct eventlog_region                    |
 *                      |   identity, geometry, filter, state, wake |
 *                      | struct eventlog_pause_log                 |
 *   rings_offset       +-------------------------------------------+
 *                      | ring 0: struct eventlog_ring              |
 *                      |         struct eventlog_buffer [count]    |
 *                      | ring 1: ...                 (ring_stride) |
 *                      | ring ring_count - 1: the shared ring      |
 *   providers_offset   +-------------------------------------------+
 *                      | struct eventlog_provider_entry            |
 *                      |                  [EVENTLOG_PROVIDERS_MAX] |
 *   schemas_offset     +-------------------------------------------+
 *                      | schemas, 8-byte aligned, schemas_size     |
 *   buffers_offset     +-------------------------------------------+
 *                      | ring 0: buffer 0, buffer 1, ...           |
 *                      | ring 1: buffer 0, ...                     |
 *   total_size         +-------------------------------------------+
 *
 *   ring_stride       128 + 32 * buffer_count, rounded up to 64
 *   rings_offset      size of struct eventlog_region and of struct
 *                     eventlog_pause_log behind it, both multiples of 64
 *   providers_offset  rings_offset + ring_count * ring_stride, rounded up to 64
 *   schemas_offset    providers_offset + 128 * EVENTLOG_PROVIDERS_MAX, up to 64K
 *   buffers_offset    schemas_offset + schemas_size, which is a multiple of 64K
 *   total_size        buffers_offset + ring_count * buffer_count * buffer_size
 *   ring r            at rings_offset + r * ring_stride
 *   its buffer b      at buffers_offset + (r * buffer_count + b) * buffer_size
 *
 * (64K: 65536.)  Counts and sizes determine the layout; a process that opens a region
 * rejects any other. All numbers are in the machine's byte order, each at a multiple of
 * its size. Unnamed padding is only in front of members aligned to 64; it stays 0.
 *
 * The file is subscriptions/NN; the number NN is the subscription's slot. The
 * file may be larger than total_size, not smaller. Bytes that were never written
 * are zero.
 *
 * Rings
 *
 * Ring r below ring_count - 1 belongs to CPU r: all threads of all processes that
 * run on that CPU are one producer, because they write inside restartable
 * sequences (rseq(2)). The last ring is shared by threads that cannot do that, or
 * that run on a CPU whose ring is not backed by memory; a lock makes them one
 * producer. All rules hold for both kinds.
 *
 * In a new region each ring has control 0, lost 0 and drained 0. The descriptor
 * of buffer 0 is all zero, those of the other buffers have generation ~0. A ring
 * that is not backed has control EVENTLOG_SEALED for ever: nothing fits into it.
 * The shared ring may begin with that word, too: see the rules for its memory.
 *
 * Control word of a ring, one u64
 *
 *     63            46 45               24 23                        0
 *    +----------------+-------------------+---------------------------+
 *    | generation, 18 | record count, 22  | position, 24 (8-byte units)|
 *    +----------------+-------------------+---------------------------+
 *
 * Generation g is in buffer g % buffer_count, from byte 0 of it. The position is
 * where in that buffer the next record goes, the record count how many records
 * precede it. The word has the low 18 bits of the generation, the descriptor has
 * all 64.
 *
 * Records
 *
 * A record has one to three words, extension words, and its payload, and ends at a
 * multiple of 8 bytes; the rest is zero. Most records are of kind 0, which leaves out
 * what the record before them has said.
 *
 *              63             42 41  40 39    32 31                           0
 *     word 0  +-----------------+------+--------+------------------------------+
 *             | event, 22       | kind | size, 8| time, low half               |
 *             +-----------------+------+--------+------------------------------+
 *     word 1  | thread                          | time, high half              |
 *             +----------+---------+------------+---------------+--------------+
 *     word 2  | 0, 8     | words, 8| CPU, 16    | flags, 16     | size, 16     |
 *             +----------+---------+------------+---------------+--------------+
 *
 *     kind          header        for
 *     0 SHORT       word 0        payloads up to 255 bytes, in the context of the ring
 *     1 CONTEXT     words 0, 1    the same, in another context, which it begins
 *     2 EXTENDED    words 0 to 2  all other records; it neither needs nor begins a context
 *     3 MARKER      words 0, 1    what is no event; `event` is its type; not in rings
 *
 * Word 1 is the record's context. That of a SHORT record is word 1 of the last CONTEXT
 * record before it in its buffer. The CPU of a SHORT or CONTEXT record is that of the
 * ring. The size is that of the payload, without padding; in word 0 of an EXTENDED
 * record it is 0, and word 2 has it. Behind word 2 are `words` extension words, which
 * belong to the flags 8 to 15, in the order of these.
 *
 * `event` is the event's number in the region: `event_base` of its provider's entry,
 * and its position in the provider's schema. 0 is no event, so no record begins with a
 * word of zeros.
 *
 * The shared ring has EXTENDED records only: several CPUs write there. Word 1 may be 0
 * only in the kernel module's rings, for idle threads soon after boot: that is no
 * context, so no SHORT record follows such a CONTEXT record.
 *
 * Word 1 of a marker is the context of the records behind it. Markers occur in streams
 * of records only, such as that of linux/eventlog_device.h. A reader skips those whose
 * type it does not know, if the type is below EVENTLOG_MARKER_REQUIRED, else it stops.
 *
 * Buffers of a ring in discard mode
 *
 *     generation 6: sealed, drained      may be used again
 *     generation 7: sealed, being read   [records ............|unused]
 *     generation 8: active               [records ...>position        ]
 *
 * Buffers of a ring in overwrite mode, 4 of them
 *
 *     generation 5: gone; 9 will replace it, 9's descriptor perhaps does already
 *     generation 6: sealed, the oldest   [records ............|unused]
 *     generation 7: sealed               [records ..............|unus]
 *     generation 8: active               [records ...>position        ]
 *
 * STATE MACHINES
 *
 * Ring. The state is the control word: g is its generation.
 *
 *             append: the record fits
 *                  +-----+
 *                  v     |
 *    new --> +----------------+  switch: no room, next buffer free  +------------+
 *            | ACTIVE g       | ----------------------------------> | ACTIVE g+1 |
 *            | position, count|                                     +------------+
 *            +----------------+                                           ^
 *                  | full: no room, next buffer not drained               |
 *                  v                                                      |
 *            +----------------+  switch: next buffer drained meanwhile    |
 *   not  --> | SEALED g       | ------------------------------------------+
 *   backed   | count stays    |
 *            +----------------+
 *                  ^     |
 *                  +-----+
 *             loss: lost + 1
 *
 * In overwrite mode the next buffer is always free, so a ring is never SEALED.
 * The shared ring is the exception, if a buffer gets no memory; with
 * EVENTLOG_FEATURE_LAZY_SHARED_RING it begins as SEALED 0 and becomes ACTIVE 0
 * when buffer 0 has memory.
 *
 * Buffer of generation g.
 *
 *    free --switch to g--> active --switch to g+1, or full--> sealed
 *      ^                                                        |
 *      +---- discard: drained > g; overwrite: at any time ------+
 *
 * Region.           LIVE --its owner or a stop ends it, or owner found dead--> ENDED
 *                   LIVE --pause--> PAUSED --resume--> LIVE
 *                   PAUSED --as LIVE--> ENDED
 * Provider entry.   0 --schema and entry are complete--> EVENTLOG_PROVIDER_READY
 * Shared ring lock. 0 --compare-and-swap--> thread --store--> 0
 *                   thread --dies--> next thread takes it over
 *
 * INVARIANTS
 *
 *   1. Bytes of a buffer below the position of its generation never change
 *      until the buffer is used again. In discard mode that needs `drained` >
 *      generation. In overwrite mode the buffer's descriptor has a later
 *      generation before the first of them changes.
 *   2. generation(control) < drained + buffer_count, in discard mode.
 *   3. A descriptor is complete before the control word names its generation,
 *      and does not change while it does, but for `sealed`, and for `lost_before`
 *      of a shared ring that has not begun (rules for its memory).
 *   4. recorded + lost = attempted, per ring, at every instant a reader can
 *      see: records_before + count(control), lost.
 *   5. Every record begins on an 8-byte boundary and lies in one buffer. A buffer
 *      can be read alone: no SHORT record precedes its first CONTEXT record.
 *   6. A control word never has the same value twice, but for its generation's
 *      18 bits: so what was decided for one value is done only if it is still
 *      there.
 *   7. `context` of a ring is 0, or word 1 of the last CONTEXT record in the active
 *      buffer. (A thread's number is never 0.)
 *
 * RULES FOR WRITERS
 *
 *   W1. Load the gate word, then `state`; write only to a region that is LIVE,
 *       and check `state` before each record. If it is PAUSED: see P5.
 *   W2. Append. Copy the record behind the position, then add its length and one
 *       record to the control word with one store. Until that store the record
 *       does not exist: a writer that is preempted, migrated, interrupted or
 *       killed before it leaves nothing behind. A SHORT record may be appended only
 *       while `context` is the record's own. W9 appends a CONTEXT record.
 *   W3. Switch, by the producer only, when the active buffer cannot take the
 *       record and, in discard mode, the next buffer's previous generation has
 *       been drained (generation + 1 < drained + buffer_count):
 *         a. store the control word in the active buffer's `sealed`, unless it is
 *            sealed already;
 *         b. fill in the next buffer's descriptor, its generation first, and store
 *            0 in `context`;
 *         c. store the new control word: next generation, count 0, position 0.
 *       A producer may be stopped before c.; the next one repeats a. and b., so
 *       neither may be an increment.
 *   W4. Overwrite mode differs from discard mode in this only: a switch does not
 *       wait. So no ring is ever full, `lost` stays 0 and no producer seals (but
 *       see M4), and the mode is checked only where a record has found no room.
 *       In front of generation 9's first record the producer takes 5's buffer;
 *       from the store of that descriptor's generation on, no reader can read 5.
 *   W5. Full (discard mode), when the next buffer has not been drained: note
 *       `sealed`, then store the control word with position EVENTLOG_SEALED, which
 *       no record fits behind; generation and count stay. From now on records
 *       are counted in `lost` until a switch is possible, so a gap always lies
 *       between two buffers.
 *   W6. A loss is counted only while the control word still is the one for which
 *       there was no room.
 *   W7. Losses are exact without a word from the reader: `records_before` and
 *       `lost_before` of a buffer count what was recorded and lost on this ring
 *       before its first record. Their sum is that record's sequence number.
 *       Overwritten records were recorded: a reader that has read or reported
 *       fewer records than `records_before` has missed the difference, exactly.
 *   W8. After a switch, look at `waiting`: if it is set, clear it, add one to
 *       `wake` and wake. A ring that is sealed because it is full counts as
 *       switched.
 *   W9. A CONTEXT record takes two sequences, each of which other producers see
 *       wholly or not at all:
 *         A. store 0 in `context`, then append the record as in W2;
 *         B. store its word 1 in `context`, if the ring still is that of the thread's
 *            CPU, the region is the same, and nothing has been committed since A:
 *            the control word *and* the generation in the active buffer's descriptor
 *            are those of A. (The word has the generation's low 18 bits only.)
 *       A producer that is stopped before or between them, or does not do B, leaves
 *       0, and the next record is a CONTEXT record, too. The order matters: a
 *       `context` that is stored before its record, or behind another record, would
 *       give later records the wrong thread or time.
 *   W10. Attaching takes consecutive event numbers: as many as the schema has events
 *       are added to `event_numbers`; the sum before that, plus 1, is `event_base`.
 *       If the last one is above EVENTLOG_EVENT_NUMBER_MAX, the process does not
 *       attach.
 *
 * Rules for the memory of the shared ring (EVENTLOG_FEATURE_LAZY_SHARED_RING)
 *
 *   M1. The creator of a region reserves all memory that is written to, so that a
 *       page that tmpfs cannot supply kills no writer. With this feature it
 *       reserves all but the buffers of the shared ring: where threads have
 *       restartable sequences, that ring is never written to. The ring is backed
 *       and begins sealed and empty: control EVENTLOG_SEALED, all else as in any
 *       new ring.
 *   M2. Its producer, which holds the lock, gives each buffer its memory before
 *       its first use, that is before generations 0 to buffer_count - 1, with
 *       means that fail instead of killing (MADV_POPULATE_WRITE).
 *   M3. It begins the ring in this order: memory for buffer 0; `lost` into
 *       `lost_before` of descriptor 0; control 0. A producer that is killed in
 *       between has changed nothing that is looked at, and the next one does it
 *       again.
 *   M4. Without memory, the producer gives back what the buffer got, so that a
 *       full tmpfs has it again: the buffer has never been used, no control word
 *       has named it. Then the ring is full, in overwrite mode, too: the producer
 *       seals the active buffer, unless it is sealed, and counts in `lost`.
 *       The same process asks again after 10 ms at the earliest; what finds no
 *       room until then is lost without asking.
 *   M5. A process that knows from the beginning that it will write there may
 *       reserve all buffers, through the file. A holder of the lock may be giving
 *       one back meanwhile, so they are known to have their memory only when it
 *       has been reserved, again, under the lock; then `reserved_buffers` is set
 *       to their number. Those below it need not be given memory, and are never
 *       given back.
 *   M6. Readers need to know nothing of this. They must not touch, through a
 *       mapping, what no control word says is there: that would allocate the
 *       memory.
 *
 * RULES FOR READERS
 *
 * A reader has a place in each ring: a generation g, all 64 bits of it, an offset,
 * a number of records in its buffer and a context; and of the ring's losses, how many
 * it has reported. All begin with 0.
 *
 * The consumer, which owns the region, reads a ring in these steps:
 *
 *   R1. Load `control`, once (acquire). This is all that can be read now.
 *   R2. If it names g and its position is not EVENTLOG_SEALED, position and count
 *       are taken from it; else from `sealed` of g's descriptor, which then is
 *       complete.
 *   R3. Copy the bytes from the offset up to the position, then walk over the
 *       copy. What is no record there (event 0, a marker, over the largest
 *       size, a SHORT record without a context, an end behind the position) makes the
 *       rest of this buffer unreadable: count the records that are missing as
 *       damaged. The context is part of the place: it is that behind the last record
 *       that was read, and none at offset 0.
 *   R4. The first record after a switch is preceded by a gap of `lost_before` of
 *       its descriptor, less what has been reported. Its sequence number is
 *       records_before + lost_before + its number in the buffer.
 *   R5. If control names g, stop: an active buffer is never given back, sealed or
 *       not, and need not be, as another is free by then. Else store g + 1 to
 *       `drained` (release), take g + 1 and offset 0, and go to R2, at most
 *       buffer_count times.
 *   R6. At the end, `lost` less what has been reported is the gap that no record
 *       follows. While the producer writes, that is so only if afterwards
 *       (acquire fence) `control` still is what it was in R1, and the descriptor
 *       of g + 1 does not have that generation yet: else some of these losses
 *       precede a record of g + 1 and belong to its gap.
 *
 * Reading without being waited for: all readers of a region in overwrite mode,
 * however many there are, and in either mode readers that do not own the region.
 * They store nothing, `drained` neither, and replace these rules:
 *
 *   N1. (R1) The descriptor of the buffer that `control` names has all 64 bits of
 *       the generation. If they do not go with the word's 18, the producer has
 *       switched meanwhile: repeat N1. Let it be G. If g + buffer_count <= G, g is
 *       gone: take g = G + 1 - buffer_count and offset 0.
 *   N2. (R2) Unchanged.
 *   N3. (R3) Copy first: the descriptor's fields, then the bytes. Then, behind a
 *       fence (acquire), look at the descriptor's generation and at `control`
 *       again. Believe the copy only if the generation still is g and
 *       generation(control) < g + buffer_count, in 18 bits. Else throw it away,
 *       and the rest of g: it is being overwritten.
 *   N4. (R4) The gap is `records_before` and `lost_before` of its descriptor, each
 *       less what has been handed over and reported. What it has of records has
 *       been overwritten.
 *   N5. (R5) Continue with g + 1 up to G, whatever became of g. A reader that
 *       reads only once and has read or reported fewer records than `control`
 *       counted in N1 was overtaken: go to N1, a bounded number of times; then
 *       those are overwritten.
 *
 * All readers:
 *
 *   R7. What has been handed over, has been reported as overwritten or lost, and
 *       has not been read yet (up to `control` and `lost`) is what was attempted,
 *       always. It is known per ring.
 *   R8. A record may have a provider's event number only once its entry is ready; so
 *       look at the entries after loading a control word, not before. `provider_count` may
 *       exceed EVENTLOG_PROVIDERS_MAX; an entry below it may not be ready yet, or
 *       never, if its process has died over it.
 *   R9. In a ring of a CPU, times do not decrease if the clock is the processor's
 *       counter. With another clock, a record may be late by as long as its
 *       writer was held up. A record with EVENTLOG_RECORD_CUSTOM_TIME may have
 *       any time, and says nothing about those before and behind it: its place in
 *       the ring is when it was written. Readers must not wait for that time, nor
 *       search by order.
 *   R10. Before it sleeps on `wake`, a reader sets `waiting`. It never sleeps
 *       without a timer, because a producer may be killed between clearing
 *       `waiting` and waking.
 *
 * RULES FOR THE END OF A SUBSCRIPTION
 *
 *   E1. The consumer sets `state` to ENDED. In the gates that have its bit it
 *       sets EVENTLOG_GATE_NOTIFICATION, so that their processes unmap the region,
 *       and clears the bit then. It reads once more.
 *   E2. Writers look at `state` before each record. One on each ring may have
 *       looked just before, so that a record, or a loss, can still be added after
 *       the last reading: it is neither read nor lost but unread, and `control`
 *       and `lost` still count it.
 *   E3. A subscription ends with its owner: a process that finds the owner dead
 *       removes it.
 *
 * Detached subscriptions, or flight recorders (EVENTLOG_FEATURE_DETACHED)
 *
 *   D1. A detached subscription does not end with its owner. It has a `name`,
 *       unique in its directory, takes events until it is ended by that name, and
 *       keeps its memory also when there is no reader, and when the applications
 *       have ended or have crashed: what they had committed is still there. It is
 *       not drained, so in discard mode it keeps the oldest events, and in
 *       overwrite mode the newest. The owner_ fields name the process that began
 *       it, which may have ended long ago.
 *   D2. The feature bit is the last thing that is set, when all gates are open,
 *       and the first that is cleared when the subscription is removed. So one
 *       whose owner has died over its beginning or its removal is removed like all
 *       others: it has a name, but not the bit.
 *   D3. A detached subscription may have ended, by `state`: then it keeps what it
 *       has until that has been taken.
 *   D4. The process that clears the bit writes itself into the owner_ fields
 *       before. All of that is done under the lock of the directory.
 *   D5. A process that finds the owner dead looks at the bit afterwards: the owner
 *       may have set it a moment ago, and ended then.
 *
 * RULES FOR PAUSES
 *
 * A subscription can be paused: programs then write nothing to it, and nothing is
 * lost, until it is resumed. Its rings stay as they are and can be read. All steps
 * are taken by one process, its owner, or, while D2's bit is set, any process under
 * the lock of the directory. So one process at a time changes `state`, and a stored
 * value needs no comparison with the one before.
 *
 *   P1. To pause: put {now, 0} into the next entry of the log, then add one to its
 *       `count`; store PAUSED in `state`; then clear the bits in all gates, as in
 *       E1, so that a disabled event again costs no more than its test.
 *   P2. To resume: store LIVE in `state`; then, behind a full fence, set the serial
 *       and the bits of the slot in the gates of all providers that the filter
 *       wants, as when the subscription began; then store now in the `end` of the
 *       log's last entry.
 *   P3. So `begin` is not later than the first event that was dropped, and `end` not
 *       earlier than the last: outside of the log's entries nothing is missing but
 *       what is lost and counted. Within them some events may have been recorded.
 *   P4. An entry with an `end` of 0 while `state` is LIVE: a process pauses or
 *       resumes just now, or has died over it, and some gates may be closed. A pause
 *       then keeps that entry; a resume takes all of its steps again. The end of a
 *       subscription stores `end`, too, behind E1. As a paused one has no bits, it
 *       sets EVENTLOG_GATE_NOTIFICATION in all gates that processes have mapped.
 *   P5. A writer that finds PAUSED drops the event: no record, no loss, in no
 *       counter, no attaching, and the region stays mapped. What a writer has begun
 *       when it found LIVE, it completes: a record or a counted loss. One on each
 *       ring may do so behind the pause, as in E2.
 *   P6. A process that attaches to a paused subscription gets its entry and stores
 *       its schema, but sets no bits. It has published its provider before it looks
 *       at `state`, with a full fence between the two; a resume stores `state` before
 *       it looks for providers: at least one of them finds the other and sets the
 *       bits.
 *   P7. A process that has found LIVE may set its bits behind a pause that has
 *       cleared the others. They stay, and its events take the slow path to P5. It
 *       must not clear them after another look at `state`: a resume may have set the
 *       same bits in between, and what is emitted until they are set again would be
 *       missing without being counted.
 *   P8. Hence: an event emitted before the pause began, or after the resume was
 *       complete, is recorded or counted as lost. One emitted between the end of the
 *       pause's steps and the beginning of the resume's is neither. One that overlaps
 *       those steps is either, but nothing is counted twice. Dropped events have no
 *       sequence number, so numbers have no gap at a pause.
 *   P9. Readers take the log as a hint: the newest entry is number `count` - 1, and
 *       going back, all are ignored from the first that does not lie in front of the
 *       one behind it: it is being replaced, or damaged.
 *
 * RULES FOR ASKING FOR A SNAPSHOT
 *
 * An application may ask for a snapshot of a detached subscription in overwrite
 * mode, and say why. No process has to wait for requests: they are counted, and
 * stay visible until they are answered.
 *
 * To ask:
 *
 *   S1. Add one to `snapshot_tickets`. The sum is this request's ticket.
 *   S2. Put the reason into the words of `snapshot_reason`, its first bytes into
 *       the first word, 0 behind its end:
 *
 *          63                48 47                                        0
 *         +--------------------+-------------------------------------------+
 *         | ticket, low 16 bits| six bytes of the reason, the first lowest |
 *         +--------------------+-------------------------------------------+
 *
 *       each by compare-and-swap, and only over a word whose ticket is older (ours
 *       less that one is 1 to 32767, in 16 bits). Before each swap, behind the
 *       acquire load of the word, load `snapshot_tickets` again: if it is more
 *       than 32767 ahead of ours, we have been held up for so long that 16 bits
 *       do not order the two, and store no more. So the newest reason
 *       stays, in whatever order its words and those of others are stored.
 *   S3. Add one to `snapshots_requested`, and wake all that sleep there.
 *
 *   A process that dies before S3 has not asked; one that dies between adding and
 *   waking has: never sleep without a timer. A reason whose words do not have the
 *   same ticket is none: several processes are asking just now, or one has died
 *   over it. The next request repairs that, and the count does not depend on it.
 *
 * To answer:
 *
 *   S4. Load `snapshots_requested`.
 *   S5. Take the snapshot: it is for all requests up to there, as it has all that
 *       was recorded before they were made.
 *   S6. When it is safe, store the number that was loaded in
 *       `snapshots_completed`, unless that is as far already (its distance to
 *       `snapshots_requested` says so, in 32 bits). A process that dies before S6
 *       leaves the requests to the next.
 *
 * The difference of the two is what has been asked for and not answered. A process
 * that may write to the region may write anything into these words: at worst a
 * snapshot is taken that was not wanted, or not taken.
 *
 * RULES FOR ORDERING
 *
 *   O1.  control    stored with release (plain on x86, stlr on aarch64), so that a
 *        reader that sees it sees the record's bytes, the descriptor and `sealed`;
 *        loaded with acquire by the reader, before any of these.
 *   O2.  drained    stored with release by the reader, so that its reading of the
 *        buffer is over when a producer sees it; loaded with acquire by the
 *        producer, before it writes there. Not in overwrite mode.
 *   O3.  generation of a descriptor: stored before all else of it, and a release
 *        fence behind it (nothing on x86, dmb ish on aarch64): a reader that has
 *        read anything newer, in the descriptor or in the buffer, finds the newer
 *        generation when it looks again, behind an acquire fence.
 *   O4.  gate       a bit is set with release, when its subscription can be found
 *        and the one that had the slot before has ended; the word is loaded with
 *        acquire, before `state`: a bit that is the successor's is not taken for
 *        that of a subscription that still seems to live.
 *   O5.  lock       taken with acquire, given back with release: the next holder
 *        sees what the one before stored. After taking it, a full fence, then
 *        `state` once more: a process that gives the buffers' memory back sets
 *        `state`, then after a full fence looks whether the lock is free.
 *   O6.  waiting    full fences on both sides, between the own store and the load
 *        of the other's, so that a reader that goes to sleep and a producer that
 *        has switched cannot both miss the other.
 *   O7.  snapshots_requested  added to with release, behind the reason and all
 *        that its thread has recorded; loaded with acquire before a snapshot,
 *        which so has these, and before the reason, which so is that one or a
 *        newer. The futex needs no more: a process that sleeps there names the
 *        value it has seen.
 *   O8.  snapshot_reason  loaded with acquire, swapped with release: so the count
 *        of tickets, loaded behind a word, is at least that word's own.
 *   O9.  snapshots_completed  compared and swapped with release, behind the
 *        snapshot.
 *   O10. state of a provider entry: stored with release, after the entry and its
 *        schema and before the first record with one of its event numbers; loaded
 *        with acquire.
 *   O11. All other fields are written before the region can be found and do not
 *        change, or are counters of which only the value matters: `lost`, too,
 *        which is loaded behind `control`.
 *   O12. Among producers of one CPU program order is enough, whatever the
 *        processor: it sees its own accesses in that order, and there is a full
 *        barrier where one thread follows another on it. `context` needs no more:
 *        only producers of its CPU look at it.
 *
 * RULES FOR COMPATIBILITY AND TRUST
 *
 *   C1. A reserved field, or unnamed padding, is written as 0 and not looked at. It
 *       may get a meaning that old readers and old writers can do without, where 0
 *       means the same as before: that changes neither version nor features.
 *   C2. What a reader or a writer must know gets a bit in `features`: a process
 *       that opens a region with a bit that it does not know, to read or to write,
 *       leaves it alone and says so.
 *   C3. Another layout gets another version, and the same holds.
 *   C4. Records have flags of their own. One with a flag from 0 to 7 that a reader does
 *       not know is counted, not decoded. The flags 8 to 15 only add: a reader skips
 *       the extension words of those that it does not know.
 *   C5. Reader and writer take nothing from each other unchecked. A writer keeps
 *       its own copy of the geometry and only uses positions that it has compared
 *       with it; a reader checks every offset and length on its own copy.
 *
 * TRADE-OFFS
 *
 *   - One ring per CPU: an append needs no locked instruction. Every CPU needs
 *     buffers of its own, and readers merge the rings.
 *   - One word per ring commits a record. So a killed writer needs no recovery,
 *     but the generation has 18 bits there: readers that are not waited for take
 *     it from the descriptor.
 *   - A gap lies between buffers only. So its position is known, at the price of
 *     the unused end of a buffer that is sealed.
 *   - Overwritten records are counted per ring, not per provider: they are gone,
 *     and counting each of them as it is written would make all events pay for it.
 *   - Overwrite mode does not wait for readers. A reader copies first and checks
 *     afterwards, and loses the rest of a buffer that is overwritten meanwhile.
 *   - Sequence numbers are not stored in records: a descriptor has those of its
 *     buffer. A buffer that is damaged is unreadable from there on.
 *   - Most records leave out thread and upper time, which rarely change. So readers
 *     carry a context, and damage to a CONTEXT record misleads up to the next one.
 *   - The layout follows from counts and sizes. So a check compares numbers, but
 *     any change of it is a new version.
 */
#ifndef _UAPI_LINUX_EVENTLOG_H
#define _UAPI_LINUX_EVENTLOG_H

#include <linux/types.h>

#define EVENTLOG_REGION_MAGIC 0x4e4f494745524c45ULL /* "ELREGION" */
#define EVENTLOG_REGION_VERSION 2

/* Bits of eventlog_region.features. */
#define EVENTLOG_FEATURE_OVERWRITE 1U /* producers switch without waiting for the reader */
#define EVENTLOG_FEATURE_DETACHED 2U /* outlives its owner; see `name` */
#define EVENTLOG_FEATURE_LAZY_SHARED_RING 4U /* writers allocate the memory of the shared ring */
#define EVENTLOG_FEATURES /* all */ \
	(EVENTLOG_FEATURE_OVERWRITE | EVENTLOG_FEATURE_DETACHED | EVENTLOG_FEATURE_LAZY_SHARED_RING)
#define EVENTLOG_FEATURES_FIRST /* known to every library */ \
	(EVENTLOG_FEATURE_OVERWRITE | EVENTLOG_FEATURE_DETACHED)
#define EVENTLOG_SUBSCRIPTION_NAME_SIZE 32

/*
 * The gate: one word per event. Bits 0 to 15 are slots of subscriptions. The
 * notification bit: subscriptions were added or removed and the provider has
 * asked to be notified, or one has ended whose region the process may have
 * mapped.
 */
#define EVENTLOG_SUBSCRIPTIONS_MAX 16
#define EVENTLOG_GATE_SUBSCRIPTIONS 0x0000ffffU
#define EVENTLOG_GATE_NOTIFICATION 0x00010000U
#define EVENTLOG_GATE_DEVICE_BIT 30
#define EVENTLOG_GATE_USER_EVENTS_BIT 31

#define EVENTLOG_EVENTS_MAX 1024
#define EVENTLOG_PROVIDERS_MAX 16384
#define EVENTLOG_RINGS_MAX 8193
#define EVENTLOG_BUFFERS_MAX 64
#define EVENTLOG_BUFFER_SIZE_MIN 0x00020000U /* 128 KiB: two of the largest records */
#define EVENTLOG_BUFFER_SIZE_MAX 0x02000000U /* 32 MiB: the count takes all its records */
#define EVENTLOG_SCHEMA_SIZE_MAX 0x00100000U /* 1 MiB */
#define EVENTLOG_FILTER_SIZE_MAX 2048
#define EVENTLOG_SESSIONS_MAX 32
#define EVENTLOG_PROCESS_NAME_SIZE 16 /* a process name in the kernel */

/* The reason for a snapshot: six bytes per word, behind a ticket: see S2. */
#define EVENTLOG_SNAPSHOT_REASON_WORDS 6
#define EVENTLOG_SNAPSHOT_REASON_SIZE 36
#define EVENTLOG_SNAPSHOT_TICKET_SHIFT 48

/* Size of the largest record, with its header. */
#define EVENTLOG_RECORD_SIZE_MAX 0x00010000U

/* The control word: see LAYOUT. */
#define EVENTLOG_POSITION_BITS 24
#define EVENTLOG_COUNT_BITS 22
#define EVENTLOG_GENERATION_BITS 18
#define EVENTLOG_POSITION_MASK 0xffffffULL
#define EVENTLOG_COUNT_SHIFT 24
#define EVENTLOG_COUNT_MASK 0x3fffffULL
#define EVENTLOG_GENERATION_SHIFT 46
#define EVENTLOG_GENERATION_MASK 0x3ffffULL
#define EVENTLOG_RECORD_ALIGNMENT 8
#define EVENTLOG_SEALED EVENTLOG_POSITION_MASK

enum eventlog_region_state {
	EVENTLOG_REGION_ENDED = 0, /* a released page reads as this, too */
	EVENTLOG_REGION_LIVE = 0x4556494c, /* "LIVE" */
	EVENTLOG_REGION_PAUSED = 0x53554150, /* "PAUS" */
};

enum eventlog_clock {
	EVENTLOG_CLOCK_MONOTONIC = 1, /* of the first time namespace, nanoseconds */
	/* Ticks of the CPU's counter: x86 time stamp counter, aarch64 CNTVCT_EL0. */
	EVENTLOG_CLOCK_TSC = 2,
};

/* The words of a record: see Records under LAYOUT. */
#define EVENTLOG_EVENT_SHIFT 42
#define EVENTLOG_EVENT_NUMBER_MAX 0x3fffffU
#define EVENTLOG_KIND_SHIFT 40
#define EVENTLOG_KIND_MASK 3U
#define EVENTLOG_SHORT_SIZE_SHIFT 32
#define EVENTLOG_SHORT_SIZE_MAX 0xffU
#define EVENTLOG_THREAD_SHIFT 32 /* in word 1 */
#define EVENTLOG_EXTENSION_SHIFT 48 /* in word 2, as the next two; its size is at bit 0 */
#define EVENTLOG_CPU_SHIFT 32
#define EVENTLOG_FLAGS_SHIFT 16

enum eventlog_record_kind {
	EVENTLOG_KIND_SHORT = 0,
	EVENTLOG_KIND_CONTEXT = 1,
	EVENTLOG_KIND_EXTENDED = 2,
	EVENTLOG_KIND_MARKER = 3,
};

#define EVENTLOG_SHORT_HEADER_SIZE 8
#define EVENTLOG_CONTEXT_HEADER_SIZE 16
#define EVENTLOG_EXTENDED_HEADER_SIZE 24 /* without extension words */
#define EVENTLOG_MARKER_HEADER_SIZE 16

/* Types of markers from here on must be known to readers. */
#define EVENTLOG_MARKER_REQUIRED 0x200000U

/* Flags of all records. Those from 0 to 7 are required: see C4. */
#define EVENTLOG_RECORD_FLAGS_REQUIRED 0x00ffU

#define EVENTLOG_RECORD_TRUNCATED 1U /* texts were too long and were truncated */
/*
 * `time` is earlier or later than the write, in the same unit: from a clock of
 * the program, or of an event that the program collected and wrote later.
 */
#define EVENTLOG_RECORD_CUSTOM_TIME 2U
#define EVENTLOG_RECORD_FLAGS \
	(EVENTLOG_RECORD_TRUNCATED | EVENTLOG_RECORD_CUSTOM_TIME) /* all that are defined */

/* One instant on three clocks, by which readers convert times. */
struct eventlog_clock_sample {
	__u64 clock; /* in units of the region's clock */
	__u64 monotonic; /* CLOCK_MONOTONIC of the first time namespace, nanoseconds */
	__u64 realtime; /* CLOCK_REALTIME, nanoseconds */
};

/*
 * Header of a region.
 *
 * The consumer writes all of it before the file gets its name; afterwards a
 * field changes only if its comment names a writer.
 */
struct eventlog_region {
	__u64 magic;
	__u32 version;
	__u32 features; /* EVENTLOG_FEATURE_...; readers and writers must know all of them */
	__u64 serial; /* random, neither 0 nor ~0: distinguishes successive regions of a slot */

	__u32 clock; /* enum eventlog_clock */
	__u32 ring_count; /* possible CPUs + 1 */
	__u32 ring_stride;
	__u32 buffer_count; /* power of two, 2 to EVENTLOG_BUFFERS_MAX */
	__u32 buffer_size; /* power of two */
	__u32 filter_size;
	__u64 rings_offset;
	__u64 providers_offset;
	__u64 schemas_offset;
	__u64 schemas_size;
	__u64 buffers_offset;
	__u64 total_size;

	/*
	 * The consumer, to recognise that it has died. Of a detached subscription: the
	 * process that began it; while one is removed: the process that removes it (D4).
	 */
	__u32 owner_pid;
	__u32 owner_uid;
	__u64 owner_start_time; /* field 22 of /proc/PID/stat, in the first time namespace */
	__u64 owner_pid_namespace; /* inode of /proc/PID/ns/pid */

	struct eventlog_clock_sample clock_start;

	/*
	 * Of a subscription that is, is to be or has been detached: 1 to 31 letters,
	 * digits, '-', '_' and '.', not '.' or '-' first; the rest is 0. Of all others it
	 * is 0.
	 */
	char name[EVENTLOG_SUBSCRIPTION_NAME_SIZE];
	__u64 reserved[2];

	/*
	 * Read by every emit. Written by the consumer, by a process that finds the consumer
	 * dead, or by one that pauses, resumes or ends a detached subscription. Never changes
	 * from ENDED.
	 */
	__u32 state __attribute__((aligned(64)));

	/*
	 * Sleeping readers: see W8, R10 and O6. The reader sets `waiting` before it sleeps
	 * on `wake` (futex, shared). A producer that has switched buffers and sees
	 * `waiting` clears it, adds one to `wake` and wakes. Both sides put a full fence
	 * between their own store and their load of the other's. A producer may be killed
	 * between clearing `waiting` and waking.
	 */
	__u32 waiting __attribute__((aligned(64)));
	__u32 wake;

	/*
	 * Added to by applications that attach (relaxed: they only assign room), before
	 * they know whether there is room: may be too large.
	 */
	__u32 provider_count __attribute__((aligned(64)));
	__u32 providers_refused; /* failed to attach: no room in the table or for the schema */
	__u64 schemas_used;
	__u64 event_numbers; /* of all providers: see W10; may be too large, too */

	/*
	 * What the consumer asked for: rules PROVIDER:EVENT[@LEVEL][/KEYWORD,...][#], with
	 * * and ?, each ended by NUL; with # for events of these sessions only. Among them
	 * =PID and ~NAME: if any, only such processes are wanted. Other entries are for readers.
	 */
	char filter[EVENTLOG_FILTER_SIZE_MAX] __attribute__((aligned(64)));
	__u64 sessions[EVENTLOG_SESSIONS_MAX];
	__u32 session_count;

	/*
	 * Asking for a snapshot of a detached subscription in overwrite mode (S1 to S6).
	 * All of it is 0 in all others, and where no library knows how to ask.
	 */
	__u32 snapshot_tickets; /* added to by applications (relaxed) */
	__u32 snapshots_requested; /* added to by applications (release); futex, shared */
	/* requests that are answered; advanced by processes that answer (release) */
	__u32 snapshots_completed;
	/* The last reason. Swapped in by applications (release); each word has its ticket. */
	__u64 snapshot_reason[EVENTLOG_SNAPSHOT_REASON_WORDS];
};

/* A time in which a subscription was paused, in units of the region's clock. */
struct eventlog_pause {
	__u64 begin;
	__u64 end; /* 0: it goes on */
};

#define EVENTLOG_PAUSES_MAX 32

/*
 * The last pauses of a subscription; see P1 to P9. Pause n is in entry
 * n % EVENTLOG_PAUSES_MAX. All of it is 0 in one that was never paused.
 */
struct eventlog_pause_log {
	__u32 count; /* pauses that have begun, modulo 2^32 */
	__u32 reserved_word;
	__u64 reserved[7];
	struct eventlog_pause pauses[EVENTLOG_PAUSES_MAX];
};

/*
 * Descriptor of a buffer. Written by the ring's producer at a switch, before
 * the control word names the generation; `sealed` when the buffer is sealed.
 */
struct eventlog_buffer {
	__u64 generation; /* all 64 bits: number of switches of this ring; ~0: not used yet */
	__u64 records_before; /* recorded on this ring before this buffer */
	__u64 lost_before; /* lost on this ring before this buffer */
	__u64 sealed; /* the control word at that moment */
};

/* Head of a ring; its buffer_count descriptors follow. */
struct eventlog_ring {
	/* Written by the producer. */
	__u64 control;
	__u64 lost; /* records that found no room; in overwrite mode 0, except M4 */
	/* Word 1 of the last CONTEXT record, or 0: invariant 7. 0 in the shared ring. */
	__u64 context;

	/*
	 * The shared ring only. The writer, 0 for none: its thread id in the low half,
	 * which is a robust futex while it is held, and low bits of the inode of its pid
	 * namespace in the high half. Taken by compare-and-swap (acquire), given back by a
	 * store (release), taken over from a thread that has died; FUTEX_OWNER_DIED says
	 * so.
	 */
	__u64 lock;
	__u32 backed; /* 0: only the head has memory; use the shared ring */
	/* The shared ring only: set by the holder of the lock, only ever to buffer_count (M5). */
	__u32 reserved_buffers;

	/* Written by the reader: generations below this were read. */
	__u64 drained __attribute__((aligned(64)));
	__u64 reader_reserved[7];
};

/* A provider that has attached. */
struct eventlog_provider_entry {
	__u32 state; /* 0, then EVENTLOG_PROVIDER_READY (release) */
	__u32 pid;
	__u32 uid;
	__u32 schema_size;
	__u64 schema_offset; /* from the beginning of the region */
	__u64 schema_hash;
	__u64 start_time;
	char process[EVENTLOG_PROCESS_NAME_SIZE];
	/* Added to by the provider's process (relaxed). */
	__u64 lost_full; /* included in `lost` of a ring */
	__u64 lost_too_large; /* over EVENTLOG_RECORD_SIZE_MAX; in no ring's `lost` */
	__u64 lost_busy; /* as in eventlog_route_counters; in no ring's `lost` */
	__u64 truncated; /* written, with EVENTLOG_RECORD_TRUNCATED */
	__u64 lost_no_memory; /* included in `lost_full`: the shared ring got no memory */
	/*
	 * The parent of the process when it attached, of a process in the pid namespace of the
	 * consumer. 0: unknown, as older libraries leave it.
	 */
	__u32 parent;
	__u32 event_base; /* the number of its schema's first event: see W10 */
	__u64 reserved[3];
};

#define EVENTLOG_PROVIDER_READY 1

#ifdef __cplusplus
#define EVENTLOG_ABI(condition) static_assert(condition, "eventlog ABI: " #condition)
#else
#define EVENTLOG_ABI(condition) _Static_assert(condition, "eventlog ABI: " #condition)
#endif
#define EVENTLOG_ABI_AT(type, field, offset) \
	EVENTLOG_ABI(__builtin_offsetof(struct type, field) == (offset))

EVENTLOG_ABI(EVENTLOG_POSITION_BITS + EVENTLOG_COUNT_BITS + EVENTLOG_GENERATION_BITS == 64);
EVENTLOG_ABI(EVENTLOG_BUFFER_SIZE_MAX / EVENTLOG_RECORD_ALIGNMENT < EVENTLOG_SEALED);
/* The first record of a buffer has 16 bytes at least. */
EVENTLOG_ABI(EVENTLOG_BUFFER_SIZE_MAX / EVENTLOG_SHORT_HEADER_SIZE - 1 <= EVENTLOG_COUNT_MASK);

EVENTLOG_ABI(EVENTLOG_EVENT_NUMBER_MAX == ~0ULL >> EVENTLOG_EVENT_SHIFT);
EVENTLOG_ABI(EVENTLOG_SHORT_SIZE_MAX + 1 ==
	     1U << (EVENTLOG_KIND_SHIFT - EVENTLOG_SHORT_SIZE_SHIFT));
EVENTLOG_ABI(EVENTLOG_KIND_MASK + 1 == 1U << (EVENTLOG_EVENT_SHIFT - EVENTLOG_KIND_SHIFT));
EVENTLOG_ABI(EVENTLOG_RECORD_SIZE_MAX - EVENTLOG_EXTENDED_HEADER_SIZE < 1U << EVENTLOG_FLAGS_SHIFT);

EVENTLOG_ABI(EVENTLOG_MARKER_REQUIRED <= EVENTLOG_EVENT_NUMBER_MAX);

EVENTLOG_ABI_AT(eventlog_region, serial, 16);
EVENTLOG_ABI_AT(eventlog_region, clock, 24);
EVENTLOG_ABI_AT(eventlog_region, filter_size, 44);
EVENTLOG_ABI_AT(eventlog_region, rings_offset, 48);
EVENTLOG_ABI_AT(eventlog_region, total_size, 88);
EVENTLOG_ABI_AT(eventlog_region, owner_pid, 96);
EVENTLOG_ABI_AT(eventlog_region, clock_start, 120);
EVENTLOG_ABI_AT(eventlog_region, name, 144);
EVENTLOG_ABI_AT(eventlog_region, reserved, 176);
EVENTLOG_ABI_AT(eventlog_region, state, 192);
EVENTLOG_ABI_AT(eventlog_region, waiting, 256);
EVENTLOG_ABI_AT(eventlog_region, wake, 260);
EVENTLOG_ABI_AT(eventlog_region, provider_count, 320);
EVENTLOG_ABI_AT(eventlog_region, schemas_used, 328);
EVENTLOG_ABI_AT(eventlog_region, event_numbers, 336);
EVENTLOG_ABI_AT(eventlog_region, filter, 384);
EVENTLOG_ABI_AT(eventlog_region, sessions, 384 + EVENTLOG_FILTER_SIZE_MAX);
EVENTLOG_ABI_AT(eventlog_region, session_count, 640 + EVENTLOG_FILTER_SIZE_MAX);
EVENTLOG_ABI_AT(eventlog_region, snapshot_tickets, 644 + EVENTLOG_FILTER_SIZE_MAX);
EVENTLOG_ABI_AT(eventlog_region, snapshots_requested, 648 + EVENTLOG_FILTER_SIZE_MAX);
EVENTLOG_ABI_AT(eventlog_region, snapshots_completed, 652 + EVENTLOG_FILTER_SIZE_MAX);
EVENTLOG_ABI_AT(eventlog_region, snapshot_reason, 656 + EVENTLOG_FILTER_SIZE_MAX);
EVENTLOG_ABI(EVENTLOG_SNAPSHOT_REASON_SIZE * 8 ==
	     EVENTLOG_SNAPSHOT_REASON_WORDS * EVENTLOG_SNAPSHOT_TICKET_SHIFT);
EVENTLOG_ABI(sizeof(struct eventlog_region) == 704 + EVENTLOG_FILTER_SIZE_MAX);

EVENTLOG_ABI(sizeof(struct eventlog_pause) == 16);
EVENTLOG_ABI_AT(eventlog_pause_log, reserved, 8);
EVENTLOG_ABI_AT(eventlog_pause_log, pauses, 64);
EVENTLOG_ABI(sizeof(struct eventlog_pause_log) == 64 + 16 * EVENTLOG_PAUSES_MAX);
EVENTLOG_ABI(sizeof(struct eventlog_region) % 64 == 0 &&
	     sizeof(struct eventlog_pause_log) % 64 == 0);

EVENTLOG_ABI(sizeof(struct eventlog_buffer) == 32);
EVENTLOG_ABI_AT(eventlog_buffer, records_before, 8);
EVENTLOG_ABI_AT(eventlog_buffer, lost_before, 16);
EVENTLOG_ABI_AT(eventlog_buffer, sealed, 24);

EVENTLOG_ABI(sizeof(struct eventlog_ring) == 128);
EVENTLOG_ABI_AT(eventlog_ring, lost, 8);
EVENTLOG_ABI_AT(eventlog_ring, context, 16);
EVENTLOG_ABI_AT(eventlog_ring, lock, 24);
EVENTLOG_ABI_AT(eventlog_ring, backed, 32);
EVENTLOG_ABI_AT(eventlog_ring, reserved_buffers, 36);
EVENTLOG_ABI_AT(eventlog_ring, drained, 64);

EVENTLOG_ABI(sizeof(struct eventlog_provider_entry) == 128);
EVENTLOG_ABI_AT(eventlog_provider_entry, schema_offset, 16);
EVENTLOG_ABI_AT(eventlog_provider_entry, process, 40);
EVENTLOG_ABI_AT(eventlog_provider_entry, lost_full, 56);
EVENTLOG_ABI_AT(eventlog_provider_entry, lost_no_memory, 88);
EVENTLOG_ABI_AT(eventlog_provider_entry, parent, 96);
EVENTLOG_ABI_AT(eventlog_provider_entry, event_base, 100);
EVENTLOG_ABI_AT(eventlog_provider_entry, reserved, 104);

#endif /* _UAPI_LINUX_EVENTLOG_H */
