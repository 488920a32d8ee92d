// SPDX-License-Identifier: MIT
#include "memory/region_reader.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

#include "base/sigbus_guard.hpp"
#include "ring/clock.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;
using core::control_word;

// Bytes copied at once; every record fits.
constexpr std::size_t copy_size = std::size_t{1} << 20U;
// How often a producer may overtake the reader before the whole ring counts as overwritten.
constexpr int rounds_max = 20;

}  // namespace

void check_not_truncated(const region_view& source) {
    struct stat status {};
    const bool is_whole = ::fstat(source.file.get(), &status) == 0 &&
                          static_cast<std::uint64_t>(status.st_size) >= source.geometry.total_size;
    if (mapping_was_truncated() || !is_whole) {
        throw_truncated();
    }
}

void region_reader::position::move_to(std::uint64_t other) noexcept {
    generation = other;
    offset = 0;
    context = 0;
    records = 0;
}

region_reader::region_reader(const region_view& source, producer_policy mode)
    : geometry_(source.geometry),
      mode_(mode),
      words_(source.file, geometry_.head_size()),
      controls_(words_, geometry_),
      providers_(words_, geometry_),
      positions_(geometry_.ring_count),
      totals_(geometry_.ring_count),
      copy_(std::min<std::size_t>(copy_size, geometry_.buffer_size)),
      start_(source.header.clock_start.monotonic),
      lost_limits_(geometry_.ring_count, count_limit(start_, 1)),
      recorded_limits_(lost_limits_) {
    // Writers on any CPU use the shared ring.
    lost_limits_[shared_ring()] = count_limit(start_, geometry_.ring_count);
    recorded_limits_[shared_ring()] = lost_limits_[shared_ring()];
}

/// An event takes longer than a nanosecond of one CPU.
bool region_reader::is_possible(std::uint64_t count) const {
    const std::uint64_t now = core::read_clock(EVENTLOG_CLOCK_MONOTONIC);
    const std::uint64_t elapsed = now - (start_ <= now ? start_ : 0);
    std::uint64_t most = 0;
    return count <= elapsed || __builtin_mul_overflow(elapsed, geometry_.ring_count, &most) ||
           count <= most;
}

/// The part of `now` that has not been reported yet. A count that is not possible adds nothing.
std::uint64_t region_reader::unreported(std::uint64_t now, std::uint64_t reported) const {
    if (!is_possible(now)) {
        has_impossible_counts_ = true;
        return 0;
    }
    return now - std::min(now, reported);
}

/// The records that a control word counts; 0 if so many do not fit into the filled part.
std::uint64_t region_reader::counted_in(control_word filled, bool is_exact) const {
    // Position and count of a reading that is not exact are of different moments.
    const std::uint64_t size =
        is_exact ? std::min<std::uint64_t>(filled.position(), geometry_.buffer_size)
                 : geometry_.buffer_size;
    if (filled.count() > size / EVENTLOG_SHORT_HEADER_SIZE) {
        has_impossible_counts_ = true;
        return 0;
    }
    return filled.count();
}

/// The last possible value of a count that was read between two times.
std::uint64_t region_reader::accept(count_limit& limit, std::uint64_t count, std::uint64_t before,
                                    std::uint64_t after) const {
    has_impossible_counts_ = !limit.take(count, before, after) || has_impossible_counts_;
    return limit.count();
}

provider_losses region_reader::losses_of(std::uint32_t provider) const {
    const std::uint64_t before = core::read_clock(EVENTLOG_CLOCK_MONOTONIC);
    provider_losses losses = providers_.losses_of(provider);
    const std::uint64_t after = core::read_clock_ordered(EVENTLOG_CLOCK_MONOTONIC);
    const std::array counts{&losses.full, &losses.no_memory, &losses.too_large, &losses.busy,
                            &losses.truncated};
    std::vector<count_limit>& limits =
        provider_limits_
            .try_emplace(provider, counts.size(), count_limit(start_, geometry_.ring_count))
            .first->second;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        *counts[i] = accept(limits[i], *counts[i], before, after);
    }
    return losses;
}

/// The ring's count of losses, or its last possible value.
std::uint64_t region_reader::read_losses(std::uint32_t ring) {
    const std::uint64_t before = core::read_clock(EVENTLOG_CLOCK_MONOTONIC);
    const std::uint64_t count =
        words_.read(geometry_.ring_offset(ring) + offsetof(eventlog_ring, lost)).value;
    const std::uint64_t after = core::read_clock_ordered(EVENTLOG_CLOCK_MONOTONIC);
    return accept(lost_limits_[ring], count, before, after);
}

