// SPDX-License-Identifier: MIT
#include "base/created_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "base/crc32c.hpp"
#include "base/user_error.hpp"

namespace elog {
namespace {

using eventlog::core::unique_fd;

constexpr int links_max = 40;  // as the kernel
constexpr int attempts_max = 100;

// A reader holds the lock for an instant, to learn whether the file is being written.
constexpr int lock_attempts_max = 20;
constexpr std::chrono::milliseconds lock_interval{5};

/// With the slash at its end; empty for the current one.
std::string folder_of(const std::string& path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

[[noreturn]] void reject_shared_link(const std::string& path) {
    throw user_error("{} is a symbolic link in a folder of several users, and is not followed. "
                     "Remove it, or give another name with -o.",
                     path);
}

[[noreturn]] void reject_long_chain(const std::string& path) {
    throw user_error("{} leads through more than {} symbolic links. Give another name with -o.",
                     path, links_max);
}

/// Nothing if the name is no symbolic link.
std::optional<std::string> target_of(const std::string& name) {
    std::array<char, PATH_MAX> target{};
    const ssize_t size = ::readlink(name.c_str(), target.data(), target.size());
    return size < 0 ? std::nullopt
                    : std::optional(std::string(target.data(), static_cast<std::size_t>(size)));
}

/// Throws for a link to a folder that another user can have prepared.
void check_folder_link(const std::string& name) {
    struct stat status {};
    if (!is_in_shared_folder(name) || (::lstat(name.c_str(), &status) == 0 &&
                                       (status.st_uid == ::geteuid() || status.st_uid == 0))) {
        return;
    }
    throw user_error("{} is a symbolic link of user {} in a folder of several users, and is not "
                     "followed. Give another name with -o.",
                     name, status.st_uid);
}

/// Checks the links among the folders of a path, and those to which they lead.
void check_folders(const std::string& path) {
    std::string checked;  // without links; with the slash at its end
    std::string rest = path;
    int links = 0;
    for (std::size_t slash = rest.find('/'); slash != std::string::npos; slash = rest.find('/')) {
        const std::string name = checked + rest.substr(0, slash);
        rest.erase(0, slash);
        const std::optional<std::string> target = slash == 0 ? std::nullopt : target_of(name);
        if (!target) {
            rest.erase(0, 1);
            checked = name + '/';
            continue;
        }
        check_folder_link(name);
        if (++links > links_max) {
            reject_long_chain(path);
        }
        rest.insert(0, *target);
        checked = target->starts_with('/') ? "" : checked;
    }
}

/// A new file, which no other process has open yet. EEXIST if the name exists.
unique_fd create_file(const std::string& path, file_mode mode) {
    unique_fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NONBLOCK,
                          mode.is_exact ? private_mode.bits : mode.bits));
    if (file) {
        set_mode(file.get(), path, mode);
    }
    return file;
}

/// Opens what is there, to lock it.
unique_fd open_existing(const std::string& path) {
    constexpr int flags = O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
    unique_fd file(::open(path.c_str(), O_WRONLY | flags));
    if (!file && errno == EACCES) {
        file = unique_fd(::open(path.c_str(), O_RDONLY | flags));
    }
    return file;
}

void lock_old_file(int descriptor, const std::string& path) {
    for (int attempts = 0; ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
         ++attempts) {
        if (attempts == lock_attempts_max) {
            throw user_error("The file {} is being written by another recording. Give another name "
                             "with -o.",
                             path);
        }
        std::this_thread::sleep_for(lock_interval);
    }
}

/// Gives the name to the new file. The old one, which is locked, gets the temporary name, or a link
/// where names cannot be exchanged, but not in a folder of several users, where a file with two
/// names is not replaced.
bool exchange_names(const std::string& temporary, const std::string& path, unique_fd old,
                    replaced_file& replaced) {
    if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) == 0) {
        replaced.keep(path, temporary, std::move(old));
        return true;
    }
    const std::string_view unique = std::string_view(temporary).substr(temporary.size() - 6);
    std::string second = with_suffix(path, fmt::format(".replaced.{}~", unique));
    const bool is_linked = !is_in_shared_folder(path) && ::link(path.c_str(), second.c_str()) == 0;
    if (std::rename(temporary.c_str(), path.c_str()) != 0) {
        const int error = errno;
        if (is_linked) {
            static_cast<void>(::unlink(second.c_str()));
        }
        errno = error;
        return false;
    }
    if (is_linked) {
        replaced.keep(path, std::move(second), std::move(old));
    }
    return true;
}

/// Writes nothing into the old file: other processes may have it open, and its mode may let more
/// users read it. The new one gets the name locked, so that a reader sees that it will grow.
unique_fd rename_new_file_to(const std::string& path, file_mode mode, unique_fd old,
                             replaced_file* replaced) {
    std::string temporary =
        with_suffix(path, replaced != nullptr ? ".replaced.XXXXXX" : ".unfinished.XXXXXX");
    unique_fd file(::mkostemp(temporary.data(), O_CLOEXEC));
    if (!file) {
        return file;
    }
    try {
        set_mode(file.get(), path, mode);
    } catch (...) {
        static_cast<void>(::unlink(temporary.c_str()));
        throw;
    }
    static_cast<void>(::flock(file.get(), LOCK_EX | LOCK_NB));
    const bool is_renamed = replaced != nullptr
                                ? exchange_names(temporary, path, std::move(old), *replaced)
                                : std::rename(temporary.c_str(), path.c_str()) == 0;
    if (!is_renamed) {
        const int error = errno;
        static_cast<void>(::unlink(temporary.c_str()));
        file = unique_fd();
        errno = error;
    }
    return file;
}

