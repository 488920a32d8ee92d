// SPDX-License-Identifier: MIT
#include "cli/reading_progress.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/core.h>

#include "terminal/frame_line.hpp"

namespace elog {
namespace {

/// An error is reported when the file is opened.
std::uint64_t size_of(const std::string& path) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    return error ? 0 : size;
}

}  // namespace

reading_progress::reading_progress(const std::vector<std::string>& paths, concurrent_output output)
    : line_(output) {
    for (const std::string& path : paths) {
        size_ += size_of(path);
    }
}

reading_progress::reading_progress(const std::string& path, bool is_part, concurrent_output output)
    : line_(output), size_(is_part ? 0 : size_of(path)) {}

void reading_progress::note(std::uint64_t bytes) {
    done_ += bytes;
    if (line_.is_due()) {
        line_.draw(text());
    }
}

std::string reading_progress::text() const {
    const auto done = static_cast<double>(done_);
    const auto size = static_cast<double>(size_);
    const double rate = done / line_.elapsed().count();
    if (size_ == 0) {
        return fmt::format("elog: {}B read  {}B/s", short_number(done), short_number(rate));
    }
    // Some bytes are read twice.
    const double part = std::min(done / size, 1.0);
    return fmt::format("elog: {:.0f}% of {}B read  {}B/s  {:.0f} s left", 100 * part,
                       short_number(size), short_number(rate), size * (1 - part) / rate);
}

}  // namespace elog
