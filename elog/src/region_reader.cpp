// SPDX-License-Identifier: MIT
#include "region_reader.hpp"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "failure.hpp"
#include "read_at.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;
using core::control_word;
using core::shared;

// Copied at once; every record fits.
constexpr std::size_t copy_size = std::size_t{1} << 20U;

}  // namespace

region_reader::region_reader(const core::unique_fd& file, const core::region_geometry& geometry)
    : file_(file),
      geometry_(geometry),
      positions_(geometry.ring_count),
      totals_(geometry.ring_count),
      copy_(std::min<std::size_t>(copy_size, geometry.buffer_size)) {
    void* mapped =
        ::mmap(nullptr, geometry_.head_size(), PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0);
    if (mapped == MAP_FAILED) {
        throw failure("The subscription cannot be mapped ({}). Raise the limit on memory.",
                      std::strerror(errno));
    }
    head_ = static_cast<unsigned char*>(mapped);
}

region_reader::~region_reader() {
    static_cast<void>(::munmap(head_, geometry_.head_size()));
}

eventlog_region* region_reader::region() const noexcept {
    return reinterpret_cast<eventlog_region*>(head_);
}

eventlog_ring* region_reader::ring_at(std::uint32_t ring) const noexcept {
    return reinterpret_cast<eventlog_ring*>(head_ + geometry_.ring_offset(ring));
}

eventlog_provider_entry& region_reader::entry_at(std::uint32_t id) const noexcept {
    return reinterpret_cast<eventlog_provider_entry*>(head_ + geometry_.providers_offset)[id];
}

void region_reader::poll(const take_run& take) {
    for (std::uint32_t ring = 0; ring < geometry_.ring_count; ++ring) {
        if (shared(ring_at(ring)->backed).load(std::memory_order_relaxed) != 0) {
            poll_ring(ring, take);
        }
    }
}

void region_reader::poll_ring(std::uint32_t ring, const take_run& take) {
    eventlog_ring* head = ring_at(ring);
    eventlog_buffer* descriptors = core::descriptors_of(head);
    position& at = positions_[ring];
    const std::uint64_t mask = geometry_.buffer_count - 1;
    // Acquire: everything that the control word makes visible.
    const control_word control{shared(head->control).load(std::memory_order_acquire)};
    // A sound producer is never more than all buffers ahead; a broken one must not keep us here.
    for (std::uint32_t turn = 0; turn < geometry_.buffer_count; ++turn) {
        const bool active = control.generation() == (at.generation & EVENTLOG_GENERATION_MASK);
        eventlog_buffer& current = descriptors[at.generation & mask];
        const control_word filled =
            active && !control.is_sealed()
                ? control
                : control_word{shared(current.sealed).load(std::memory_order_relaxed)};
        read_buffer(ring, filled, take);
        if (active) {
            break;
        }
        // Release: our last look at the buffer is over when the producer sees this.
        shared(head->drained).store(at.generation + 1, std::memory_order_release);
        at.generation += 1;
        at.offset = 0;
        at.records = 0;
    }
}

void region_reader::read_buffer(std::uint32_t ring, control_word filled, const take_run& take) {
    position& at = positions_[ring];
    ring_totals& totals = totals_[ring];
    const eventlog_buffer& descriptor =
        core::descriptors_of(ring_at(ring))[at.generation & (geometry_.buffer_count - 1)];
    const std::uint64_t end = std::min<std::uint64_t>(filled.position(), geometry_.buffer_size);
    const std::uint64_t base = geometry_.buffer_offset(ring, at.generation);
    const std::uint64_t lost_before = descriptor.lost_before;
    const std::uint64_t records_before = descriptor.records_before;
    while (at.offset < end) {
        const std::size_t size = std::min<std::uint64_t>(end - at.offset, copy_.size());
        if (!read_at(file_, copy_.data(), size, base + at.offset)) {
            throw failure("The subscription has been cut short by someone else. Start a new one.");
        }
        const checked_records found = check_records({copy_.data(), size});
        if (found.count != 0) {
            record_run run{ring,
                           lost_before - std::min(lost_before, at.lost_told),
                           records_before + lost_before + at.records,
                           found.count,
                           {copy_.data(), found.size}};
            totals.lost += run.lost_before;
            at.lost_told = std::max(at.lost_told, lost_before);
            take(run);
            at.offset += found.size;
            at.records += found.count;
            totals.read += found.count;
            totals.bytes += found.size;
        }
        if (found.damaged || found.count == 0) {
            // Whatever the producer says is there from here on cannot be told apart.
            totals.damaged += filled.count() - std::min(filled.count(), at.records);
            at.records = filled.count();
            at.offset = end;
        }
    }
}

