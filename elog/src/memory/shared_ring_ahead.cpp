// SPDX-License-Identifier: MIT
#include "memory/shared_ring_ahead.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cstddef>

#include "shm/exact_io.hpp"

namespace elog {

namespace core = eventlog::core;

void shared_ring_ahead::keep(const region_view& source) noexcept {
    const core::region_geometry& geometry = source.geometry;
    if (allocated_ == geometry.buffer_count || !core::is_shared_ring_lazy(source.header)) {
        return;
    }
    const std::uint32_t ring = geometry.ring_count - 1;
    std::uint64_t control = 0;
    if (!core::read_exactly(source.file, &control, sizeof control,
                            geometry.ring_offset(ring) + offsetof(eventlog_ring, control)) ||
        control == EVENTLOG_SEALED) {
        return;  // the ring has not begun
    }
    const std::uint64_t wanted = std::min<std::uint64_t>(
        core::control_word{control}.generation() + 2, geometry.buffer_count);
    for (; allocated_ < wanted; ++allocated_) {
        // Of a file that has been truncated meanwhile, the size stays.
        static_cast<void>(::fallocate(source.file.get(), FALLOC_FL_KEEP_SIZE,
                                      static_cast<off_t>(geometry.buffer_offset(ring, allocated_)),
                                      static_cast<off_t>(geometry.buffer_size)));
    }
}

}  // namespace elog
