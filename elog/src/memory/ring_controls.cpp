// SPDX-License-Identifier: MIT
#include "memory/ring_controls.hpp"

#include <atomic>

namespace elog {
namespace {

using eventlog::core::control_word;

// First byte of a control word that belongs to its generation.
constexpr unsigned generation_begins = EVENTLOG_GENERATION_SHIFT / 8;
// How often a producer may go through all buffers between two loads before it counts as broken.
constexpr int read_attempts_max = 100;

}  // namespace

ring_controls::ring_controls(const region_accessor& words,
                             const eventlog::core::region_geometry& geometry)
    : words_(words), geometry_(geometry), backed_(geometry.ring_count), heads_(heads_size) {
    for (std::uint32_t ring = 0; ring < geometry_.ring_count; ++ring) {
        backed_[ring] =
            words_.read_u32(geometry_.ring_offset(ring) + offsetof(eventlog_ring, backed)) != 0;
    }
}

std::uint64_t ring_controls::descriptor_offset(std::uint32_t ring,
                                               std::uint64_t generation) const noexcept {
    return geometry_.ring_offset(ring) + sizeof(eventlog_ring) +
           (generation & (geometry_.buffer_count - 1)) * sizeof(eventlog_buffer);
}

std::optional<control_reading> ring_controls::control_of(std::uint32_t ring) const {
    const std::uint64_t offset = geometry_.ring_offset(ring) + offsetof(eventlog_ring, control);
    for (int attempt = 0; attempt < read_attempts_max; ++attempt) {
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

buffer_state ring_controls::state_of(std::uint32_t ring, std::uint64_t generation,
                                     const control_reading& control, bool active) const {
    // The descriptor can change during the copy only in overwrite mode, where it is checked later,
    // and in a damaged region.
    eventlog_buffer descriptor{};
    words_.copy(&descriptor, sizeof descriptor, descriptor_offset(ring, generation));
    const bool is_open = active && !control.word.is_sealed();
    return {is_open ? control.word : control_word{descriptor.sealed}, descriptor.records_before,
            descriptor.lost_before, !is_open || control.exact};
}

std::optional<active_buffer> ring_controls::find_active(std::uint32_t ring) const {
    for (int attempt = 0; attempt < read_attempts_max; ++attempt) {
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

/// A producer that reuses a buffer first stores the new generation in the descriptor.
bool ring_controls::is_still_buffered(std::uint32_t ring, std::uint64_t generation) const {
    std::atomic_thread_fence(std::memory_order_acquire);
    const region_accessor::reading seen =
        words_.read(descriptor_offset(ring, generation) + offsetof(eventlog_buffer, generation));
    const std::optional<control_reading> control = control_of(ring);
    return seen.exact && seen.value == generation && control &&
           ((control->word.generation() - generation) & EVENTLOG_GENERATION_MASK) <
               geometry_.buffer_count;
}

}  // namespace elog
