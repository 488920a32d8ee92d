// SPDX-License-Identifier: MIT
#include "memory/region_reader.hpp"

#include <linux/futex.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <ctime>

#include "base/read_at.hpp"
#include "base/sigbus_guard.hpp"
#include "base/user_error.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;
using core::control_word;

// Bytes copied at once; every record fits.
constexpr std::size_t copy_size = std::size_t{1} << 20U;
// Bytes of ring heads copied at once, where that costs less than one read per control word.
constexpr std::size_t heads_size = std::size_t{64} << 10U;
constexpr std::size_t stride_at_once = 1024;
// First byte of a control word that belongs to its generation.
constexpr unsigned generation_begins = EVENTLOG_GENERATION_SHIFT / 8;

// Entries of the provider table copied at once.
constexpr std::uint32_t entries_at_once = 64;
static_assert(EVENTLOG_PROVIDERS_MAX % entries_at_once == 0);

// How often a producer may go through all buffers between two loads before it counts as broken.
constexpr int read_attempts_max = 100;
// How often it may overtake the reader before the whole ring counts as overwritten.
constexpr int rounds_max = 20;

/// The part of `now` that has not been reported yet.
std::uint64_t unreported(std::uint64_t now, std::uint64_t told) noexcept {
    return now - std::min(now, told);
}

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
    records = 0;
}

region_reader::region_reader(const region_view& source, producer_policy mode)
    : file_(source.file),
      geometry_(source.geometry),
      mode_(mode),
      words_(source.file, geometry_.head_size()),
      backed_(geometry_.ring_count),
      heads_(heads_size),
      positions_(geometry_.ring_count),
      totals_(geometry_.ring_count),
      copy_(std::min<std::size_t>(copy_size, geometry_.buffer_size)) {
    for (std::uint32_t ring = 0; ring < geometry_.ring_count; ++ring) {
        backed_[ring] =
            words_.read_u32(geometry_.ring_offset(ring) + offsetof(eventlog_ring, backed)) != 0;
    }
}

std::uint64_t region_reader::descriptor_offset(std::uint32_t ring,
                                               std::uint64_t generation) const noexcept {
    return geometry_.ring_offset(ring) + sizeof(eventlog_ring) +
           (generation & (geometry_.buffer_count - 1)) * sizeof(eventlog_buffer);
}

/// Passes on the control word of each ring with memory. A word that is being stored may be torn:
/// the value only decides which rings are read more closely.
template <class Take>
void region_reader::for_each_control(const Take& take) {
    const std::size_t stride = geometry_.ring_stride;
    const std::size_t at_once = stride <= stride_at_once ? heads_.size() / stride : 1;
    std::uint32_t first = 0;
    while (first < geometry_.ring_count) {
        std::uint32_t end = first;
        while (end < geometry_.ring_count && end - first < at_once && backed_[end]) {
            ++end;
        }
        if (end == first) {
            ++first;
            continue;
        }
        const std::size_t size = (end - first - 1) * stride + sizeof(control_word::value);
        if (!read_at(file_, heads_.data(), size,
                     geometry_.ring_offset(first) + offsetof(eventlog_ring, control))) {
            throw_truncated();
        }
        for (const std::uint8_t* word = heads_.data(); first < end; ++first, word += stride) {
            control_word control{};
            std::memcpy(&control.value, word, sizeof control.value);
            take(first, control);
        }
    }
}

