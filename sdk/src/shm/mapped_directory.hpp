// SPDX-License-Identifier: MIT
//
// The directory of this process's file, mapped: an emit counts in a provider's entry where it can
// open no file. The addresses stay valid for ever; without a file they have zero pages.
#pragma once

#include <cstdint>

#include "platform/unique_fd.hpp"
#include "shm/process_file_layout.hpp"

namespace eventlog::core {

inline constexpr std::uint64_t directory_block_size = 4096;  // but for the first block

/// For how many entries a block has room.
[[nodiscard]] constexpr std::uint32_t directory_capacity(std::uint32_t block) noexcept {
    const std::uint64_t size =
        block == 0 ? EVENTLOG_PROCESS_HEADER_SIZE - EVENTLOG_PROCESS_DIRECTORY_OFFSET
                   : directory_block_size;
    return static_cast<std::uint32_t>((size - sizeof(eventlog_directory_block)) /
                                      sizeof(eventlog_published_provider));
}

// Under the registry lock:

/// Maps a block of the directory; block 0 is in the first page, with the header. False if there is
/// no memory for the mapping.
[[nodiscard]] bool map_directory_block(const unique_fd& file, std::uint32_t block,
                                       std::uint64_t offset) noexcept;

/// Maps zero pages over all blocks: the file is not this process's any more.
void unmap_directory() noexcept;

/// An entry of a mapped block.
[[nodiscard]] eventlog_published_provider* mapped_entry(std::uint32_t block,
                                                        std::uint32_t index) noexcept;

/// A withdrawn entry, and its offset in the file.
struct removed_entry {
    eventlog_published_provider* entry = nullptr;  // nullptr: there is none
    std::uint64_t offset = 0;
};

/// The one of the blocks up to the last that was withdrawn first. Without system calls, because
/// there may be thousands of entries.
[[nodiscard]] removed_entry find_oldest_removed(std::uint32_t last_block) noexcept;

/// Any thread, any signal handler: the header.
[[nodiscard]] eventlog_process_file& mapped_header() noexcept;

/// Whether a subscription has ever listened to a provider of the file.
[[nodiscard]] bool has_slot_serials() noexcept;

}  // namespace eventlog::core
