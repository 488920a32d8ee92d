// SPDX-License-Identifier: MIT
//
// Replaces a file by a complete one, or leaves it as it was.
#pragma once

#include <string>

namespace elog {

/// Throws user_error if both paths name one file: writing would empty it before it is read.
void check_not_same_file(const std::string& from, const std::string& to);

/// The name of a file until it is complete.
[[nodiscard]] std::string temporary_name(const std::string& path);

/// A file that gets its name when it is complete. Until then its content is in a temporary file in
/// the same folder, and a file that had the name before stays unchanged.
class atomic_file {
  public:
    enum class if_exists { replace, reject };

    /// Throws user_error if the path is no regular file, is being recorded to, or exists and must
    /// not be replaced, and if a symbolic link has the name of the temporary file.
    explicit atomic_file(const std::string& path, if_exists what = if_exists::replace);
    /// Removes the temporary file unless finish() succeeded.
    ~atomic_file();
    atomic_file(const atomic_file&) = delete;
    atomic_file& operator=(const atomic_file&) = delete;

    /// The file that the caller writes.
    [[nodiscard]] const std::string& temporary_path() const noexcept { return temporary_; }

    /// Gives the file its name. The caller has completed and closed it. Throws user_error if the
    /// file cannot have the name, for example because a recorder writes to that path by now; the
    /// destructor then removes the temporary file.
    void finish();

  private:
    std::string path_;
    std::string temporary_;
    if_exists what_;
    bool is_complete_ = false;
};

}  // namespace elog
