// SPDX-License-Identifier: MIT
#include "shm/directory.hpp"

#include <fcntl.h>
#include <linux/eventlog.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include "platform/short_text.hpp"
#include "shm/user_directory.hpp"

namespace eventlog::core {
namespace {

// The directory shared by the users of a group, created by an administrator: see eventlog(7).
constexpr const char* group_directory = "/run/eventlog";
constexpr const char* group_folders[] = {"/run/eventlog/processes", "/run/eventlog/subscriptions"};

// Modes of the group directory, which root creates: members cannot change the directory itself, but
// create files in its folders, and these files belong to the group. Users outside of the group have
// no access.
constexpr mode_t group_directory_mode = 02750;
constexpr mode_t group_folder_mode = 02770;

bool is_group_directory(const struct stat& status, mode_t mode) noexcept {
    return S_ISDIR(status.st_mode) && status.st_uid == 0 && (status.st_mode & 07777U) == mode;
}

bool is_group_directory(const unique_fd& folder, mode_t mode) noexcept {
    struct stat status {};
    return folder && ::fstat(folder.get(), &status) == 0 && is_group_directory(status, mode);
}

/// Membership is checked for root, too: a member trusts all members of the group.
bool is_member(gid_t group) noexcept {
    std::array<gid_t, 1024> groups{};
    const int count = ::getgroups(groups.size(), groups.data());
    return ::getegid() == group || (count > 0 && std::find(groups.begin(), groups.begin() + count,
                                                           group) != groups.begin() + count);
}

/// Whether the group directory is complete and this user is a member of its group. A program with
/// more rights than its caller (setuid and the like) does not trust a group.
bool has_group_directory() noexcept {
    struct stat status {};
    if (::getauxval(AT_SECURE) != 0 || ::lstat(group_directory, &status) != 0 ||
        !is_group_directory(status, group_directory_mode) || !is_member(status.st_gid)) {
        return false;
    }
    const gid_t group = status.st_gid;
    return std::all_of(std::begin(group_folders), std::end(group_folders), [&](const char* path) {
        return ::lstat(path, &status) == 0 && is_group_directory(status, group_folder_mode) &&
               status.st_gid == group;
    });
}

/// Whether an open folder has entries beside "." and "..". Not readdir, which allocates.
bool has_entries(int folder) noexcept {
    alignas(std::uint64_t) std::array<char, 512> entries{};
    const long size = ::lseek(folder, 0, SEEK_SET) == 0
                          ? ::syscall(SYS_getdents64, folder, entries.data(), entries.size())
                          : 0;
    for (long offset = 0; offset < size;) {
        std::uint16_t length = 0;
        std::memcpy(&length, entries.data() + offset + 16, sizeof length);
        const char* const name = entries.data() + offset + 19;
        if (std::strcmp(name, ".") != 0 && std::strcmp(name, "..") != 0) {
            return true;
        }
        offset += length;
    }
    return false;
}

/// A folder that cannot be opened. Names its owner if that is another user.
void explain_failure(int parent, const char* name, const char* shown, int failure,
                     error_text& error) noexcept {
    struct stat status {};
    if (failure == ENOENT) {
        error.set("There is no directory %s yet: no program that uses eventlog has been started by "
                  "this user.",
                  shown);
    } else if (::fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
               status.st_uid != ::geteuid()) {
        error.set("The directory %s cannot be opened (%s): user %u has made it. Have root remove "
                  "it, or set EVENTLOG_DIR to a directory of your own.",
                  shown, system_error{failure}, status.st_uid);
    } else {
        error.set("The directory %s cannot be opened (%s). Set EVENTLOG_DIR to a directory of your "
                  "own.",
                  shown, system_error{failure});
    }
}

struct trusted_folder {
    unique_fd file;
    uid_t owner = 0;
    bool is_common = false;  // of a group
};

/// Opens a folder after a check that it is private to this user, or belongs to a group of this
/// user. `shown` is its name in messages. Without a file after an error.
trusted_folder open_trusted_folder(int parent, const char* name, const char* shown,
                                   if_missing policy, error_text& error) noexcept {
    const auto open_folder = [&] {
        return unique_fd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    };
    unique_fd folder = open_folder();
    if (!folder && errno == ENOENT && policy == if_missing::create) {
        if (::mkdirat(parent, name, 0700) != 0 && errno != EEXIST) {
            error.set("The directory %s cannot be made (%s). Set EVENTLOG_DIR to a directory of "
                      "your own on a tmpfs.",
                      shown, system_error{errno});
            return {};
        }
        folder = open_folder();
    }
    if (!folder) {
        explain_failure(parent, name, shown, errno, error);
        return {};
    }
    struct stat status {};
    if (::fstat(folder.get(), &status) != 0) {
        error.set("The directory %s cannot be examined (%s). Set EVENTLOG_DIR to a directory of "
                  "your own.",
                  shown, system_error{errno});
        return {};
    }
    const mode_t mode = parent == AT_FDCWD ? group_directory_mode : group_folder_mode;
    if (is_group_directory(status, mode)) {
        return {std::move(folder), status.st_uid, true};
    }
    if (status.st_uid != ::geteuid()) {
        error.set("The directory %s belongs to user %u, not to you. Have root remove it, or set "
                  "EVENTLOG_DIR to a directory of your own.",
                  shown, status.st_uid);
        return {};
    }
    if ((status.st_mode & 077U) != 0) {
        error.set("Other users may enter the directory %s. Close it with: chmod 700 %s", shown,
                  shown);
        return {};
    }
    return {std::move(folder), status.st_uid, false};
}

}  // namespace

bool explain_other_use(const directory_path& path, error_text& error) noexcept {
    const char* const shown = path.text.data();
    const unique_fd folder(::open(shown, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    struct stat processes {};
    if (path.too_long || !is_absolute(path) || !folder || ::fstat(folder.get(), &status) != 0 ||
        (status.st_mode & 077U) == 0 || is_group_directory(status, group_directory_mode)) {
        return false;
    }
    const bool is_other =
        (status.st_mode & S_ISVTX) != 0 ||
        (::fstatat(folder.get(), "processes", &processes, AT_SYMLINK_NOFOLLOW) != 0 &&
         has_entries(folder.get()));
    if (is_other) {
        error.set("The directory %s is open to other users, and not one of eventlog. Set "
                  "EVENTLOG_DIR to a directory of your own.",
                  shown);
    }
    return is_other;
}

directory_path current_directory() noexcept {
    short_text<directory_path{}.text.size()> text;
    const char* named = ::secure_getenv("EVENTLOG_DIR");
    if (named != nullptr && *named != '\0') {
        text.put(named);
    } else if (has_group_directory()) {
        text.put(group_directory);
    } else {
        text.put(find_user_directory(::geteuid()).data());
    }
    return {text.characters(), text.is_cut()};
}

bool directory::open(const directory_path& path, if_missing policy, error_text& error) noexcept {
    if (path.too_long) {
        error.set("EVENTLOG_DIR is longer than %zu characters. Set it to a shorter path.",
                  path.text.size() - 1);
        return false;
    }
    const char* shown = path.text.data();
    if (!is_absolute(path)) {
        error.set("EVENTLOG_DIR is %s, which is not an absolute path. Set it to a path that begins "
                  "with /.",
                  shown);
        return false;
    }
    name = shown;
    const trusted_folder top = open_trusted_folder(AT_FDCWD, shown, shown, policy, error);
    if (!top.file) {
        return false;
    }
    // Only root can complete the directory of a group.
    const if_missing below = top.is_common ? if_missing::fail : policy;
    reader = top.is_common ? data_reader{data_reader::kind::group, 0}
                           : data_reader{data_reader::kind::user, top.owner};
    trusted_folder of_processes =
        open_trusted_folder(top.file.get(), "processes", shown, below, error);
    trusted_folder of_subscriptions =
        open_trusted_folder(top.file.get(), "subscriptions", shown, below, error);
    processes = std::move(of_processes.file);
    subscriptions = std::move(of_subscriptions.file);
    if (top.is_common && !(of_processes.is_common && of_subscriptions.is_common)) {
        error.set("The directory %s is for a group, but not whole. As root, make the folders "
                  "processes and subscriptions in it, of its group and with mode 2770.",
                  shown);
        return false;
    }
    return processes && subscriptions;
}

bool directory::create(const directory_path& path, error_text& error) noexcept {
    if (!path.too_long) {
        static_cast<void>(move_foreign_directory(path.text.data()));
    }
    const bool is_open = open(path, if_missing::create, error);
    if (!is_open) {
        static_cast<void>(explain_other_use(path, error));
    }
    return is_open;
}

unique_fd create_unnamed_file(const unique_fd& folder, const char* shown,
                              error_text& error) noexcept {
    unique_fd file(::openat(folder.get(), ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (!file) {
        error.set("No file can be made in %s (%s). Set EVENTLOG_DIR to a directory of your own on "
                  "a tmpfs.",
                  shown, system_error{errno});
        return file;
    }
    // Set explicitly, because the umask may have removed these bits.
    if (is_group_directory(folder, group_folder_mode) && ::fchmod(file.get(), 0660) != 0) {
        error.set("A file in %s cannot be opened to its group (%s). Set EVENTLOG_DIR to a "
                  "directory of your own on a tmpfs.",
                  shown, system_error{errno});
        return unique_fd{};
    }
    return file;
}

int link_file(const unique_fd& file, const unique_fd& folder, const char* name) noexcept {
    short_text<32> source;
    source.put("/proc/self/fd/").put_number(static_cast<unsigned>(file.get()));
    if (::linkat(AT_FDCWD, source.c_str(), folder.get(), name, AT_SYMLINK_FOLLOW) == 0) {
        return 0;
    }
    return errno;
}

const slot_name& slot_file_name(unsigned slot) noexcept {
    static constexpr auto names = [] {
        std::array<slot_name, EVENTLOG_SUBSCRIPTIONS_MAX> all{};
        for (std::size_t i = 0; i < all.size(); ++i) {
            all[i] = {static_cast<char>('0' + i / 10), static_cast<char>('0' + i % 10)};
        }
        return all;
    }();
    return names[slot % names.size()];
}

std::uint32_t present_slots(const unique_fd& subscriptions) noexcept {
    constexpr std::uint32_t all = EVENTLOG_GATE_SUBSCRIPTIONS;
    if (::lseek(subscriptions.get(), 0, SEEK_SET) != 0) {
        return all;
    }
    std::uint32_t slots = 0;
    folder_names names(subscriptions.get());
    while (const char* name = names.next()) {
        for (unsigned slot = 0; slot < EVENTLOG_SUBSCRIPTIONS_MAX; ++slot) {
            slots |= std::strcmp(name, slot_file_name(slot).data()) == 0 ? 1U << slot : 0;
        }
    }
    return names.has_failed() ? all : slots;
}

const char* folder_names::next() noexcept {
    for (;;) {
        if (offset_ >= size_) {
            offset_ = 0;
            size_ = ::syscall(SYS_getdents64, folder_, entries_.data(), entries_.size());
            if (size_ <= 0) {
                return nullptr;
            }
        }
        // struct linux_dirent64: inode and offset, u16 length, u8 type, then the name.
        const char* entry = entries_.data() + offset_;
        std::uint16_t length = 0;
        std::memcpy(&length, entry + 16, sizeof length);
        offset_ += length;
        const char* name = entry + 19;
        if (std::strcmp(name, ".") != 0 && std::strcmp(name, "..") != 0) {
            return name;
        }
    }
}

folder_listing::folder_listing(const unique_fd& folder) noexcept
    : folder_(::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
      names_(folder_.get()) {}

}  // namespace eventlog::core
