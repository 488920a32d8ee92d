// SPDX-License-Identifier: MIT
#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/core.h>

#include "base/created_file.hpp"
#include "base/user_error.hpp"

namespace elog {
namespace {

using eventlog::core::unique_fd;

constexpr std::string_view temporary_suffix = ".unfinished";
constexpr int names_max = 100;
// A file that no command has locked or changed for so long was left by one that was killed.
constexpr std::time_t left_after = 60;  // seconds

void check_target(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
        return;  // creating the file reports what is wrong with the folder
    }
    if (!S_ISREG(status.st_mode)) {
        throw user_error("{} is not a file. Give another name with -o.", path);
    }
    const unique_fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file && ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        throw user_error(
            "The file {} is being written by another recording. Give another name with "
            "-o.",
            path);
    }
    if (is_in_shared_folder(path)) {
        check_is_own_file(status, path);  // the file need not be readable
    }
}

/// Whether a command of this user is writing a temporary file. The lock of another user's file
/// under that name says nothing, nor that of a file which other users can open elsewhere.
bool has_writer_of_this_user(const std::string& path) {
    constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    const unique_fd file(::open(path.c_str(), flags));
    struct stat status {};
    return file && ::fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
           status.st_uid == ::geteuid() && status.st_nlink == 1 &&
           ::flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

/// Creates the temporary file, under its usual name `path` or, if that is in use, under a unique
/// one. No file that exists is opened: other processes may have it open, or know it by another
/// name.
unique_fd create_temporary(const std::string& target, std::string& path, file_mode mode) {
    unique_fd file = open_created_file(path, existing_file::reject, mode);
    for (int attempts = 0; !file && errno == EEXIST && attempts < names_max; ++attempts) {
        std::uint64_t number = 0;
        if (::getrandom(&number, sizeof number, 0) != sizeof number) {
            return {};
        }
        path = with_suffix(target, fmt::format("{}.{:016x}", temporary_suffix, number));
        file = open_created_file(path, existing_file::reject, mode);
    }
    return file;
}

/// Locks the file against new writers, which lock it themselves, unless it has one.
bool has_other_writer(int descriptor) noexcept {
    return ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

/// Waits until the content is on the disk. Some file systems report that they cannot do that.
void sync_content(int descriptor, const std::string& path) {
    int result = 0;
    do {
        result = ::fsync(descriptor);
    } while (result != 0 && errno == EINTR);
    if (result != 0 && errno != EINVAL && errno != ENOSYS) {
        throw user_error("The file {} could not be written to its end ({}), so nothing was "
                         "changed. Free some space, or give another name with -o.",
                         path, std::strerror(errno));
    }
}

/// Waits until the new name is on the disk. An error is none of the command: the file is complete,
/// and has its name.
void sync_folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    const std::string name = slash == std::string::npos ? "." : path.substr(0, slash + 1);
    const unique_fd folder(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (folder) {
        static_cast<void>(::fsync(folder.get()));
    }
}

[[noreturn]] void reject_replacing(const std::string& path) {
    throw user_error(
        "{} is there already. Give the new file another name, or have that one replaced.", path);
}

}  // namespace

void check_not_same_file(const std::string& from, const std::string& to) {
    std::error_code none;
    if (std::filesystem::equivalent(from, to, none)) {
        throw user_error("{} would be overwritten. Give the new file another name with -o.", from);
    }
}

std::string temporary_name(const std::string& path) {
    return with_suffix(path, temporary_suffix);
}

void remove_own_file(int descriptor, const std::string& path) noexcept {
    // Named first: the lock must not touch a file that is complete. Again with the lock, because
    // its writer may have completed it before.
    if (is_open_as(descriptor, path) && !has_other_writer(descriptor) &&
        is_open_as(descriptor, path)) {
        static_cast<void>(::unlink(path.c_str()));
    }
}

atomic_file::atomic_file(const std::string& path, if_exists what, file_mode mode, int reserved)
    : path_(follow_links(path)), temporary_(temporary_name(path_)), what_(what), mode_(mode) {
    check_target(path_);
    struct stat status {};
    if (what_ == if_exists::reject && ::lstat(path_.c_str(), &status) == 0) {
        reject_replacing(path_);
    }
    if (reserved >= 0 && is_open_as(reserved, temporary_)) {
        held_ = unique_fd(::fcntl(reserved, F_DUPFD_CLOEXEC, 0));
    } else if (has_writer_of_this_user(temporary_)) {
        throw user_error("The file {} is being written by another recording. Give another name "
                         "with -o.",
                         path_);
    } else {
        held_ = create_temporary(path_, temporary_, mode.is_exact ? private_mode : mode);
    }
    if (!held_) {
        throw user_error("The file {} cannot be made ({}). Give another name with -o.", path_,
                         std::strerror(errno));
    }
}

atomic_file::~atomic_file() {
    if (!is_complete_) {
        remove_own_file(held_.get(), temporary_);
    }
}

void atomic_file::check_temporary() const {
    if (!is_open_as(held_.get(), temporary_) || has_other_writer(held_.get())) {
        throw user_error("The file {} is being written by another command, and this content is "
                         "lost. Give another name with -o.",
                         path_);
    }
    // A reader would take a complete file with a lock for one that is being written.
    static_cast<void>(::flock(held_.get(), LOCK_UN));
}

void atomic_file::finish() {
    set_mode(held_.get(), path_, mode_);
    // Before the name changes: else a crash of the machine may leave the name of an empty file.
    sync_content(held_.get(), path_);
    check_temporary();
    check_target(path_);  // a recorder may have created a file of that name since the constructor
    const unsigned flags = what_ == if_exists::reject ? RENAME_NOREPLACE : 0;
    int result = ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(), flags);
    if (result != 0 && errno == EINVAL) {
        result = std::rename(temporary_.c_str(), path_.c_str());  // no RENAME_NOREPLACE there
    }
    if (result != 0 && errno == EEXIST && what_ == if_exists::reject) {
        reject_replacing(path_);
    }
    if (result != 0) {
        throw user_error("The file {} cannot be given its name ({}). Give another one with -o.",
                         path_, std::strerror(errno));
    }
    is_complete_ = true;
    sync_folder_of(path_);
    remove_left_file();
}

/// If the usual name of the temporary file was in use.
void atomic_file::remove_left_file() const noexcept {
    const std::string usual = temporary_name(path_);
    if (usual == temporary_) {
        return;
    }
    const unique_fd left(::open(usual.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    struct stat status {};
    if (left && ::fstat(left.get(), &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_uid == ::geteuid() && status.st_nlink == 1 &&
        status.st_mtime < std::time(nullptr) - left_after) {
        remove_own_file(left.get(), usual);
    }
}

}  // namespace elog
