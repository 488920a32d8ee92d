// SPDX-License-Identifier: MIT
//
// A file as a source: a recording of elog, or an import of one of perf or trace-cmd.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "file/file_reader.hpp"
#include "import/input_recording.hpp"
#include "source_state.hpp"

namespace elog::library {

class file_source final : public single_source {
  public:
    /// Throws user_error.
    file_source(const std::string& path, open_options options);

    [[nodiscard]] std::optional<record> next() override;
    void wait(std::chrono::nanoseconds /*at_most*/) override {}
    [[nodiscard]] bool is_over() const noexcept override { return is_over_; }
    void stop() noexcept override { is_over_ = true; }
    std::chrono::nanoseconds prefetch() override { return std::chrono::nanoseconds::max(); }
    [[nodiscard]] std::chrono::steady_clock::time_point due() override { return {}; }
    [[nodiscard]] timestamp watermark() const noexcept override { return timestamp::min(); }
    [[nodiscard]] source_totals totals() const noexcept override;
    [[nodiscard]] std::vector<std::string> complaints() const override;

  private:
    file_source(std::unique_ptr<input_recording> input, open_options options);

    void add_providers();
    void finish();

    std::unique_ptr<input_recording> input_;
    time_range range_;
    file_reader file_;
    time_merger merger_;
    bool has_ended_ = false;
    std::atomic<bool> is_over_ = false;
};

}  // namespace elog::library
