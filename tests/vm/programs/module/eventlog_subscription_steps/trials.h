// SPDX-License-Identifier: MIT
#pragma once

// The trials of the program, in their order.

// reading.c

void set_subscribed_bits(void);
void read_whole_records(void);
void read_in_parts(void);
/// A read to memory that ends within a record returns the records in front of it.
void read_to_the_end_of_memory(void);
/// A record of one CPU that does not fit does not block the records of other CPUs.
void read_past_large_record(void);
void wait_for_records(void);
/// With edge-triggered epoll, a reader that reads all records is woken by the next one.
void wait_for_edges(void);

// regions.c

void check_discard_mode(void);
void check_overwrite_mode(void);
/// An ended subscription accepts no events. Its records can be read, then read() returns 0.
void end_and_read_the_rest(void);
void end_during_wait(void);
void map_for_reading(void);

// batches.c

void write_batch(void);
/// Large events between small ones, in a batch that the kernel copies in several parts.
void write_mixed_batch(void);
/// Whole events in front of memory that cannot be read are written.
void write_to_the_end_of_memory(void);
/// A text field that points outside its payload ends the batch in front of its event.
void write_batch_of_texts(void);
/// Each event of a timed batch has the time of its entry or, if that is 0, the time of the write.
void write_timed_batch(void);
/// A gap in front of an event of a timed batch does not have the time of the event's entry.
void lose_timed_events(void);
/// Batches beyond the capacity of the ring: each lost event is counted.
void overflow_with_batches(void);

// listeners.c

/// A batch for one listener reaches neither other subscriptions nor tracing.
void dump_to_one_listener(void);
/// The bits that a publication names are set with each new listener of its provider.
void notify_of_listeners(void);
/// A process with the file of another one changes no bits in the words of that one.
void notify_publisher_alone(void);

// providers.c

void record_only_own_processes(void);
void unpublish_provider(void);
/// Providers with equal schemas share memory. The bytes are compared, not only the hash.
void share_equal_schemas(void);
/// A call whose result cannot be copied to the caller has no effect.
void fail_without_result(void);
/// Publishing the same provider again needs no memory.
void publish_again_at_the_limit(void);
void stay_within_limits(void);
