// SPDX-License-Identifier: MIT
#include "directory.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace eventlog::core {
namespace {

/// Opens a folder and makes sure that it is ours alone. `shown` is how the user knows it.
unique_fd open_private(int parent, const char* name, const char* shown, if_missing policy,
                       error_text& error) noexcept {
    if (policy == if_missing::create && ::mkdirat(parent, name, 0700) != 0 && errno != EEXIST) {
        error.set("The directory %s cannot be made (%s). Set EVENTLOG_DIR to a directory of your "
                  "own on a tmpfs.",
                  shown, std::strerror(errno));
        return unique_fd{};
    }
    unique_fd folder(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder) {
        if (errno == ENOENT) {
            error.set("There is no directory %s yet: no program that uses eventlog has been "
                      "started by this user.",
                      shown);
        } else {
            error.set("The directory %s cannot be opened (%s). Set EVENTLOG_DIR to a directory "
                      "of your own.",
                      shown, std::strerror(errno));
        }
        return unique_fd{};
    }
    struct stat status {};
    if (::fstat(folder.get(), &status) != 0 || status.st_uid != ::geteuid()) {
        error.set("The directory %s belongs to user %u, not to you. Set EVENTLOG_DIR to a "
                  "directory of your own, or have that one removed.",
                  shown, status.st_uid);
        return unique_fd{};
    }
    if ((status.st_mode & 077U) != 0) {
        error.set("Others may enter the directory %s. Close it with: chmod 700 %s", shown, shown);
        return unique_fd{};
    }
    return folder;
}

}  // namespace

directory_path current_directory() noexcept {
    directory_path path;
    int length = 0;
    const char* named = ::secure_getenv("EVENTLOG_DIR");
    if (named != nullptr && *named != '\0') {
        length = std::snprintf(path.text.data(), path.text.size(), "%s", named);
    } else {
        length = std::snprintf(path.text.data(), path.text.size(), "/dev/shm/eventlog-%u",
                               static_cast<unsigned>(::geteuid()));
    }
    path.too_long = length < 0 || static_cast<std::size_t>(length) >= path.text.size();
    return path;
}

bool directory::open(const directory_path& path, if_missing policy, error_text& error) noexcept {
    if (path.too_long) {
        error.set("EVENTLOG_DIR is longer than %zu characters. Set it to a shorter path.",
                  path.text.size() - 1);
        return false;
    }
    const char* shown = path.text.data();
    const unique_fd top = open_private(AT_FDCWD, shown, shown, policy, error);
    if (!top) {
        return false;
    }
    providers = open_private(top.get(), "providers", shown, policy, error);
    subscriptions = open_private(top.get(), "subscriptions", shown, policy, error);
    return providers && subscriptions;
}

unique_fd create_unnamed_file(const unique_fd& folder, error_text& error) noexcept {
    unique_fd file(::openat(folder.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (!file) {
        error.set("No file can be made in %s (%s). Set EVENTLOG_DIR to a directory of your own on "
                  "a tmpfs.",
                  current_directory().text.data(), std::strerror(errno));
    }
    return file;
}

int give_name(const unique_fd& file, const unique_fd& folder, const char* name) noexcept {
    std::array<char, 32> source{};
    static_cast<void>(std::snprintf(source.data(), source.size(), "/proc/self/fd/%d", file.get()));
    if (::linkat(AT_FDCWD, source.data(), folder.get(), name, AT_SYMLINK_FOLLOW) == 0) {
        return 0;
    }
    return errno;
}

slot_name name_of_slot(unsigned slot) noexcept {
    slot_name name{};
    name[0] = static_cast<char>('0' + slot / 10 % 10);
    name[1] = static_cast<char>('0' + slot % 10);
    return name;
}

folder_listing::folder_listing(const unique_fd& folder) noexcept {
    // A descriptor of its own: fdopendir takes it over, and its position is not shared.
    const int copy = ::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (copy >= 0) {
        stream_ = ::fdopendir(copy);
        if (stream_ == nullptr) {
            ::close(copy);
        }
    }
}

folder_listing::~folder_listing() {
    if (stream_ != nullptr) {
        ::closedir(stream_);
    }
}

const char* folder_listing::next() noexcept {
    while (stream_ != nullptr) {
        const dirent* entry = ::readdir(stream_);
        if (entry == nullptr) {
            return nullptr;
        }
        if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) {
            return entry->d_name;
        }
    }
    return nullptr;
}

}  // namespace eventlog::core
