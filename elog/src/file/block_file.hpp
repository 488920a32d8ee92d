// SPDX-License-Identifier: MIT
//
// An .elog file as a row of blocks, whole, cut off, damaged or made by an enemy: finding them, and
// loading them. What a block means is not looked at here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/zstd_frames.hpp"
#include "file/file_format.hpp"
#include "platform/unique_fd.hpp"

namespace elog {

/// Sentences about what could not be read. A file of nothing but damage must not fill the memory
/// with them: the list ends after some.
class damage_list {
  public:
    template <class... Arguments>
    void add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        if (sentences_.size() < sentences_max) {
            sentences_.push_back(fmt::format(format, std::forward<Arguments>(arguments)...));
        } else if (sentences_.size() == sentences_max) {
            sentences_.emplace_back("there is more damage than is listed here");
        }
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

class block_file {
  public:
    /// Throws failure if the file cannot be opened or is no .elog file of a version that we know.
    explicit block_file(std::string path);

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    /// Somebody is writing to it right now: that its last block is not whole means nothing.
    [[nodiscard]] bool is_being_written() const noexcept { return is_being_written_; }
    /// Looks again how large it is, and whether it is still being written.
    void refresh();

    /// A block of this file whose header is sound. Whether its payload is there has not been
    /// looked at.
    [[nodiscard]] std::optional<block_location> block_at(std::uint64_t offset);
    /// The first of them at or behind `offset`, wherever it begins.
    [[nodiscard]] std::optional<block_location> find_block(std::uint64_t offset);
    /// The first bytes of a block's payload, if they are there; valid until the next call.
    [[nodiscard]] std::span<const std::uint8_t> peek(const block_location& place, std::size_t size);

    /// The payload, decompressed behind its first part. Reports and gives nothing if it is not
    /// what its checksum says.
    [[nodiscard]] std::optional<std::vector<std::uint8_t>> load(const block_location& place);
    [[nodiscard]] bool read(void* data, std::size_t size, std::uint64_t offset);

    template <class... Arguments>
    void report(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
        damages_.add(format, std::forward<Arguments>(arguments)...);
    }
    [[nodiscard]] const damage_list& damages() const noexcept { return damages_; }
    /// How much has been read from the file so far.
    [[nodiscard]] std::uint64_t bytes_read() const noexcept { return bytes_read_; }

  private:
    void check_header();
    [[nodiscard]] std::span<const std::uint8_t> window(std::uint64_t offset, std::size_t size);

    std::string path_;
    eventlog::core::unique_fd file_;
    std::uint64_t size_ = 0;
    std::uint64_t bytes_read_ = 0;
    std::uint32_t identity_ = 0;
    bool has_identity_ = false;
    bool is_being_written_ = false;
    damage_list damages_;
    frame_decompressor decompressor_;
    std::vector<std::uint8_t> window_;  // a part of the file, read ahead
    std::uint64_t window_offset_ = 0;
    std::size_t window_size_ = 0;
};

/// From block to block through a file; what lies between them and is none is reported.
class block_walker {
  public:
    /// The block at `offset` is expected to have that number.
    block_walker(block_file& file, std::uint64_t offset, std::uint64_t number)
        : file_(&file), offset_(offset), expected_(number) {}

    /// The next whole block, whose payload is there, but may be damaged. Nothing at the end of the
    /// file; may be asked again when it has grown.
    [[nodiscard]] std::optional<block_location> next();

  private:
    [[nodiscard]] bool skip_to_block();

    block_file* file_;
    std::uint64_t offset_;
    std::uint64_t expected_;
};

}  // namespace elog
