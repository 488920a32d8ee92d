// SPDX-License-Identifier: MIT
//
// Replaces a file by a complete one, or leaves it as it was.
#pragma once

#include <string>

#include "base/created_file.hpp"
#include "platform/unique_fd.hpp"

namespace elog {

/// Throws user_error if both paths name one file: writing would empty it before it is read.
void check_not_same_file(const std::string& from, const std::string& to);

/// The usual name of a file until it is complete.
[[nodiscard]] std::string temporary_name(const std::string& path);

/// Removes the file that the descriptor has open, if `path` still names it and no other process
/// writes it. Call after its writers in this process have closed it.
void remove_own_file(int descriptor, const std::string& path) noexcept;

/// A file that gets its name when it is complete and on the disk. Until then its content is in a
/// temporary file in the same folder, and a file that had the name before stays unchanged.
///
/// The temporary file is always a new one. If its usual name is in use, by a file that a killed
/// command has left or by anything that another user has put there, it has a unique name.
///
/// Two processes may begin to write to one path: the later one sees the lock of the first one's
/// writer. If it comes before that lock, both complete their files, and the last one keeps the
/// name.
class atomic_file {
  public:
    enum class if_exists { replace, reject };

    /// Creates the temporary file. Throws user_error if it cannot be created, if the path is no
    /// regular file, is being recorded to or written by another command of this user, or exists and
    /// must not be replaced, and if the rules of created_file.hpp forbid to write it. An exact mode
    /// is that of the complete file; the temporary one has private_mode. `reserved` is a descriptor
    /// of the temporary file if the caller has created it exclusively, with private_mode.
    explicit atomic_file(const std::string& path, if_exists what = if_exists::replace,
                         file_mode mode = private_mode, int reserved = -1);
    /// Removes the temporary file unless finish() succeeded. Its writer must have closed it.
    ~atomic_file();
    atomic_file(const atomic_file&) = delete;
    atomic_file& operator=(const atomic_file&) = delete;

    /// The file that the caller writes.
    [[nodiscard]] const std::string& temporary_path() const noexcept { return temporary_; }
    /// Has the temporary file open, and identifies it.
    [[nodiscard]] int descriptor() const noexcept { return held_.get(); }

    /// Syncs the file and gives it its name. The caller has completed and closed it. Throws
    /// user_error if the content does not reach the disk or the file cannot have the name, for
    /// example because a recorder writes to that path by now; the destructor then removes the
    /// temporary file. Also throws if the temporary file is not that of the constructor any more.
    /// Removes what a killed command of this user has left under the usual name, if this file has
    /// another one.
    void finish();

  private:
    void check_temporary() const;
    void remove_left_file() const noexcept;

    std::string path_;
    std::string temporary_;
    eventlog::core::unique_fd held_;  // identifies the temporary file
    if_exists what_;
    file_mode mode_;
    bool is_complete_ = false;
};

}  // namespace elog
