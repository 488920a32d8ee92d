// SPDX-License-Identifier: MIT
#include "platform/permanent_memory.hpp"

#include <sys/mman.h>

namespace eventlog::core {
namespace {

constexpr std::size_t area_size = 65536;
constexpr std::size_t alignment = 16;

// The first area. Pages of it that are not used need no memory.
alignas(alignment) constinit unsigned char own_area[unloaded_memory_size]{};

// Under the registry lock.
constinit unsigned char* next_free = own_area;
constinit std::size_t room_left = unloaded_memory_size;

}  // namespace

void* allocate_permanently(std::size_t size) noexcept {
    const std::size_t needed = (size + alignment - 1) / alignment * alignment;
    if (needed > room_left) {
        void* area =
            ::mmap(nullptr, area_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (area == MAP_FAILED) {
            return nullptr;
        }
        next_free = static_cast<unsigned char*>(area);
        room_left = area_size;
    }
    void* const memory = next_free;
    next_free += needed;
    room_left -= needed;
    return memory;
}

}  // namespace eventlog::core
