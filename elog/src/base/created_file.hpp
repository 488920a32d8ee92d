// SPDX-License-Identifier: MIT
//
// Opens a file for writing where other users may have prepared its name.
//
// - A folder of several users is sticky or writable for all. No link in it is followed, except for
//   one to a folder that is on the path and belongs to this user or to root. A file that exists
//   there must belong to this user and have one name.
// - In another folder a link is followed, for example to another disk; the rules of the folder hold
//   to which it leads.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <string>
#include <string_view>

#include "platform/unique_fd.hpp"

namespace elog {

/// The permissions of a new file.
struct file_mode {
    mode_t bits = 0600;
    bool is_exact = true;  // false: without those in the umask
};

/// For recordings and exports: events may contain what only their reader may know.
inline constexpr file_mode private_mode{};
/// For texts without events.
inline constexpr file_mode text_mode{0666, false};

/// What is done with a file that exists.
enum class existing_file {
    reuse,    // written into: it was prepared by this program
    reject,   // EEXIST
    replace,  // its name is given to a new file
};

/// A file that a new one has replaced. It has a second name in its folder, which the destructor
/// replaces by its first one unless remove() was called. It is open and locked as being written, so
/// that the removal of the name does not wait until its blocks are free.
class replaced_file {
  public:
    replaced_file() = default;
    ~replaced_file() { static_cast<void>(restore()); }
    replaced_file(const replaced_file&) = delete;
    replaced_file& operator=(const replaced_file&) = delete;

    /// Gives it its name back, in place of the new file. False if there was no file, if it has no
    /// second name, or after an error.
    [[nodiscard]] bool restore() noexcept;
    /// Removes the second name. The last close frees the blocks, which takes a while.
    [[nodiscard]] eventlog::core::unique_fd remove() noexcept;
    /// For open_created_file().
    void keep(std::string path, std::string second, eventlog::core::unique_fd file) noexcept;

  private:
    std::string path_;
    std::string second_;  // empty: none
    eventlog::core::unique_fd file_;
};

/// Whether several users may create files in the folder of that path.
[[nodiscard]] bool is_in_shared_folder(const std::string& path) noexcept;

/// The file to which symbolic links lead from that path, whether it exists or not; links among its
/// folders stay. Throws user_error for a link that must not be followed.
[[nodiscard]] std::string follow_links(const std::string& path);

/// Whether the path names the open file itself, and no link to it.
[[nodiscard]] bool is_open_as(int descriptor, const std::string& path) noexcept;

/// The path with a suffix. A name that is too long with it is shortened, and has its checksum then.
[[nodiscard]] std::string with_suffix(const std::string& path, std::string_view suffix);

/// Throws user_error unless the open file belongs to this user and has one name. `path` is its name
/// in the message.
void check_is_own_file(int descriptor, const std::string& path);
/// The same for a file that may not be open.
void check_is_own_file(const struct stat& status, const std::string& path);

/// Throws user_error if the mode cannot be set. An inexact mode is that of the creation.
void set_mode(int descriptor, const std::string& path, file_mode mode);

/// Opens the file for writing, without blocking, and creates it if it is missing, with that mode.
/// Throws user_error for a file that the rules above forbid to write, and if the file to be
/// replaced is being written. An empty descriptor, with errno set, after another error. A file that
/// replaces another one is locked as being written from the beginning. That one stays in
/// `replaced`, unless its file system can neither exchange names nor, in a folder of one user, make
/// links.
[[nodiscard]] eventlog::core::unique_fd open_created_file(const std::string& path,
                                                          existing_file existing,
                                                          file_mode mode = private_mode,
                                                          replaced_file* replaced = nullptr);

}  // namespace elog