void region_reader::poll(const run_handler& take) {
    for_each_control([&](std::uint32_t ring, control_word control) {
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

/// Returns nothing if the word changes so fast that not even its generation stays.
std::optional<region_reader::control_reading> region_reader::control_of(std::uint32_t ring) const {
    const std::uint64_t offset = geometry_.ring_offset(ring) + offsetof(eventlog_ring, control);
    for (int look = 0; look < read_attempts_max; ++look) {
        const region_accessor::reading found = words_.read(offset);
        if (found.exact) {
            return control_reading{{found.value}, true};
        }
        // Within a generation the word only grows, so at least this much is filled, unless the
        // position was about to become that of a sealed buffer, which is the only one with this
        // byte. Reading the generation's bytes again, in the opposite order, shows that it has not
        // changed.
        if (words_.read_u8(offset + 2) == EVENTLOG_SEALED >> 16U) {
            continue;
        }
        std::uint64_t later = 0;
        for (unsigned byte = generation_begins; byte < sizeof later; ++byte) {
            later |= std::uint64_t{words_.read_u8(offset + byte)} << 8U * byte;
        }
        if (control_word{later}.generation() == control_word{found.value}.generation()) {
            return control_reading{{found.value}, false};
        }
    }
    return std::nullopt;
}

/// `control` is the ring's control word. It belongs to that generation if the buffer is active.
region_reader::buffer_state region_reader::state_of(std::uint32_t ring, std::uint64_t generation,
                                                    const control_reading& control,
                                                    bool active) const {
    // The descriptor can change during the copy only in overwrite mode, where it is checked later,
    // and in a damaged region.
    eventlog_buffer descriptor{};
    if (!read_at(file_, &descriptor, sizeof descriptor, descriptor_offset(ring, generation))) {
        throw_truncated();
    }
    const bool is_open = active && !control.word.is_sealed();
    return {is_open ? control.word : control_word{descriptor.sealed}, descriptor.records_before,
            descriptor.lost_before, !is_open || control.exact};
}

void region_reader::drain_ring(std::uint32_t ring, const run_handler& take) {
    position& at = positions_[ring];
    const std::optional<control_reading> control = control_of(ring);
    if (!control) {
        return;
    }
    // A sound producer is at most all buffers ahead. The bound keeps a broken one from holding the
    // reader here.
    for (std::uint32_t turn = 0; turn < geometry_.buffer_count; ++turn) {
        const bool active =
            control->word.generation() == (at.generation & EVENTLOG_GENERATION_MASK);
        read_buffer(ring, state_of(ring, at.generation, *control, active), take);
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
        const std::optional<active_buffer> active = find_active(ring);
        if (!active || active->generation < at.generation) {
            return;  // broken producer: what it counts as recorded stays unread
        }
        at.recorded = std::max(at.recorded, active->records_before + active->control.word.count());
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
    const std::uint64_t oldest = unreported(active.generation, geometry_.buffer_count - 1);
    if (at.generation < oldest) {
        at.move_to(oldest);
    }
    while (true) {
        const bool is_last = at.generation == active.generation;
        read_buffer(ring, state_of(ring, at.generation, active.control, is_last), take);
        if (is_last) {
            break;
        }
        at.move_to(at.generation + 1);
    }
}

/// Returns the control word with its whole generation.
std::optional<region_reader::active_buffer> region_reader::find_active(std::uint32_t ring) const {
    for (int look = 0; look < read_attempts_max; ++look) {
        const std::optional<control_reading> control = control_of(ring);
        if (!control) {
            return std::nullopt;
        }
        // The descriptor is complete, but may already belong to a later generation.
        const std::uint64_t descriptor = descriptor_offset(ring, control->word.generation());
        const std::uint64_t generation =
            words_.read(descriptor + offsetof(eventlog_buffer, generation)).value;
        const std::uint64_t records_before =
            words_.read(descriptor + offsetof(eventlog_buffer, records_before)).value;
        if ((generation & EVENTLOG_GENERATION_MASK) == control->word.generation() &&
            is_still_buffered(ring, generation)) {
            return active_buffer{*control, generation, records_before};
        }
    }
    return std::nullopt;
}

/// Whether all that was read of the buffer and its descriptor belongs to that generation. A
/// producer that reuses a buffer first stores the new generation in the descriptor.
bool region_reader::is_still_buffered(std::uint32_t ring, std::uint64_t generation) const {
    std::atomic_thread_fence(std::memory_order_acquire);
    const region_accessor::reading seen =
        words_.read(descriptor_offset(ring, generation) + offsetof(eventlog_buffer, generation));
    const std::optional<control_reading> control = control_of(ring);
    return seen.exact && seen.value == generation && control &&
           ((control->word.generation() - generation) & EVENTLOG_GENERATION_MASK) <
               geometry_.buffer_count;
}

void region_reader::read_buffer(std::uint32_t ring, const buffer_state& state,
                                const run_handler& take) {
    position& at = positions_[ring];
    const std::uint64_t end =
        std::min<std::uint64_t>(state.filled.position(), geometry_.buffer_size);
    const std::uint64_t base = geometry_.buffer_offset(ring, at.generation);
    while (at.offset < end) {
        const std::size_t size = std::min<std::uint64_t>(end - at.offset, copy_.size());
        if (!read_at(file_, copy_.data(), size, base + at.offset)) {
            throw_truncated();
        }
        // Copy first, then check that the copy is of this generation.
        if (mode_ == producer_policy::never_wait && !is_still_buffered(ring, at.generation)) {
            break;
        }
        const checked_records found = check_records({copy_.data(), size});
        if (found.count != 0) {
            deliver(ring, state, found, take);
        }
        if (!state.exact && (found.damaged || found.count == 0)) {
            break;  // a torn record and a damaged one can be told apart only when the ring is at
                    // rest
        }
        if (found.damaged || found.count == 0) {
            // The records that the producer has counted from here on cannot be separated.
            const std::uint64_t missing = unreported(state.filled.count(), at.records);
            totals_[ring].damaged += missing;
            at.records_reported += missing;
            at.records = state.filled.count();
            at.offset = end;
        }
    }
}

void region_reader::deliver(std::uint32_t ring, const buffer_state& state,
                            const checked_records& found, const run_handler& take) {
    position& at = positions_[ring];
    ring_totals& totals = totals_[ring];
    const std::uint64_t lost = unreported(state.lost_before, at.lost_reported);
    // In discard mode nothing is overwritten.
    const std::uint64_t overwritten =
        mode_ == producer_policy::wait
            ? 0
            : unreported(state.records_before + at.records, at.records_reported);
    const record_run run{ring,
                         lost + overwritten,
                         state.records_before + state.lost_before + at.records,
                         found.count,
                         {copy_.data(), found.size},
                         overwritten != 0};
    totals.lost += lost;
    totals.overwritten += overwritten;
    at.lost_reported += lost;
    at.records_reported += overwritten + found.count;
    take(run);
    at.offset += found.size;
    at.records += found.count;
    totals.read += found.count;
    totals.bytes += found.size;
}

/// A process takes its entry's number first and reserves the memory afterwards, and may fail or die
/// in between. Reading with pread(2) allocates no memory in holes.
void region_reader::read_entries(std::uint32_t first,
                                 std::span<eventlog_provider_entry> entries) const {
    if (!read_at(file_, entries.data(), entries.size_bytes(),
                 geometry_.providers_offset + first * sizeof(eventlog_provider_entry))) {
        throw_truncated();
    }
}

void region_reader::read_new_providers(const provider_handler& take) {
    const std::uint32_t count = std::min<std::uint32_t>(
        words_.read_u32(offsetof(eventlog_region, provider_count)), EVENTLOG_PROVIDERS_MAX);
    for (; providers_seen_ < count; ++providers_seen_) {
        unfinished_providers_.push_back(static_cast<std::uint16_t>(providers_seen_));
    }
    std::array<eventlog_provider_entry, entries_at_once> some{};
    std::optional<std::uint32_t> first;  // the first entry in `some`
    std::erase_if(unfinished_providers_, [&](std::uint16_t id) {
        if (first != id - id % entries_at_once) {
            first = id - id % entries_at_once;
            read_entries(*first, some);
        }
        if (some[id % entries_at_once].state != EVENTLOG_PROVIDER_READY) {
            return false;
        }
        // Acquire: entry and schema are complete and are read again after this. Data copied
        // together with the state may be older than the state.
        std::atomic_thread_fence(std::memory_order_acquire);
        if (std::optional<provider_instance> provider = read_provider(id)) {
            take(std::move(*provider));
        }
        return true;
    });
}

std::optional<provider_instance> region_reader::read_provider(std::uint16_t id) const {
    eventlog_provider_entry entry{};
    read_entries(id, {&entry, 1});
    if (entry.schema_size > EVENTLOG_SCHEMA_SIZE_MAX ||
        entry.schema_offset < geometry_.schemas_offset ||
        entry.schema_offset > geometry_.buffers_offset ||
        geometry_.buffers_offset - entry.schema_offset < entry.schema_size) {
        return std::nullopt;
    }
    std::vector<std::uint8_t> bytes(entry.schema_size);
    if (!read_at(file_, bytes.data(), bytes.size(), entry.schema_offset)) {
        return std::nullopt;
    }
    try {
        return provider_instance{
            id,
            entry.pid,
            entry.uid,
            std::string(entry.process, ::strnlen(entry.process, sizeof entry.process)),
            provider_schema::parse(bytes),
            entry.start_time};
    } catch (const user_error&) {
        return std::nullopt;  // its records are shown as those of an unknown provider
    }
}

bool region_reader::has_data_to_read() {
    bool found = false;
    for_each_control([&](std::uint32_t ring, control_word control) {
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
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(at_most);
        const timespec timeout{static_cast<time_t>(seconds.count()),
                               static_cast<long>((at_most - seconds).count())};
        static_cast<void>(::syscall(SYS_futex, words_.address_of(wake), FUTEX_WAIT, expected,
                                    &timeout, nullptr, 0));
    }
    words_.futex_store_flag(waiting, false);
    return has_data_to_read();
}

std::vector<std::uint64_t> region_reader::finish() {
    std::vector<std::uint64_t> trailing(geometry_.ring_count, 0);
    for (std::uint32_t ring = 0; ring < geometry_.ring_count; ++ring) {
        const std::uint64_t lost =
            words_.read(geometry_.ring_offset(ring) + offsetof(eventlog_ring, lost)).value;
        position& at = positions_[ring];
        trailing[ring] = unreported(lost, at.lost_reported);
        at.lost_reported += trailing[ring];
        totals_[ring].lost += trailing[ring];
        // Overwritten records that no later record has reported, because the producer was too fast.
        const std::uint64_t overwritten = unreported(at.recorded, at.records_reported);
        at.records_reported += overwritten;
        totals_[ring].overwritten += overwritten;
    }
    return trailing;
}

std::uint32_t region_reader::providers_refused() const {
    return words_.read_u32(offsetof(eventlog_region, providers_refused));
}

provider_losses region_reader::losses_of(std::uint16_t provider) const {
    eventlog_provider_entry entry{};
    read_entries(provider, {&entry, 1});
    const std::uint64_t begin =
        geometry_.providers_offset + std::uint64_t{provider} * sizeof(eventlog_provider_entry);
    // Most counters are 0 and need no exact read.
    const auto exact = [&](std::uint64_t copied, std::uint64_t offset) {
        return copied == 0 ? 0 : words_.read(begin + offset).value;
    };
    return {exact(entry.lost_full, offsetof(eventlog_provider_entry, lost_full)),
            exact(entry.lost_no_memory, offsetof(eventlog_provider_entry, lost_no_memory)),
            exact(entry.lost_too_large, offsetof(eventlog_provider_entry, lost_too_large)),
            exact(entry.lost_busy, offsetof(eventlog_provider_entry, lost_busy)),
            exact(entry.cut, offsetof(eventlog_provider_entry, cut))};
}

}  // namespace elog
