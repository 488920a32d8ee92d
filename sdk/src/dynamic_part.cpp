// SPDX-License-Identifier: MIT
#include "dynamic_part.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <new>

namespace eventlog::core {
namespace {

/// NULL if there is no memory.
dynamic_part* make_part() noexcept {
    void* memory = std::aligned_alloc(alignof(dynamic_part), sizeof(dynamic_part));
    if (memory == nullptr) {
        return nullptr;
    }
    auto* part = new (memory) dynamic_part;
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    part->gate_size = page > EVENTLOG_GATE_SIZE ? page : EVENTLOG_GATE_SIZE;
    void* gate = ::mmap(nullptr, part->gate_size, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (gate == MAP_FAILED) {
        std::free(memory);
        return nullptr;
    }
    part->gate = static_cast<std::uint32_t*>(gate);
    return part;
}

}  // namespace

bool take_definition(eventlog_provider& provider, const built_definition& built,
                     eventlog_provider_definition& complete) noexcept {
    dynamic_part* part = provider.dynamic.load(std::memory_order_relaxed);
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

void close_definition(eventlog_provider& provider) noexcept {
    if (dynamic_part* part = provider.dynamic.load(std::memory_order_relaxed); part != nullptr) {
        part->definition.store(nullptr, std::memory_order_seq_cst);
    }
}

bool forget_definition(eventlog_provider& provider) noexcept {
    dynamic_part* part = provider.dynamic.load(std::memory_order_relaxed);
    if (part == nullptr || part->memory == nullptr) {
        return true;
    }
    for (const reader_count& count : part->counts) {
        if (count.readers.load(std::memory_order_seq_cst) != 0) {
            return false;
        }
    }
    std::free(const_cast<built_definition*>(part->memory));
    part->memory = nullptr;
    provider.schema = nullptr;
    return true;
}

}  // namespace eventlog::core
