// SPDX-License-Identifier: MIT
#include "base/created_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/user_error.hpp"

namespace elog {

bool is_in_shared_folder(const std::string& path) noexcept {
    const std::size_t slash = path.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    struct stat status {};
    return ::stat(folder.c_str(), &status) == 0 && (status.st_mode & (S_IWOTH | S_ISVTX)) != 0;
}

void check_is_own_file(int descriptor, const std::string& path) {
    struct stat status {};
    if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
        return;  // the caller reports other kinds of files
    }
    if (status.st_uid != ::geteuid()) {
        throw user_error("The file {} belongs to user {}, who could read what is written there. "
                         "Remove it, or give another name with -o.",
                         path, status.st_uid);
    }
    if (status.st_nlink > 1) {
        throw user_error(
            "The file {} has {} names, and would change under all of them. Remove this "
            "one, or give another name with -o.",
            path, status.st_nlink);
    }
}

eventlog::core::unique_fd open_created_file(const std::string& path, bool must_be_new,
                                            mode_t mode) {
    const bool is_shared = is_in_shared_folder(path);
    const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK |
                      (must_be_new ? O_EXCL
                       : is_shared ? O_NOFOLLOW
                                   : 0);
    eventlog::core::unique_fd file(::open(path.c_str(), flags, mode));
    if (!file && errno == ELOOP && is_shared) {
        throw user_error("{} is a symbolic link in a folder of several users, and is not followed. "
                         "Remove it, or give another name with -o.",
                         path);
    }
    // A new file is the own one, whatever owner the file system assigns to it.
    if (file && is_shared && !must_be_new) {
        check_is_own_file(file.get(), path);
    }
    return file;
}

}  // namespace elog
