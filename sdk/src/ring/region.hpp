// SPDX-License-Identifier: MIT
//
// A validated private copy of a region's geometry, and accessors for shared fields.
// linux/eventlog.h defines the layout and its rules.
#pragma once

#include <linux/eventlog.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "platform/error_text.hpp"

namespace eventlog::core {

struct process_identity;

/// The log of pauses is behind the header.
inline constexpr std::uint64_t pause_log_offset = sizeof(eventlog_region);

/// Whether a subscription in that state has ended: it never takes events again. Values that are no
/// state count as the end.
[[nodiscard]] constexpr bool is_end_state(std::uint32_t state) noexcept {
    return state != EVENTLOG_REGION_LIVE && state != EVENTLOG_REGION_PAUSED;
}

struct region_geometry {
    std::uint32_t ring_count = 0;
    std::uint32_t ring_stride = 0;
    std::uint32_t buffer_count = 0;
    std::uint32_t buffer_size = 0;
    std::uint64_t rings_offset = 0;
    std::uint64_t providers_offset = 0;
    std::uint64_t schemas_offset = 0;
    std::uint64_t schemas_size = 0;
    std::uint64_t buffers_offset = 0;
    std::uint64_t total_size = 0;

    bool operator==(const region_geometry&) const = default;

    /// The size of the part before schemas and buffers.
    [[nodiscard]] std::uint64_t head_size() const noexcept { return schemas_offset; }
    [[nodiscard]] std::uint64_t ring_offset(std::uint32_t ring) const noexcept {
        return rings_offset + std::uint64_t{ring} * ring_stride;
    }
    [[nodiscard]] std::uint64_t buffer_offset(std::uint32_t ring,
                                              std::uint64_t generation) const noexcept {
        const std::uint64_t index =
            std::uint64_t{ring} * buffer_count + (generation & (buffer_count - 1));
        return buffers_offset + index * buffer_size;
    }
};

/// The geometry for rings of `buffer_count` buffers of `buffer_size` bytes on `cpu_count` CPUs.
/// Both must be powers of two within the limits of linux/eventlog.h.
[[nodiscard]] region_geometry plan_region(std::uint32_t cpu_count, std::uint32_t buffer_count,
                                          std::uint32_t buffer_size,
                                          std::uint64_t schemas_size) noexcept;

/// The first step of a new subscription's header: version, geometry and owner. The rest stays.
void begin_header(eventlog_region& header, const region_geometry& geometry,
                  const process_identity& owner) noexcept;

/// Whether a header copied from a region is valid and lies within file_size bytes.
[[nodiscard]] bool check_region(const eventlog_region& header, std::uint64_t file_size,
                                region_geometry& geometry, error_text& error) noexcept;

/// Whether a buffer switch does not wait for the reader.
[[nodiscard]] inline bool overwrites(const eventlog_region& header) noexcept {
    return (header.features & EVENTLOG_FEATURE_OVERWRITE) != 0;
}

/// Whether buffers of the shared ring get their memory on first use.
[[nodiscard]] inline bool is_shared_ring_lazy(const eventlog_region& header) noexcept {
    return (header.features & EVENTLOG_FEATURE_LAZY_SHARED_RING) != 0;
}

/// Whether the subscription outlives its consumer.
[[nodiscard]] inline bool is_detached(const eventlog_region& header) noexcept {
    return (header.features & EVENTLOG_FEATURE_DETACHED) != 0;
}

/// Whether the name is valid for a detached subscription: see eventlog_region::name.
[[nodiscard]] bool is_subscription_name(std::string_view name) noexcept;

/// Accessors for the parts of a ring's control word.
struct control_word {
    std::uint64_t value = 0;

    [[nodiscard]] std::uint64_t units() const noexcept { return value & EVENTLOG_POSITION_MASK; }
    [[nodiscard]] std::uint64_t position() const noexcept {
        return units() * EVENTLOG_RECORD_ALIGNMENT;
    }
    [[nodiscard]] std::uint64_t count() const noexcept {
        return value >> EVENTLOG_COUNT_SHIFT & EVENTLOG_COUNT_MASK;
    }
    /// Only the low bits of the generation fit into the word.
    [[nodiscard]] std::uint64_t generation() const noexcept {
        return value >> EVENTLOG_GENERATION_SHIFT;
    }
    [[nodiscard]] bool is_sealed() const noexcept { return units() == EVENTLOG_SEALED; }
    [[nodiscard]] control_word sealed() const noexcept { return {value | EVENTLOG_SEALED}; }
    [[nodiscard]] static control_word first_of(std::uint64_t generation) noexcept {
        return {generation << EVENTLOG_GENERATION_SHIFT};
    }
};

[[nodiscard]] inline eventlog_buffer* descriptors_of(eventlog_ring* ring) noexcept {
    return reinterpret_cast<eventlog_buffer*>(ring + 1);
}

/// All accesses to fields of shared memory use this.
template <class Field>
[[nodiscard]] std::atomic_ref<Field> shared(Field& field) noexcept {
    return std::atomic_ref<Field>(field);
}

}  // namespace eventlog::core
