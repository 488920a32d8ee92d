// SPDX-License-Identifier: MIT
//
// A file without a name, for data of any size that a command needs once.
//
// It is in TMPDIR, else in /var/tmp or /tmp, and the kernel frees it when the object ends, also
// after a kill. Copies of input may take half of the space that the file system had free: input
// without an end must not fill it. One thread uses it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/unique_fd.hpp"

namespace elog {

class unnamed_file {
  public:
    /// `purpose` begins the sentence of an error: "To read run.data". Throws user_error.
    explicit unnamed_file(std::string purpose);

    /// A path that opens the file, valid as long as this object.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] int descriptor() const noexcept { return file_.get(); }

    /// Called after each part of a copy, with the number of its bytes.
    using note_bytes = std::function<void(std::uint64_t)>;

    /// Appends everything that the descriptor delivers. Throws user_error.
    void append_from(int descriptor, const note_bytes& note = {});
    /// Waits that long for the descriptor, and appends what it delivers then. Returns false at its
    /// end. Throws user_error.
    [[nodiscard]] bool append_available(int descriptor, std::chrono::milliseconds patience,
                                        const note_bytes& note = {});
    /// The first bytes are not needed any more: frees their space if the file system can.
    void release(std::uint64_t size) noexcept;
    /// Writes the whole content to the descriptor. Throws user_error or output_closed.
    void write_to(int descriptor) const;

  private:
    void create();
    void create_and_unlink();
    [[nodiscard]] std::size_t append_part(int descriptor, std::vector<char>& part,
                                          const note_bytes& note);
    void append(std::string_view part);

    std::string purpose_;
    std::string folder_;
    std::string path_;
    eventlog::core::unique_fd file_;
    std::uint64_t size_max_ = UINT64_MAX;  // of all copies without what has been released
    std::uint64_t copied_ = 0;
    std::uint64_t released_ = 0;
};

/// The folder of the unnamed file that the path opens, for messages. Nothing for a named file.
[[nodiscard]] std::optional<std::string> folder_of_unnamed_file(const std::string& path);

}  // namespace elog
