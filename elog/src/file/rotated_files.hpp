// SPDX-License-Identifier: MIT
//
// The files of a recording that goes on in a new file from time to time: run.elog stands for
// run-000001.elog, run-000002.elog, ...
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/background_close.hpp"

namespace elog {

/// What the names have in common, as a shell would write it: run-*.elog
[[nodiscard]] std::string rotation_glob(const std::string& path);

/// The files that stand behind that one of a recording, in their order; none if it has no number.
[[nodiscard]] std::vector<std::string> later_rotated_files(const std::string& path);

class rotated_files {
  public:
    /// Finds those that are there from recordings before. Throws failure if the folder cannot be
    /// read.
    explicit rotated_files(const std::string& path);

    /// The name of the next one, which is not there yet. Throws failure if there is no number left.
    [[nodiscard]] std::string next_path();
    /// The one of that name is complete.
    void add(std::string path, std::uint64_t size);

    [[nodiscard]] std::size_t count() const noexcept { return parts_.size(); }
    /// Bytes of all complete ones.
    [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
    /// Removes the oldest one; there must be one. Its memory is given back meanwhile, by a thread.
    /// Throws failure if it cannot be removed.
    void remove_oldest();

  private:
    struct part {
        std::string path;
        std::uint64_t size = 0;
    };

    void find_existing();

    std::string stem_;
    std::string extension_;
    std::uint64_t last_number_ = 0;
    std::uint64_t total_ = 0;
    std::deque<part> parts_;
    background_close removed_;
};

}  // namespace elog
