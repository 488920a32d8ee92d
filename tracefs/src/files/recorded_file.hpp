// SPDX-License-Identifier: MIT
//
// A file that another program has recorded: perf.data or trace.dat, whole, cut off, or made by an
// enemy. Nothing is mapped: whoever cuts it short meanwhile does no harm.
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
    /// Throws error if it cannot be opened or is no file.
    explicit recorded_file(std::string path);

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

    /// How many of these bytes there are.
    [[nodiscard]] std::uint64_t available_bytes(std::uint64_t offset,
                                                std::uint64_t size) const noexcept;

    /// That many bytes from there. `what` they are, for the sentence of the error that is thrown if
    /// they are not there, or are more than `limit`.
    [[nodiscard]] std::vector<std::uint8_t> read(std::uint64_t offset, std::uint64_t size,
                                                 std::uint64_t limit, const char* what) const;
    /// As many as fit into `to`, or up to the end of the file; throws error if they cannot be read.
    [[nodiscard]] std::size_t read_into(std::span<std::uint8_t> to, std::uint64_t offset) const;

  private:
    std::string path_;
    core::unique_fd file_;
    std::uint64_t size_ = 0;
};

}  // namespace eventlog::tracefs