void region_reader::check_losses() {
    controls_.for_each([this](std::uint32_t ring, control_word) { read_losses(ring); });
}

/// `count`: the ring's losses when a buffer became active; at most the present ones.
std::uint64_t region_reader::unreported_losses(std::uint32_t ring, std::uint64_t count) {
    const std::uint64_t reported = positions_[ring].lost_reported;
    if (count > lost_limits_[ring].count() && count > read_losses(ring)) {
        has_impossible_counts_ = true;
        return 0;
    }
    return count - std::min(count, reported);
}

void region_reader::poll(const run_handler& take) {
    controls_.for_each([&](std::uint32_t ring, control_word control) {
        if (control.value == positions_[ring].settled) {
            return;
        }
        if (mode_ == producer_policy::wait) {
            drain_ring(ring, take);
        } else {
            follow_ring(ring, take);
        }
    });
}

void region_reader::drain_ring(std::uint32_t ring, const run_handler& take) {
    position& at = positions_[ring];
    const std::optional<control_reading> control = controls_.control_of(ring);
    if (!control) {
        return;
    }
    // A sound producer is at most all buffers ahead. The bound keeps a broken one from holding the
    // reader here.
    for (std::uint32_t turn = 0; turn < geometry_.buffer_count; ++turn) {
        const bool active =
            control->word.generation() == (at.generation & EVENTLOG_GENERATION_MASK);
        read_buffer(ring, controls_.state_of(ring, at.generation, *control, active), take);
        if (active) {
            at.settled = control->exact ? control->word.value : UINT64_MAX;
            break;
        }
        // The reader has finished with the buffer when the producer sees this store.
        words_.increment_if_equal(geometry_.ring_offset(ring) + offsetof(eventlog_ring, drained),
                                  at.generation);
        at.move_to(at.generation + 1);
    }
}

/// Nothing is stored in the region, so the producer may reuse the buffer that is being read. If it
/// has overtaken the reader, so that the newest records of this round are unread, the ring is read
/// again: in a snapshot, which reads once, the ring would have no records at all.
void region_reader::follow_ring(std::uint32_t ring, const run_handler& take) {
    position& at = positions_[ring];
    for (int round = 0; round < rounds_max; ++round) {
        const std::uint64_t before = core::read_clock(EVENTLOG_CLOCK_MONOTONIC);
        const std::optional<active_buffer> active = controls_.find_active(ring);
        const std::uint64_t after = core::read_clock_ordered(EVENTLOG_CLOCK_MONOTONIC);
        if (!active || active->generation < at.generation) {
            return;  // broken producer: what it counts as recorded stays unread
        }
        const std::uint64_t recorded =
            active->records_before + counted_in(active->control.word, active->control.exact);
        at.recorded =
            accept(recorded_limits_[ring], std::max(recorded, at.recorded), before, after);
        follow_to(ring, *active, take);
        if (at.records_reported >= at.recorded) {
            at.settled = active->control.exact ? active->control.word.value : UINT64_MAX;
            return;
        }
    }
}

void region_reader::follow_to(std::uint32_t ring, const active_buffer& active,
                              const run_handler& take) {
    position& at = positions_[ring];
    const std::uint64_t kept = geometry_.buffer_count - 1;
    const std::uint64_t oldest = active.generation - std::min(active.generation, kept);
    if (at.generation < oldest) {
        at.move_to(oldest);
    }
    while (true) {
        const bool is_last = at.generation == active.generation;
        read_buffer(ring, controls_.state_of(ring, at.generation, active.control, is_last), take);
        if (is_last) {
            break;
        }
        at.move_to(at.generation + 1);
    }
}

