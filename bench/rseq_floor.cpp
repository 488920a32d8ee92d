// SPDX-License-Identifier: MIT
#include "rseq_floor.hpp"

#if BENCH_HAS_RSEQ_FLOOR

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "failure.hpp"

namespace bench {
namespace {

/// This thread's CPU; negative if the thread is not registered.
std::int32_t current_cpu() noexcept {
    std::int32_t cpu = -1;
    asm volatile("movl %%fs:4(%[area]), %[cpu]" : [cpu] "=r"(cpu) : [area] "r"(__rseq_offset));
    return cpu;
}

}  // namespace

bool rseq_floor::available() noexcept {
    return __rseq_size != 0 && current_cpu() >= 0;
}

rseq_floor::rseq_floor() {
    // Shared memory, as a ring with a reader needs: private memory might get larger pages and be
    // faster for that reason. Untouched pages take no memory.
    mapped_size_ = static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_CONF)) << stride_shift;
    void* memory = ::mmap(nullptr, mapped_size_, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        throw failure("There is no memory for the rings of the floor ({}).", std::strerror(errno));
    }
    rings_ = static_cast<unsigned char*>(memory);
}

rseq_floor::~rseq_floor() {
    ::munmap(rings_, mapped_size_);
}

std::size_t rseq_floor::count_records(std::size_t size) const noexcept {
    const std::size_t step = (size + 7) & ~std::size_t{7};
    std::size_t count = 0;
    for (std::size_t ring = 0; ring < mapped_size_; ring += std::size_t{1} << stride_shift) {
        const unsigned char* records = rings_ + ring + records_offset;
        for (std::size_t place = 0; place + step <= ring_size; place += step) {
            std::uint64_t head = 0;
            std::memcpy(&head, records + place, sizeof head);
            count += head >> size_shift == size - header_size ? 1U : 0U;
        }
    }
    return count;
}

}  // namespace bench

#endif
