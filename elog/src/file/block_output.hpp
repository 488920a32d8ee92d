// SPDX-License-Identifier: MIT
//
// The output of a file_writer: a file, pipe or device that grows by whole blocks.
//
// - Functions that write throw user_error, or output_closed for a pipe that is closed. After a
//   failed write a file ends with its last whole block. A pipe may end in the middle of one.
// - With a reserve, a part of the disk behind the end stays allocated until the end, so that the
//   last blocks can be written when the disk is full. Pipes and some file systems have none. The
//   reserve also lies below the limit on the size of a file; the process must ignore SIGXFSZ.
// - Owns the descriptor, or a duplicate of the caller's, and the lock that marks the file as being
//   written. One thread uses it.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/created_file.hpp"
#include "base/output.hpp"
#include "base/user_error.hpp"
#include "platform/unique_fd.hpp"

namespace elog {

struct output_options {
    std::string path;
    existing_file existing = existing_file::reuse;
    /// An open file, pipe or device to write to; `path` is its name in messages. -1: open `path`.
    int descriptor = -1;
    abort_check should_abort{};  // for a pipe that is not read, see elog::write_all
    bool has_reserve = false;
    file_mode mode = private_mode;      // of a file that is created
    replaced_file* replaced = nullptr;  // gets the file that is replaced
    /// Called when the disk is full: whether there may be space now, so that a retry is worthwhile.
    std::function<bool()> wait_for_space{};
};

/// The file system has no space for the next block. The file can be ended if it has a reserve.
/// What other processes have done to a file while it is written.
enum class output_state {
    intact,
    moved,  // whole, but its name is that of another file, or of none
    removed,
    truncated,
};

class disk_full : public user_error {
  public:
    using user_error::user_error;
};

/// The same because of the limit on the size of a file, RLIMIT_FSIZE.
class file_too_large : public disk_full {
  public:
    using disk_full::disk_full;
};

/// The file exists, and must be new.
class file_exists : public user_error {
  public:
    using user_error::user_error;
};

class block_output {
  public:
    /// Creates, replaces or empties the file.
    explicit block_output(output_options options);
    block_output(const block_output&) = delete;
    block_output& operator=(const block_output&) = delete;
    ~block_output();

    /// `reserve` bytes stay allocated behind these, in a file with a reserve. Throws disk_full.
    void append(std::span<const std::span<const std::uint8_t>> parts, std::uint64_t reserve);
    /// From now on append() may use the reserve.
    void use_reserve() noexcept { uses_reserve_ = true; }
    void release_reserve() noexcept;
    /// Removes the file that the constructor has created: it could not be begun. Keeps one that the
    /// caller has opened or prepared.
    void discard() noexcept;
    /// Waits until the file is on the disk.
    void sync();
    /// `name`: of the file, or of a link to it. Truncated only if that is still its name.
    [[nodiscard]] output_state state(const std::string& name) const noexcept;
    /// Without looking for its name. Throws user_error if another process has removed or truncated
    /// the file.
    void check_intact() const;

    /// What has been appended.
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] const std::string& path() const noexcept { return options_.path; }
    /// A pipe or a device: its reader may process the blocks as they arrive.
    [[nodiscard]] bool is_stream() const noexcept { return !is_regular_; }

  private:
    [[nodiscard]] output_state content_state() const noexcept;
    void open();
    void open_descriptor();
    void lock();
    void allocate(std::uint64_t size);
    void check_limit(std::uint64_t end) const;
    [[nodiscard]] int allocate_to(std::uint64_t end) noexcept;
    [[nodiscard]] bool may_retry(int error);
    [[nodiscard]] int write_parts(std::span<iovec> parts) noexcept;

    output_options options_;
    eventlog::core::unique_fd file_;
    bool is_regular_ = true;  // false: a pipe or a device
    bool uses_reserve_ = false;
    bool can_allocate_ = true;
    std::uint64_t allocated_ = 0;  // on the disk, from the beginning of the file, by allocate()
    std::uint64_t size_ = 0;
};

}  // namespace elog