void region_reader::read_buffer(std::uint32_t ring, const buffer_state& state,
                                const run_handler& take) {
    position& at = positions_[ring];
    const std::uint64_t end =
        std::min<std::uint64_t>(state.filled.position(), geometry_.buffer_size);
    const std::uint64_t base = geometry_.buffer_offset(ring, at.generation);
    while (at.offset < end) {
        const std::size_t size = std::min<std::uint64_t>(end - at.offset, copy_.size());
        words_.copy(copy_.data(), size, base + at.offset);
        // Copy first, then check that the copy is of this generation.
        if (mode_ == producer_policy::never_wait &&
            !controls_.is_still_buffered(ring, at.generation)) {
            break;
        }
        const checked_records found = check_records({copy_.data(), size}, at.context);
        if (found.count != 0) {
            deliver(ring, state, found, take);
        }
        if (!state.exact && (found.damaged || found.count == 0)) {
            break;  // torn or damaged: known only when the ring no longer changes
        }
        if (found.damaged || found.count == 0) {
            // The records that the producer has counted from here on cannot be separated.
            const std::uint64_t missing =
                unreported(counted_in(state.filled, state.exact), at.records);
            totals_[ring].damaged += missing;
            at.records_reported += missing;
            at.records += missing;
            at.offset = end;
        }
    }
}

/// The records before the next one of the buffer that no run has reported.
std::uint64_t region_reader::overwritten_before(std::uint32_t ring,
                                                const buffer_state& state) const {
    const position& at = positions_[ring];
    if (state.records_before > at.recorded) {
        has_impossible_counts_ = true;
        return 0;
    }
    return unreported(state.records_before + at.records, at.records_reported);
}

void region_reader::deliver(std::uint32_t ring, const buffer_state& state,
                            const checked_records& found, const run_handler& take) {
    position& at = positions_[ring];
    ring_totals& totals = totals_[ring];
    const std::uint64_t lost = unreported_losses(ring, state.lost_before);
    // In discard mode nothing is overwritten.
    const std::uint64_t overwritten =
        mode_ == producer_policy::wait ? 0 : overwritten_before(ring, state);
    // The sum of the producer's counts, unless one of them is impossible.
    const std::uint64_t sequence = at.lost_reported + lost + at.records_reported + overwritten;
    const record_run run{ring,
                         lost + overwritten,
                         sequence,
                         found.count,
                         {copy_.data(), found.size},
                         overwritten != 0,
                         at.context,
                         &events_};
    totals.lost += lost;
    totals.overwritten += overwritten;
    at.lost_reported += lost;
    at.records_reported += overwritten + found.count;
    find_new_providers();
    take(run);
    at.offset += found.size;
    at.context = found.context;
    at.records += found.count;
    totals.read += found.count;
    totals.bytes += found.usual_size;
}

/// After a control word has been loaded, and before the records behind it are decoded: their event
/// numbers are those of providers that have attached by then.
void region_reader::find_new_providers() {
    providers_.read_new([this](provider_instance&& provider) {
        if (!events_.add(provider)) {
            provider.event_base = 0;  // a broken producer's: its events stay unknown
        }
        new_providers_.push_back(std::move(provider));
    });
}

void region_reader::read_new_providers(const provider_table::handler& take) {
    find_new_providers();
    for (provider_instance& provider : std::exchange(new_providers_, {})) {
        take(std::move(provider));
    }
}

bool region_reader::has_data_to_read() {
    bool found = false;
    controls_.for_each([&](std::uint32_t ring, control_word control) {
        found = found ||
                control.generation() != (positions_[ring].generation & EVENTLOG_GENERATION_MASK);
    });
    return found;
}

bool region_reader::wait(std::chrono::nanoseconds at_most) {
    constexpr std::uint64_t waiting = offsetof(eventlog_region, waiting);
    constexpr std::uint64_t wake = offsetof(eventlog_region, wake);
    const std::uint32_t expected = words_.read_u32(wake);
    words_.futex_store_flag(waiting, true);
    // Pairs with wake_reader in the SDK: store to `waiting`, then load the control words; the
    // writer stores its control word, then loads `waiting`. One of both sees the other's store.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!has_data_to_read()) {
        words_.wait(wake, expected, at_most);
    }
    words_.futex_store_flag(waiting, false);
    return has_data_to_read();
}

std::vector<std::uint64_t> region_reader::finish() {
    std::vector<std::uint64_t> trailing(geometry_.ring_count, 0);
    for (std::uint32_t ring = 0; ring < geometry_.ring_count; ++ring) {
        position& at = positions_[ring];
        trailing[ring] = unreported_losses(ring, read_losses(ring));
        at.lost_reported += trailing[ring];
        totals_[ring].lost += trailing[ring];
        // Overwritten records that no later record has reported, because the producer was too fast.
        const std::uint64_t overwritten = unreported(at.recorded, at.records_reported);
        at.records_reported += overwritten;
        totals_[ring].overwritten += overwritten;
    }
    return trailing;
}

}  // namespace elog
