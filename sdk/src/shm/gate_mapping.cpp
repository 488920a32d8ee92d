// SPDX-License-Identifier: MIT
#include "shm/gate_mapping.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shm/process_file_room.hpp"

namespace eventlog::core {
namespace {

/// The kernel replaces the pages in one step. Called directly, because ThreadSanitizer treats the C
/// library's mmap as an ordinary write.
bool map_over(std::uint32_t* gate, int flags, int file, std::uint64_t offset) noexcept {
    return ::syscall(SYS_mmap, gate, gate_room(), PROT_READ | PROT_WRITE, MAP_FIXED | flags, file,
                     offset) != -1;
}

}  // namespace

bool map_gate(std::uint32_t* gate, const unique_fd& file, std::uint64_t offset) noexcept {
    return map_over(gate, MAP_SHARED, file.get(), offset);
}

bool close_gate(std::uint32_t* gate) noexcept {
    return map_over(gate, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

}  // namespace eventlog::core
