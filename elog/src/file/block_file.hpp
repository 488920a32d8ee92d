// SPDX-License-Identifier: MIT
//
// Reads an .elog file as a sequence of blocks: finds blocks and loads their payloads.
//
// - Input may be complete, cut off, damaged or hostile. Headers and payloads are verified by
//   checksum before use.
// - The contents of payloads are not interpreted here.
// - block_file owns the descriptor. One thread uses it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/zstd_frames.hpp"
#include "file/file_format.hpp"
#include "platform/unique_fd.hpp"

namespace elog {

/// Messages about data that could not be read, each once: a file may be read several times. The
/// list is bounded, because a hostile file may consist of damage only.
class damage_list {
  public:
    template <class... Arguments>
    void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        if (sentences_.size() > sentences_max) {
            return;
        }
        std::string sentence = fmt::format(format, std::forward<Arguments>(arguments)...);
        if (std::find(sentences_.begin(), sentences_.end(), sentence) != sentences_.end()) {
            return;
        }
        if (sentences_.size() == sentences_max) {
            sentence = "there is more damage than is listed here";
        }
        sentences_.push_back(std::move(sentence));
    }
    [[nodiscard]] bool empty() const noexcept { return sentences_.empty(); }
    [[nodiscard]] const std::vector<std::string>& sentences() const noexcept { return sentences_; }

  private:
    static constexpr std::size_t sentences_max = 100;

    std::vector<std::string> sentences_;
};

struct block_location {
    std::uint64_t offset = 0;  // of the header
    block_header header{};

    [[nodiscard]] block_type type() const noexcept { return static_cast<block_type>(header.type); }
    [[nodiscard]] std::uint64_t end() const noexcept {
        return offset + block_size_in_file(header.size);
    }
};

/// A block with a flag that changes its payload, and that this version does not know, must be
/// skipped.
[[nodiscard]] constexpr bool has_unknown_flags(const block_header& header) noexcept {
    return (header.flags & block_flags_changing & ~block_flags_known) != 0;
}

/// Whether the caller still appends to a file. Replaces the writer's lock, which not every file
/// system has.
using growth_check = std::function<bool()>;

class block_file {
  public:
    /// Throws user_error if the file cannot be opened, or is no .elog file of a version known here.
    explicit block_file(std::string path, growth_check is_growing = {});

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    /// A writer holds the file's lock, or it is growing: an incomplete last block is no damage.
    [[nodiscard]] bool is_being_written() const noexcept { return is_being_written_; }
    /// Reads the file's size again, and whether it is being written.
    void refresh();

    /// The block at `offset`, if its header is valid and belongs to this file. Its payload may be
    /// missing.
    [[nodiscard]] std::optional<block_location> block_at(std::uint64_t offset);
    /// The first such block at or after `offset`. Block alignment is the only assumption.
    [[nodiscard]] std::optional<block_location> find_block(std::uint64_t offset);
    /// The first `size` bytes of a payload, unverified; empty if they are missing. Valid until the
    /// next call.
    [[nodiscard]] std::span<const std::uint8_t> peek(const block_location& place, std::size_t size);

    /// The verified payload, with its compressed part decompressed. Reports damage and returns
    /// nullopt if the checksum does not match.
    [[nodiscard]] std::optional<std::vector<std::uint8_t>> load(const block_location& place);
    /// The same without a report, and not for compressed blocks.
    [[nodiscard]] std::optional<std::vector<std::uint8_t>> load_quietly(
        const block_location& place);
    /// Whether the payload has its checksum.
    [[nodiscard]] bool has_sound_payload(const block_location& place);
    /// Where to search for the next block: behind this one, if a block or the file's end is there.
    /// Otherwise the size in its header may be wrong.
    [[nodiscard]] std::uint64_t behind(const block_location& place);
    /// The file's header is sound, so nothing that it states is missing.
    [[nodiscard]] bool has_header() const noexcept { return has_header_; }
    [[nodiscard]] bool read(void* data, std::size_t size, std::uint64_t offset);

    template <class... Arguments>
    void report(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        damages_.add(format, std::forward<Arguments>(arguments)...);
    }
    [[nodiscard]] const damage_list& damages() const noexcept { return damages_; }
    /// Bytes read from the file so far.
    [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }

  private:
    void check_header();
    void check_identity();
    void find_identity();
    [[nodiscard]] bool has_host_of_this_version();
    [[nodiscard]] std::optional<block_location> find_block(std::uint64_t offset,
                                                           std::uint64_t limit);
    [[nodiscard]] std::span<const std::uint8_t> bytes_to_search(std::uint64_t offset);
    [[nodiscard]] bool read_payload(const block_location& place,
                                    std::vector<std::uint8_t>& payload);
    [[nodiscard]] std::span<const std::uint8_t> window(std::uint64_t offset, std::size_t size);

    std::string path_;
    growth_check is_growing_;
    eventlog::core::unique_fd file_;
    std::uint64_t size_ = 0;
    std::uint64_t bytes_read_ = 0;
    std::uint32_t identity_ = 0;
    bool has_identity_ = false;
    bool has_header_ = false;
    bool is_being_written_ = false;
    damage_list damages_;
    frame_decompressor decompressor_;
    std::vector<std::uint8_t> window_;  // a part of the file, read ahead
    std::uint64_t window_offset_ = 0;
    std::size_t window_size_ = 0;
    std::vector<std::uint8_t> searched_;  // a part of the file in which a block was searched
    std::uint64_t searched_offset_ = 0;
    std::size_t searched_size_ = 0;
};

/// Iterates over the blocks of a file in the order of their places. Bytes that belong to no whole
/// block are reported as damage. A block with an unexpected number is reported; it is left out only
/// if it is a copy of an earlier block.
class block_walker {
  public:
    /// `number` is the expected number of the block at `offset`.
    block_walker(block_file& file, std::uint64_t offset, std::uint64_t number)
        : file_(&file), begin_(offset), offset_(offset), expected_(number) {}

    /// The next whole block; its payload is complete but unverified. nullopt at the end of the
    /// file; the call may be repeated after the file has grown. Throws user_error at a block that a
    /// reader must know, and this one does not.
    [[nodiscard]] std::optional<block_location> next();
    /// Where next() continues.
    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }

  private:
    [[nodiscard]] bool return_to_covered();
    [[nodiscard]] bool skip_to_block();
    [[nodiscard]] bool is_first_copy(const block_location& place);
    [[nodiscard]] bool remember(const block_location& place);
    void remember_blocks(std::uint64_t until);

    block_file* file_;
    std::uint64_t begin_;
    std::uint64_t offset_;
    std::uint64_t expected_;
    std::optional<block_location> previous_;  // ends at offset_
    std::uint64_t verified_ = 0;              // bytes of payloads before damage
    // Of a file with blocks out of order: number and checksum of each block so far.
    std::optional<std::unordered_set<std::uint64_t>> seen_;
    // Where the search from offset_ ended in a file that grows; 0: nothing has been searched.
    std::uint64_t searched_until_ = 0;
};

}  // namespace elog
