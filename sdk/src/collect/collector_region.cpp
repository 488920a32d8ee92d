// SPDX-License-Identifier: MIT
#include "collect/collector_region.hpp"

#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "platform/process.hpp"
#include "ring/clock.hpp"

namespace eventlog::core {
namespace {

constexpr std::uint64_t schemas_size = std::uint64_t{16} << 20U;

/// Neither 0 nor UINT64_MAX.
std::uint64_t random_serial() noexcept {
    std::uint64_t serial = 0;
    if (::getrandom(&serial, sizeof serial, GRND_NONBLOCK) != sizeof serial) {
        serial = ticks();  // only this process compares it
    }
    return serial == 0 || serial == UINT64_MAX ? 1 : serial;
}

/// Generation 0 is active in buffer 0; the other buffers hold no generation yet.
void begin_ring(eventlog_ring* ring, std::uint32_t buffer_count) noexcept {
    ring->backed = 1;
    for (std::uint32_t i = 1; i < buffer_count; ++i) {
        descriptors_of(ring)[i].generation = UINT64_MAX;
    }
}

}  // namespace

unsigned char* map_private(std::uint64_t size) noexcept {
    void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<unsigned char*>(memory);
}

region_geometry plan_private_region(std::uint32_t buffer_count,
                                    std::uint32_t buffer_size) noexcept {
    // Threads on CPUs with higher numbers use the shared ring.
    const long cpus = ::sysconf(_SC_NPROCESSORS_CONF);
    return plan_region(
        static_cast<std::uint32_t>(std::clamp<long>(cpus, 1, EVENTLOG_RINGS_MAX - 1)), buffer_count,
        buffer_size, schemas_size);
}

unsigned char* make_private_region(const region_geometry& geometry,
                                   const packed_patterns& patterns) noexcept {
    unsigned char* const base = map_private(geometry.total_size);
    if (base == nullptr) {
        return nullptr;
    }
    auto& header = *reinterpret_cast<eventlog_region*>(base);
    begin_header(header, geometry, own_identity());
    header.serial = random_serial();
    header.clock = best_clock();
    header.clock_start = read_clock_sample(header.clock);
    header.state = EVENTLOG_REGION_LIVE;
    store_filter(header, patterns);
    for (std::uint32_t i = 0; i < geometry.ring_count; ++i) {
        begin_ring(reinterpret_cast<eventlog_ring*>(base + geometry.ring_offset(i)),
                   geometry.buffer_count);
    }
    return base;
}

void store_filter(eventlog_region& region, const packed_patterns& patterns) noexcept {
    std::memcpy(region.filter, patterns.text.data(), patterns.size);
    region.filter_size = patterns.size;
}

}  // namespace eventlog::core
