// SPDX-License-Identifier: MIT
//
// The progress of reading recordings, shown on a terminal; see progress_line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "file/read_observer.hpp"
#include "terminal/progress_line.hpp"

namespace elog {

class reading_progress final : public read_observer {
  public:
    /// For files that are read entirely.
    explicit reading_progress(const std::vector<std::string>& paths,
                              concurrent_output output = concurrent_output::nothing);
    /// For one file. If only a part is read (`is_part`), its size is unknown.
    reading_progress(const std::string& path, bool is_part, concurrent_output output);

    void note(std::uint64_t bytes) override;

  private:
    [[nodiscard]] std::string text() const;

    progress_line line_;
    std::uint64_t size_ = 0;  // 0: unknown
    std::uint64_t done_ = 0;
};

}  // namespace elog
