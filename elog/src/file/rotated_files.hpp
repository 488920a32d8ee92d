// SPDX-License-Identifier: MIT
//
// Names, counts and removes the files of a rotated recording: run.elog stands for run-000001.elog,
// run-000002.elog, ...
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/background_close.hpp"

namespace elog {

/// The common pattern of the names, for a shell: run-*.elog
[[nodiscard]] std::string rotation_glob(const std::string& path);

/// The later files of the same recording, in order; empty if the name has no number.
[[nodiscard]] std::vector<std::string> later_rotated_files(const std::string& path);

class rotated_files {
  public:
    /// Registers the files of earlier recordings; in a folder of several users, those of this user.
    /// Throws user_error if the folder cannot be read.
    explicit rotated_files(const std::string& path);

    /// The name of the next file. Only another recording can have made it meanwhile. Throws
    /// user_error if the numbers are used up.
    [[nodiscard]] std::string next_path();
    /// Registers a complete file.
    void add(std::string path, std::uint64_t size);

    [[nodiscard]] std::size_t count() const noexcept { return parts_.size(); }
    /// Total size of the complete files.
    [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
    /// Removes the oldest file; there must be one. A thread frees its blocks in the background.
    /// Throws user_error if it cannot be removed.
    void remove_oldest();
    /// Waits until the space of the removed files is free. Whether there may be more of it now.
    bool wait_for_space() { return removed_.wait(); }

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
