// SPDX-License-Identifier: MIT
#include "shm/mapped_directory.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>

#include "shm/process_file_layout.hpp"
#include "shm/process_file_room.hpp"

namespace eventlog::core {
namespace {

#if defined(__aarch64__)
constexpr std::size_t header_alignment = 65536;  // kernels may use pages of 64 KiB
#else
constexpr std::size_t header_alignment = 4096;
#endif

struct alignas(header_alignment) header_page {
    eventlog_process_file header;
};
constinit header_page first_page{};

// Under the registry lock. Blocks but for the first, which were mapped by this or an earlier file.
constexpr std::size_t blocks_max =
    EVENTLOG_PROCESS_PROVIDERS_MAX /
        ((EVENTLOG_PROCESS_HEADER_SIZE - sizeof(eventlog_directory_block)) /
         sizeof(eventlog_published_provider)) +
    2;
constinit std::array<unsigned char*, blocks_max> block_pages{};

bool map_page(void* address, int flags, int file, std::uint64_t offset, void*& mapped) noexcept {
    const long result =
        ::syscall(SYS_mmap, address, page_size(), PROT_READ | PROT_WRITE, flags, file, offset);
    mapped = reinterpret_cast<void*>(result);
    return result != -1;
}

unsigned char* begin_of(std::uint32_t block) noexcept {
    return block == 0
               ? reinterpret_cast<unsigned char*>(&first_page) + EVENTLOG_PROCESS_DIRECTORY_OFFSET
               : block_pages[block];
}

}  // namespace

bool map_directory_block(const unique_fd& file, std::uint32_t block,
                         std::uint64_t offset) noexcept {
    if (block >= block_pages.size()) {
        return false;
    }
    void* const known = block == 0 ? &first_page : static_cast<void*>(block_pages[block]);
    void* mapped = nullptr;
    if (!map_page(known, MAP_SHARED | (known != nullptr ? MAP_FIXED : 0), file.get(), offset,
                  mapped)) {
        return false;
    }
    if (block != 0) {
        block_pages[block] = static_cast<unsigned char*>(mapped);
    }
    return true;
}

void unmap_directory() noexcept {
    void* ignored = nullptr;
    static_cast<void>(
        map_page(&first_page, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0, ignored));
    for (unsigned char* page : block_pages) {
        if (page != nullptr) {
            static_cast<void>(
                map_page(page, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0, ignored));
        }
    }
}

eventlog_published_provider* mapped_entry(std::uint32_t block, std::uint32_t index) noexcept {
    return reinterpret_cast<eventlog_published_provider*>(
        begin_of(block) + sizeof(eventlog_directory_block) +
        std::size_t{index} * sizeof(eventlog_published_provider));
}

removed_entry find_oldest_removed(std::uint32_t last_block) noexcept {
    removed_entry oldest;
    std::uint64_t offset = EVENTLOG_PROCESS_DIRECTORY_OFFSET;
    for (std::uint32_t block = 0; block <= last_block; ++block) {
        const auto& head = *reinterpret_cast<const eventlog_directory_block*>(begin_of(block));
        const std::uint32_t used = std::min(head.used, directory_capacity(block));
        for (std::uint32_t i = 0; i < used; ++i) {
            eventlog_published_provider* const entry = mapped_entry(block, i);
            if (std::atomic_ref(entry->state).load(std::memory_order_relaxed) ==
                    EVENTLOG_PUBLISHED_REMOVED &&
                (oldest.entry == nullptr ||
                 static_cast<std::int32_t>(entry->removal - oldest.entry->removal) < 0)) {
                oldest = {entry, offset + sizeof head + std::uint64_t{i} * sizeof *entry};
            }
        }
        if (head.next_offset <= offset) {
            break;  // the last one
        }
        offset = head.next_offset;
    }
    return oldest;
}

eventlog_process_file& mapped_header() noexcept {
    return first_page.header;
}

bool has_slot_serials() noexcept {
    return std::ranges::any_of(mapped_header().slot_serial, [](const __u64& serial) {
        return __atomic_load_n(&serial, __ATOMIC_ACQUIRE) != 0;
    });
}

}  // namespace eventlog::core
