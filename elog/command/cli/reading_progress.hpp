// SPDX-License-Identifier: MIT
//
// How far the reading of recordings is, for who waits for it at a terminal: see progress_line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "file/read_observer.hpp"
#include "terminal/progress_line.hpp"

namespace elog {

class reading_progress final : public read_observer {
  public:
    /// All of these files are read.
    explicit reading_progress(const std::vector<std::string>& paths,
                              concurrent_output output = concurrent_output::nothing);
    /// A file, or, if that `is_part`, nobody knows how much of it.
    reading_progress(const std::string& path, bool is_part, concurrent_output output);

    void note(std::uint64_t bytes) override;

  private:
    [[nodiscard]] std::string text() const;

    progress_line line_;
    std::uint64_t size_ = 0;  // 0: not known
    std::uint64_t done_ = 0;
};

}  // namespace elog
