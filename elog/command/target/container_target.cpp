// SPDX-License-Identifier: MIT
#include "target/container_target.hpp"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/proc_file.hpp"
#include "cli/leading_option.hpp"
#include "cli/usage_error.hpp"
#include "platform/unique_fd.hpp"
#include "target/control_group.hpp"
#include "target/pid_namespace_proxy.hpp"
#include "target/privileges.hpp"

namespace elog {
namespace {

using eventlog::core::unique_fd;

struct namespace_kind {
    const char* file;  // in /proc/PID
    int flag;
};
constexpr std::array namespace_kinds{
    namespace_kind{"ns/user", CLONE_NEWUSER}, namespace_kind{"ns/mnt", CLONE_NEWNS},
    namespace_kind{"ns/pid", CLONE_NEWPID},   namespace_kind{"ns/ipc", CLONE_NEWIPC},
    namespace_kind{"ns/time", 0x80},  // CLONE_NEWTIME, which glibc 2.35 has no name for
};

// Limit for the environment of another process, which may be as large as its stack.
constexpr std::size_t environment_max = 8U << 20U;

// Whether this process has entered, or tries to enter, the place of another one.
bool is_entered = false;

/// A process, with descriptors that never refer to a later process of the same number.
struct process {
    std::string name;
    unique_fd folder;  // /proc/PID
    unique_fd handle;  // its pidfd
    unique_fd root;
};

[[noreturn]] void reject(const process& at, int number) {
    if (number == ENOENT || number == ESRCH) {
        throw user_error("Process {} has ended. ps -e lists the processes.", at.name);
    }
    throw user_error("The place of process {} cannot be entered ({}). Run the command as root: "
                     "sudo elog --at {} ...",
                     at.name, std::strerror(number), at.name);
}

bool has_ended(const process& at) noexcept {
    pollfd end{at.handle.get(), POLLIN, 0};
    return ::poll(&end, 1, 0) != 0;
}

process find_process(const std::string& name) {
    pid_t number = 0;
    const char* const end = name.data() + name.size();
    const auto [parsed, wrong] = std::from_chars(name.data(), end, number);
    if (wrong != std::errc() || parsed != end || number <= 0) {
        throw usage_error("--at needs the number of a process: elog --at 4242 list");
    }
    process at;
    at.name = name;
    at.folder = unique_fd(
        ::open(fmt::format("/proc/{}", number).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    at.handle = unique_fd(static_cast<int>(::syscall(SYS_pidfd_open, number, 0U)));
    if (!at.folder || !at.handle) {
        if (errno == ENOSYS) {
            throw user_error("This kernel has no pidfd_open. elog --at needs Linux 5.8.");
        }
        throw usage_error("There is no process {}. ps -e lists the processes.", name);
    }
    return at;
}

/// The namespaces of the process that differ from those of this one, as flags.
int differing_namespaces(const process& at, const unique_fd& self) {
    int flags = 0;
    for (const namespace_kind& kind : namespace_kinds) {
        struct stat own {};
        struct stat other {};
        if (::fstatat(self.get(), kind.file, &own, 0) != 0) {
            continue;  // the kernel does not support that kind
        }
        if (::fstatat(at.folder.get(), kind.file, &other, 0) != 0) {
            reject(at, errno);
        }
        if (own.st_dev != other.st_dev || own.st_ino != other.st_ino) {
            flags |= kind.flag;
        }
    }
    return flags;
}

/// Reads a file of the process in /proc.
std::optional<std::string> read_proc_file(const process& at, const char* name,
                                          std::size_t size_max) {
    return read_text(unique_fd(::openat(at.folder.get(), name, O_RDONLY | O_CLOEXEC)), size_max);
}

/// The user and groups of the process, as numbered in this user namespace.
user user_of_process(const process& at) {
    const std::optional<std::string> status = read_proc_file(at, "status", process_status_max);
    if (!status) {
        reject(at, errno);
    }
    // Real, effective, saved and file system IDs.
    const std::vector<unsigned> users = status_numbers(*status, "Uid:");
    const std::vector<unsigned> groups = status_numbers(*status, "Gid:");
    if (users.size() != 4 || groups.size() != 4) {
        throw user_error("The file /proc/{}/status has no users. Mount procfs at /proc.", at.name);
    }
    // The process could choose the moment and have this one become a user that it may not become
    // itself.
    const auto is_one = [](const std::vector<unsigned>& all) {
        return std::count(all.begin(), all.end(), all.front()) == 4;
    };
    if (!is_one(users) || !is_one(groups)) {
        throw user_error("Process {} belongs to one user and runs as another one now, as su and "
                         "sudo do. Name another process there.",
                         at.name);
    }
    return {users.front(), groups.front(), status_numbers(*status, "Groups:")};
}

/// The environment of the process determines the directory, as the own one does without --at.
void adopt_eventlog_directory(const process& at) {
    constexpr std::string_view variable = "EVENTLOG_DIR=";
    const std::string environment =
        read_proc_file(at, "environ", environment_max).value_or(std::string());
    ::unsetenv("EVENTLOG_DIR");
    for (std::size_t begin = 0; begin < environment.size();) {
        const std::size_t end = std::min(environment.find('\0', begin), environment.size());
        const std::string entry = environment.substr(begin, end - begin);
        if (entry.starts_with(variable)) {
            ::setenv("EVENTLOG_DIR", entry.c_str() + variable.size(), 1);
            return;  // the first occurrence counts
        }
        begin = end + 1;
    }
}

/// Loads the own time zone, before another file of that name becomes visible.
void keep_time_zone() {
    ::setenv("TZ", ":/etc/localtime", 0);
    ::tzset();
}

/// Control groups determine which devices may be opened. Only root may change its groups; any other
/// user opens there what he could open here.
void join_groups_of(const process& at, const unique_fd& self) {
    if (::geteuid() != 0) {
        return;
    }
    const unique_fd own(::openat(self.get(), "cgroup", O_RDONLY | O_CLOEXEC));
    const std::optional<std::string> groups = read_proc_file(at, "cgroup", process_status_max);
    if (!own || !groups) {
        return;  // a kernel without control groups
    }
    try {
        join_control_groups(read_text(own, process_status_max).value_or(std::string()), *groups);
    } catch (const user_error& reason) {
        throw user_error("elog cannot join the control group of process {} ({}), which restricts "
                         "devices there. Run the command where /sys/fs/cgroup is writable.",
                         at.name, reason.what());
    }
}

/// Enters the namespaces of the process.
void enter_namespaces(const process& at, int namespaces) {
    is_entered = true;
    if (namespaces != 0 && ::setns(at.handle.get(), namespaces) != 0) {
        if (errno == EINVAL) {
            throw user_error("The place of process {} cannot be entered from here. elog --at needs "
                             "Linux 5.8, and enters containers, but does not leave them.",
                             at.name);
        }
        reject(at, errno);
    }
}

/// Whether both roots are the same directory through the same mount: with another mount, the mounts
/// below may differ.
bool is_same_root(const process& at) noexcept {
    constexpr unsigned fields = STATX_INO | STATX_MNT_ID;
    struct statx own {};
    struct statx other {};
    return ::statx(AT_FDCWD, "/", 0, fields, &own) == 0 &&
           ::statx(at.root.get(), "", AT_EMPTY_PATH, fields, &other) == 0 &&
           (own.stx_mask & other.stx_mask & fields) == fields && own.stx_ino == other.stx_ino &&
           own.stx_dev_major == other.stx_dev_major && own.stx_dev_minor == other.stx_dev_minor &&
           own.stx_mnt_id == other.stx_mnt_id;
}

void change_root(const process& at) {
    if (is_same_root(at)) {
        return;  // no permission for chroot needed
    }
    if (::fchdir(at.root.get()) != 0 || ::chroot(".") != 0 || ::chdir("/") != 0) {
        reject(at, errno);
    }
}

/// Where setgroups is not permitted, the process keeps its groups, of which root has dropped its
/// own.
user with_settable_groups(user wanted) {
    if (::setgroups(wanted.groups->size(), wanted.groups->data()) != 0) {
        wanted.groups.reset();
    }
    return wanted;
}

void drop_privileges_to(const process& at, const user& wanted) {
    if (drop_privileges(with_settable_groups(wanted)) != privilege_drop::done) {
        throw user_error("The user of process {} cannot be adopted there ({}). Run the command as "
                         "root: sudo elog --at {} ...",
                         at.name, std::strerror(errno), at.name);
    }
}

}  // namespace

bool is_in_container() noexcept {
    return is_entered;
}

void enter_named_process(std::vector<std::string>& words, bool has_command) {
    const std::optional<std::string> name = take_leading_option(words, "--at");
    if (!name) {
        return;
    }
    if (!words.empty() && words.front().starts_with("--user")) {
        throw usage_error("--user cannot follow --at: elog runs as the user of process {}.", *name);
    }
    if (!words.empty() && (words.front() == "doctor" || words.front() == "features")) {
        // Looking up names of users and groups would use files, and even load code, of the
        // container.
        throw usage_error("elog {} checks the machine: leave out --at {}.", words.front(), *name);
    }
    if (has_command) {
        throw usage_error(
            "With --at no command is run, because not all restrictions of the container would hold "
            "for it. Start it like the other programs there, and record meanwhile.");
    }
    // Descriptors inherited from the caller are not passed into the container.
    static_cast<void>(::close_range(STDERR_FILENO + 1, ~0U, 0));
    process at = find_process(*name);
    unique_fd self(::open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC));
    const int namespaces = differing_namespaces(at, self);
    at.root = unique_fd(::openat(at.folder.get(), "root", O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!at.root) {
        reject(at, errno);
    }
    adopt_eventlog_directory(at);
    keep_time_zone();
    join_groups_of(at, self);
    self = {};
    // From here on processes of the container cannot inspect this one, which still has root's
    // privileges, and root's supplementary groups do not apply there.
    static_cast<void>(::prctl(PR_SET_DUMPABLE, 0UL, 0UL, 0UL, 0UL));
    static_cast<void>(::setgroups(0, nullptr));
    enter_namespaces(at, namespaces);
    // Depending on a kernel setting, setns() resets this.
    static_cast<void>(::prctl(PR_SET_DUMPABLE, 0UL, 0UL, 0UL, 0UL));
    const user wanted = user_of_process(at);
    // The process lived until now, so that everything read belongs to it and not to a later one of
    // its number.
    if (has_ended(at)) {
        reject(at, ESRCH);
    }
    change_root(at);
    drop_privileges_to(at, wanted);
    at = {};
    if ((namespaces & CLONE_NEWPID) != 0) {
        fork_with_proxy();
    }
}

}  // namespace elog