void region_reader::read_new_providers(const take_provider& take) {
    const std::uint32_t count = std::min<std::uint32_t>(
        shared(region()->provider_count).load(std::memory_order_relaxed), EVENTLOG_PROVIDERS_MAX);
    for (; providers_seen_ < count; ++providers_seen_) {
        unfinished_providers_.push_back(static_cast<std::uint16_t>(providers_seen_));
    }
    std::erase_if(unfinished_providers_, [&](std::uint16_t id) {
        // Acquire: entry and schema are complete.
        if (shared(entry_at(id).state).load(std::memory_order_acquire) != EVENTLOG_PROVIDER_READY) {
            return false;
        }
        if (std::optional<provider_instance> provider = read_provider(id)) {
            take(std::move(*provider));
        }
        return true;
    });
}

std::optional<provider_instance> region_reader::read_provider(std::uint16_t id) const {
    const eventlog_provider_entry entry = entry_at(id);
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
            id, entry.pid, entry.uid,
            std::string(entry.process, ::strnlen(entry.process, sizeof entry.process)),
            provider_schema::parse(bytes)};
    } catch (const failure&) {
        return std::nullopt;  // its records will be shown as those of an unknown provider
    }
}

bool region_reader::something_to_read() const noexcept {
    for (std::uint32_t ring = 0; ring < geometry_.ring_count; ++ring) {
        const control_word control{shared(ring_at(ring)->control).load(std::memory_order_relaxed)};
        if (shared(ring_at(ring)->backed).load(std::memory_order_relaxed) != 0 &&
            control.generation() != (positions_[ring].generation & EVENTLOG_GENERATION_MASK)) {
            return true;
        }
    }
    return false;
}

void region_reader::wait(std::chrono::nanoseconds at_most) {
    const std::uint32_t expected = shared(region()->wake).load(std::memory_order_relaxed);
    shared(region()->waiting).store(1, std::memory_order_relaxed);
    // See wake_reader in the SDK: one of us sees the other's store.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!something_to_read()) {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(at_most);
        const timespec timeout{static_cast<time_t>(seconds.count()),
                               static_cast<long>((at_most - seconds).count())};
        static_cast<void>(
            ::syscall(SYS_futex, &region()->wake, FUTEX_WAIT, expected, &timeout, nullptr, 0));
    }
    shared(region()->waiting).store(0, std::memory_order_relaxed);
}

std::vector<std::uint64_t> region_reader::finish() {
    std::vector<std::uint64_t> trailing(geometry_.ring_count, 0);
    for (std::uint32_t ring = 0; ring < geometry_.ring_count; ++ring) {
        const std::uint64_t lost = shared(ring_at(ring)->lost).load(std::memory_order_relaxed);
        position& at = positions_[ring];
        trailing[ring] = lost - std::min(lost, at.lost_told);
        at.lost_told = std::max(at.lost_told, lost);
        totals_[ring].lost += trailing[ring];
    }
    return trailing;
}

std::uint32_t region_reader::providers_refused() const noexcept {
    return shared(region()->providers_refused).load(std::memory_order_relaxed);
}

provider_losses region_reader::losses_of(std::uint16_t provider) const noexcept {
    eventlog_provider_entry& entry = entry_at(provider);
    return {shared(entry.lost_full).load(std::memory_order_relaxed),
            shared(entry.lost_too_large).load(std::memory_order_relaxed),
            shared(entry.lost_busy).load(std::memory_order_relaxed),
            shared(entry.cut).load(std::memory_order_relaxed)};
}

}  // namespace elog
