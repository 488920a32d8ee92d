// SPDX-License-Identifier: MIT
#include "provider/runtime_definition.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <new>

#include "ring/gate_layout.hpp"

namespace eventlog::core {
namespace {

// As for providers in C++: aarch64 kernels may use pages of 64 KiB.
#if defined(__aarch64__)
constexpr std::size_t preallocated_gate_alignment = 65536;
constexpr std::size_t preallocated_gate_size = 65536;
#else
constexpr std::size_t preallocated_gate_alignment = 4096;
constexpr std::size_t preallocated_gate_size = EVENTLOG_GATE_SIZE + EVENTLOG_COUNTERS_SIZE;
#endif

/// Static memory for the first definitions and their gates and counters: it is unloaded with a
/// plugin that contains this library.
struct preallocated_part {
    alignas(preallocated_gate_alignment) std::array<std::byte, preallocated_gate_size> gate;
    alignas(runtime_definition) std::array<std::byte, sizeof(runtime_definition)> part;
};

preallocated_part* take_preallocated_part() noexcept {
    constexpr std::size_t own_max = 4;
    static constinit std::array<preallocated_part, own_max> parts{};
    static constinit std::size_t used = 0;
    return used < own_max ? &parts[used++] : nullptr;
}

/// nullptr if there is no memory.
runtime_definition* allocate_part() noexcept {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    constexpr std::size_t needed = EVENTLOG_GATE_SIZE + EVENTLOG_COUNTERS_SIZE;
    const std::size_t size = (needed + page - 1) / page * page;
    void* memory = std::aligned_alloc(alignof(runtime_definition), sizeof(runtime_definition));
    void* gate = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == nullptr || gate == MAP_FAILED) {
        std::free(memory);
        if (gate != MAP_FAILED) {
            static_cast<void>(::munmap(gate, size));
        }
        return nullptr;
    }
    auto* part = new (memory) runtime_definition;
    part->gate = static_cast<std::uint32_t*>(gate);
    part->gate_size = size;
    return part;
}

/// nullptr if there is no memory.
runtime_definition* make_part() noexcept {
    preallocated_part* own = take_preallocated_part();
    if (own == nullptr) {
        return allocate_part();
    }
    auto* part = new (own->part.data()) runtime_definition;
    part->gate = reinterpret_cast<std::uint32_t*>(own->gate.data());
    part->gate_size = preallocated_gate_size;
    return part;
}

}  // namespace

bool install_definition(eventlog_provider& provider, const built_definition& built,
                        eventlog_raw_provider& complete) noexcept {
    runtime_definition* part = provider.dynamic.load(std::memory_order_relaxed);
    if (part == nullptr) {
        part = make_part();
        if (part == nullptr) {
            return false;
        }
        provider.dynamic.store(part, std::memory_order_release);
    }
    complete.gate = part->gate;
    complete.gate_size = part->gate_size;
    part->memory = &built;
    part->definition.store(&built, std::memory_order_seq_cst);
    return true;
}

void revoke_definition(eventlog_provider& provider) noexcept {
    if (runtime_definition* part = provider.dynamic.load(std::memory_order_relaxed);
        part != nullptr) {
        part->definition.store(nullptr, std::memory_order_seq_cst);
    }
}

void forget_other_readers(eventlog_provider& provider) noexcept {
    if (runtime_definition* part = provider.dynamic.load(std::memory_order_relaxed);
        part != nullptr) {
        part->readers.forget_other_threads();
    }
}

bool free_definition(eventlog_provider& provider) noexcept {
    runtime_definition* part = provider.dynamic.load(std::memory_order_relaxed);
    if (part == nullptr || part->memory == nullptr) {
        return true;
    }
    if (!part->readers.is_zero()) {
        return false;
    }
    std::free(const_cast<built_definition*>(part->memory));
    part->memory = nullptr;
    provider.schema = nullptr;
    return true;
}

}  // namespace eventlog::core
