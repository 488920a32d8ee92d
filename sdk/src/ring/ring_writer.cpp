// SPDX-License-Identifier: MIT
//
// The per-CPU writer for all cases that the fast path in emit.cpp does not handle. linux/eventlog.h
// states the rules, rseq.hpp how they are kept; shared_ring.cpp is the writer without restartable
// sequences.
#include "ring/ring_writer.hpp"

#include "platform/data_reader.hpp"
#include "platform/process.hpp"
#include "ring/clock.hpp"
#include "ring/custom_clock.hpp"
#include "ring/record_header.hpp"
#include "ring/ring_transition.hpp"
#include "ring/rseq.hpp"
#include "ring/rseq_append.hpp"

namespace eventlog::core {
namespace {

// A single-stepped thread (debugger) never completes a sequence.
constexpr int append_attempts_max = 100;
// If each reading of the clock is an interruption, no more attempts keep the order of time.
constexpr int armed_attempts_max = 10;

/// Appends to the ring of this CPU, by a shorter sequence if possible.
rseq_result append(const subscription_slot& slot, std::uint64_t mapping,
                   std::uint64_t provider_head, const event_payload& payload,
                   int attempt) noexcept {
    const std::uint32_t clock = slot.clock.load(std::memory_order_relaxed);
    if (payload.block != nullptr && payload.flags == 0 &&
        slot.fast_cpus.load(std::memory_order_relaxed) != 0) {
        return append_block(slot, mapping, provider_head, thread_id(), payload);
    }
    const eventlog_part block{payload.block, payload.size};
    const std::span<const eventlog_part> pieces =
        payload.block == nullptr ? payload.pieces : std::span(&block, 1);
    const std::size_t size = EVENTLOG_EXTENDED_HEADER_SIZE + payload.size;
    const auto flags = static_cast<std::uint16_t>(payload.flags | flags_of_clock(clock));
    rseq_pieces record{};
    record.head = extended_head(provider_head, payload.event);
    record.thread = thread_part(thread_id());
    // The application's clock may have any time, and may emit.
    record.is_armed = clock == EVENTLOG_CLOCK_MONOTONIC && attempt < armed_attempts_max ? 1 : 0;
    if (record.is_armed != 0) {
        rseq_arm_pieces();
    }
    record.time = clock == EVENTLOG_CLOCK_TSC ? 0 : read_clock(clock);
    record.extended = extended_word(flags, payload.size);
    record.units = units_of(size);
    record.pieces = pieces.data();
    record.end = pieces.data() + pieces.size();
    record.padding = record.units * EVENTLOG_RECORD_ALIGNMENT - size;
    const rseq_result result = rseq_append_pieces(slot, mapping, record);
    return result == rseq_result::done ? rseq_result::uncounted : result;
}

enum class room { try_again, lost, shared, stale, refused };

/// Makes room if the active buffer cannot take the record. Runs about once per buffer.
[[gnu::noinline]] room make_room(subscription_slot& slot, std::uint64_t mapping,
                                 std::uint64_t units) noexcept {
    const slot_user user(slot, mapping);
    if (!user.holds()) {
        return room::stale;
    }
    // The thread may have migrated since the sequence that found no room; this CPU may have room.
    const std::uint32_t cpu = rseq_cpu();
    if (cpu >= slot.sequence_cpus.load(std::memory_order_relaxed)) {
        return room::shared;
    }
    const rseq_target place{cpu, &slot.mapping, mapping, slot.ring(cpu)};
    if (shared(place.ring->backed).load(std::memory_order_relaxed) == 0) {
        return room::shared;
    }
    const full_decision decision = decide_when_full(slot, place.ring, units);
    const rseq_switch& step = decision.step;
    rseq_result result = rseq_result::changed;
    switch (decision.action) {
        case full_action::retry:
            return room::try_again;
        case full_action::switch_buffer:
            if (!slot.is_private.load(std::memory_order_relaxed) && !may_be_read()) {
                return room::refused;
            }
            result = rseq_switch_buffers(place, step);
            break;
        case full_action::seal:
            result = rseq_seal(place, step.expected, step.current, step.control);
            break;
        case full_action::drop:
            result = rseq_count_lost(place, step.expected);
            return result == rseq_result::done ? room::lost : room::try_again;
    }
    if (result == rseq_result::done) {
        wake_reader(slot.region());
    }
    return room::try_again;
}

}  // namespace

// One instance, so that the tests of sequences, which step through write_record, cover it.
[[gnu::noinline]] rseq_result append_block(const subscription_slot& slot, std::uint64_t mapping,
                                           std::uint64_t provider_head, std::uint32_t thread,
                                           const event_payload& payload) noexcept {
    // A short distance: a thread that writes to sixteen rings in turn must fit all prefetched
    // lines, and everything else, into the smallest cache.
    constexpr int ahead = 512;
    const std::uint64_t context = thread_part(thread);
    if (payload.size > EVENTLOG_SHORT_SIZE_MAX) {
        return rseq_append_extended<ahead>(
            slot, mapping, extended_head(provider_head, payload.event) | payload.size, context,
            units_of(EVENTLOG_EXTENDED_HEADER_SIZE + payload.size), payload.block, *payload.gate);
    }
    const std::uint64_t head = short_head(payload.size, provider_head, payload.event);
    const rseq_result result = rseq_append_block<ahead>(
        slot, mapping, head, context, units_of(EVENTLOG_SHORT_HEADER_SIZE + payload.size),
        payload.block, *payload.gate);
    if (result != rseq_result::other_context) [[likely]] {
        return result;
    }
    const rseq_result appended =
        rseq_append_context(slot, mapping, head, context,
                            units_of(EVENTLOG_CONTEXT_HEADER_SIZE + payload.size), payload.block);
    return appended == rseq_result::done ? rseq_result::uncounted : appended;
}

write_result write_record(subscription_slot& slot, std::uint64_t mapping,
                          std::uint64_t provider_head, const event_payload& payload) noexcept {
    for (int attempt = 0; attempt < append_attempts_max; ++attempt) {
        switch (append(slot, mapping, provider_head, payload, attempt)) {
            case rseq_result::done:
                return write_result::written;
            case rseq_result::uncounted:
                return write_result::written_uncounted;
            case rseq_result::aborted:
                continue;
            case rseq_result::stale:
                return write_result::stale;
            case rseq_result::elsewhere:
                return write_record_shared(slot, mapping, provider_head, payload);
            case rseq_result::changed:
            case rseq_result::other_context:
                break;
        }
        // With the longest header: if the record did not fit with a shorter one, this does not.
        switch (make_room(slot, mapping, units_of(EVENTLOG_EXTENDED_HEADER_SIZE + payload.size))) {
            case room::try_again:
                continue;
            case room::lost:
                return write_result::lost_full;
            case room::stale:
                return write_result::stale;
            case room::refused:
                return write_result::refused;
            case room::shared:
                return write_record_shared(slot, mapping, provider_head, payload);
        }
    }
    return write_record_shared(slot, mapping, provider_head, payload);
}

}  // namespace eventlog::core
