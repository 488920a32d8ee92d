// SPDX-License-Identifier: MIT
//
// Files that must not cost what was there before.
#pragma once

#include <string>

namespace elog {

/// Throws failure if both names are of one file: it would be emptied before it has been read.
void check_not_same_file(const std::string& from, const std::string& to);

/// What a file is called until it is whole.
[[nodiscard]] std::string temporary_name(const std::string& path);

/// A file that has its name only when it is whole. Until then it is written beside it, and what was
/// there before stays what it was.
class atomic_file {
  public:
    enum class if_exists { replace, reject };

    /// Throws failure if no file can have that name: what is there is no file, still written, or
    /// not to be replaced.
    explicit atomic_file(const std::string& path, if_exists what = if_exists::replace);
    /// Removes what was written, unless it is whole.
    ~atomic_file();
    atomic_file(const atomic_file&) = delete;
    atomic_file& operator=(const atomic_file&) = delete;

    /// Where to write until then.
    [[nodiscard]] const std::string& temporary_path() const noexcept { return temporary_; }

    /// It is whole, and closed. Throws failure if it cannot have its name, which somebody else may
    /// be writing to by now; then it is removed.
    void finish();

  private:
    std::string path_;
    std::string temporary_;
    if_exists what_;
    bool is_complete_ = false;
};

}  // namespace elog