void check_is_replaceable(const std::string& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
        if (S_ISLNK(status.st_mode)) {
            reject_shared_link(path);  // it was made after follow_links()
        }
        throw user_error("{} is not a file. Give another name with -o.", path);
    }
}

/// The lock on the old file is held until the new one has its name, so of two processes that
/// replace one file, the later one sees that the new file is being written.
unique_fd replace_file(const std::string& path, file_mode mode, replaced_file* replaced) {
    for (int attempts = 0; attempts < attempts_max; ++attempts) {
        unique_fd file = create_file(path, mode);
        if (file || errno != EEXIST) {
            return file;
        }
        check_is_replaceable(path);
        unique_fd old = open_existing(path);
        if (!old && errno == ENOENT) {
            continue;  // removed meanwhile
        }
        if (!old) {
            return {};
        }
        if (is_in_shared_folder(path)) {
            check_is_own_file(old.get(), path);
        }
        lock_old_file(old.get(), path);
        if (is_open_as(old.get(), path)) {
            return rename_new_file_to(path, mode, std::move(old), replaced);
        }
    }
    throw user_error("The file {} is replaced by other commands all the time. Give another name "
                     "with -o.",
                     path);
}

unique_fd reuse_file(const std::string& path, file_mode mode) {
    const bool is_shared = is_in_shared_folder(path);
    constexpr int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK;
    unique_fd file(::open(path.c_str(), flags | (is_shared ? O_NOFOLLOW : 0), mode.bits));
    if (!file && errno == ELOOP && is_shared) {
        reject_shared_link(path);
    }
    if (file && is_shared) {
        check_is_own_file(file.get(), path);
    }
    return file;
}

}  // namespace

bool replaced_file::restore() noexcept {
    // After a failure it stays under its second name.
    return !second_.empty() && std::rename(std::exchange(second_, {}).c_str(), path_.c_str()) == 0;
}

unique_fd replaced_file::remove() noexcept {
    if (!second_.empty()) {
        static_cast<void>(::unlink(std::exchange(second_, {}).c_str()));
    }
    return std::move(file_);
}

void replaced_file::keep(std::string path, std::string second, unique_fd file) noexcept {
    static_cast<void>(remove());
    path_ = std::move(path);
    second_ = std::move(second);
    file_ = std::move(file);
}

bool is_in_shared_folder(const std::string& path) noexcept {
    const std::string folder = folder_of(path);
    struct stat status {};
    return ::stat(folder.empty() ? "." : folder.c_str(), &status) == 0 &&
           (status.st_mode & (S_IWOTH | S_ISVTX)) != 0;
}

std::string follow_links(const std::string& path) {
    std::string name = path;
    for (int links = 0; links < links_max; ++links) {
        check_folders(name);
        const std::optional<std::string> target = target_of(name);
        if (!target) {
            return name;
        }
        if (is_in_shared_folder(name)) {
            reject_shared_link(name);
        }
        name = target->starts_with('/') ? *target : folder_of(name).append(*target);
    }
    reject_long_chain(path);
}

bool is_open_as(int descriptor, const std::string& path) noexcept {
    struct stat opened {};
    struct stat named {};
    return ::fstat(descriptor, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
           opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

std::string with_suffix(const std::string& path, std::string_view suffix) {
    constexpr std::size_t size_max = NAME_MAX;
    const std::string folder = folder_of(path);
    std::string name = path.substr(folder.size());
    if (name.size() <= size_max && name.size() + suffix.size() > size_max) {
        const std::string checksum = fmt::format(
            "~{:08x}", crc32c({reinterpret_cast<const std::uint8_t*>(name.data()), name.size()}));
        std::size_t size = size_max - checksum.size() - suffix.size();
        // A character of UTF-8 stays whole, because some file systems reject other names.
        while (size != 0 && (static_cast<unsigned char>(name[size]) & 0xc0U) == 0x80U) {
            --size;
        }
        name = name.substr(0, size) + checksum;
    }
    return folder + name + std::string(suffix);
}

void check_is_own_file(int descriptor, const std::string& path) {
    struct stat status {};
    if (::fstat(descriptor, &status) == 0) {
        check_is_own_file(status, path);
    }
}

void check_is_own_file(const struct stat& status, const std::string& path) {
    if (!S_ISREG(status.st_mode)) {
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

void set_mode(int descriptor, const std::string& path, file_mode mode) {
    struct stat status {};
    if (!mode.is_exact || ::fstat(descriptor, &status) != 0 ||
        (status.st_mode & 07777U) == mode.bits) {
        return;
    }
    if (::fchmod(descriptor, mode.bits) == 0) {
        return;
    }
    // A file system without modes is configured by its mount; it must not be wider than asked for.
    throw user_error(
        "The mode of the file {} cannot be set to {:o} ({}). Give the mode with --mode "
        "that its file system has, or another name with -o.",
        path, mode.bits, std::strerror(errno));
}

unique_fd open_created_file(const std::string& path, existing_file existing, file_mode mode,
                            replaced_file* replaced) {
    switch (existing) {
        case existing_file::reject:
            check_folders(path);
            return create_file(path, mode);
        case existing_file::replace:
            return replace_file(follow_links(path), mode, replaced);
        case existing_file::reuse:
            break;
    }
    return reuse_file(path, mode);
}

}  // namespace elog
