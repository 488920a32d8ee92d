// SPDX-License-Identifier: MIT
//
// A file recorded by another program (perf.data or trace.dat), possibly truncated or hostile. It is
// not mapped, so truncation while it is read causes an error and no signal.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "platform/unique_fd.hpp"

namespace eventlog::tracefs {

class recorded_file {
  public:
    /// Throws error if it cannot be opened or is not a regular file.
    explicit recorded_file(std::string path);

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

    /// How many of these bytes exist.
    [[nodiscard]] std::uint64_t available_bytes(std::uint64_t offset,
                                                std::uint64_t size) const noexcept;

    /// Reads these bytes. Throws error, in which `what` names them, if they do not exist or are
    /// more than `limit`.
    [[nodiscard]] std::vector<std::uint8_t> read(std::uint64_t offset, std::uint64_t size,
                                                 std::uint64_t limit, const char* what) const;
    /// Fills `to`, or less at the end of the file. Throws error if the file cannot be read.
    [[nodiscard]] std::size_t read_into(std::span<std::uint8_t> to, std::uint64_t offset) const;

  private:
    std::string path_;
    core::unique_fd file_;
    std::uint64_t size_ = 0;
};

}  // namespace eventlog::tracefs
