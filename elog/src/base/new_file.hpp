// SPDX-License-Identifier: MIT
//
// Files that must not cost what was there before.
#pragma once

#include <string>

namespace elog {

/// Throws failure if both names are of one file: it would be emptied before it has been read.
void refuse_overwriting(const std::string& from, const std::string& to);

/// What a file is called until it is whole.
[[nodiscard]] std::string unfinished_name(const std::string& path);

/// A file that has its name only when it is whole. Until then it is written beside it, and what was
/// there before stays what it was.
class new_file {
  public:
    enum class if_there { replace, refuse };

    /// Throws failure if no file can have that name: what is there is no file, still written, or
    /// not to be replaced.
    explicit new_file(const std::string& path, if_there what = if_there::replace);
    /// Removes what was written, unless it is whole.
    ~new_file();
    new_file(const new_file&) = delete;
    new_file& operator=(const new_file&) = delete;

    /// Where to write until then.
    [[nodiscard]] const std::string& unfinished_path() const noexcept { return unfinished_; }

    /// It is whole, and closed. Throws failure if it cannot have its name, which somebody else may
    /// be writing to by now; then it is removed.
    void finish();

  private:
    std::string path_;
    std::string unfinished_;
    if_there what_;
    bool is_whole_ = false;
};

}  // namespace elog
