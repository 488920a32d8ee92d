// SPDX-License-Identifier: MIT
#include "platform/data_reader.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <linux/openat2.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <atomic>

#include "platform/signal_guard.hpp"
#include "platform/startup_section.hpp"

namespace eventlog::core {
namespace {

// The kernel's numbers of the first user namespace and of the root of a proc file system.
constexpr ino_t first_user_namespace = 0xEFFFFFFDU;
constexpr ino_t proc_root = 1;

/// A reader, and whether no check is needed any more: it is root, who may inspect this process
/// whatever it does until its next exec. Stored in one word, because threads load it while another
/// one publishes.
struct known_reader {
    data_reader::kind type = data_reader::kind::unknown;
    bool may_root_inspect = false;
    std::uint32_t user = 0;
};

[[EVENTLOG_STARTUP_SECTION]] constinit std::atomic<std::uint64_t> stored_reader{0};
constexpr std::uint64_t root_inspects_bit = std::uint64_t{1} << 63U;

void store(const known_reader& reader) noexcept {
    stored_reader.store((reader.may_root_inspect ? root_inspects_bit : 0) |
                            std::uint64_t{static_cast<std::uint16_t>(reader.type)} << 32U |
                            reader.user,
                        std::memory_order_relaxed);
}

known_reader load() noexcept {
    const std::uint64_t word = stored_reader.load(std::memory_order_relaxed);
    return {static_cast<data_reader::kind>((word & ~root_inspects_bit) >> 32U),
            (word & root_inspects_bit) != 0, static_cast<std::uint32_t>(word)};
}

/// A descriptor that is opened and closed by system calls: open(3) and close(3) are cancellation
/// points, and an emit is none.
class system_fd {
  public:
    explicit system_fd(long fd) noexcept : fd_(static_cast<int>(fd)) {}
    ~system_fd() {
        if (fd_ >= 0) {
            static_cast<void>(::syscall(SYS_close, fd_));
        }
    }
    system_fd(const system_fd&) = delete;
    system_fd& operator=(const system_fd&) = delete;

    [[nodiscard]] int get() const noexcept { return fd_; }
    explicit operator bool() const noexcept { return fd_ >= 0; }

  private:
    int fd_;
};

long open_path(const char* path, int flags) noexcept {
    return ::syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0);
}

read_obstacle find_ids() noexcept {
    uid_t real_user = 0;
    uid_t effective_user = 0;
    uid_t saved_user = 0;
    gid_t real_group = 0;
    gid_t effective_group = 0;
    gid_t saved_group = 0;
    if (::getresuid(&real_user, &effective_user, &saved_user) != 0 ||
        ::getresgid(&real_group, &effective_group, &saved_group) != 0) {
        return read_obstacle::unknown;
    }
    if (real_user != effective_user || saved_user != effective_user) {
        return read_obstacle::user_ids;
    }
    return real_group == effective_group && saved_group == effective_group
               ? read_obstacle::none
               : read_obstacle::group_ids;
}

/// The owner of a user namespace has all capabilities in it. A process that has moved to a new one
/// knows its user by another number there than when it published: the effective user is that user
/// nevertheless, because a process that enters a namespace of another user may not be dumped.
bool is_in_namespace_of(std::uint32_t user) noexcept {
    const system_fd space(open_path("/proc/self/ns/user", O_RDONLY));
    uid_t owner = 0;
    return space && ::ioctl(space.get(), NS_GET_OWNER_UID, &owner) == 0 &&
           (owner == user || owner == ::geteuid());
}

read_obstacle find_capabilities(std::uint32_t user) noexcept {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> sets{};
    if (::syscall(SYS_capget, &header, sets.data()) != 0) {
        return read_obstacle::unknown;
    }
    const bool has_none = (sets[0].permitted | sets[1].permitted) == 0;
    return has_none || is_in_namespace_of(user) ? read_obstacle::none : read_obstacle::capabilities;
}

read_obstacle find_dumpable() noexcept {
    const int dumpable = ::prctl(PR_GET_DUMPABLE, 0UL, 0UL, 0UL, 0UL);
    if (dumpable < 0) {
        return read_obstacle::unknown;
    }
    return dumpable == 1 ? read_obstacle::none : read_obstacle::not_dumpable;
}

/// Of a process that may not be dumped: whether root of this user namespace may inspect it. The
/// kernel gives its files in /proc to root of the namespace in which its program may be read: if
/// that is an outer namespace, root of this one may not.
///
/// The user of a namespace can mount anything on /proc, and files of other processes on this one's.
/// So the file is looked up in the root of a proc file system, and mounts on it are not followed.
bool is_owned_by_root() noexcept {
    const system_fd proc(open_path("/proc", O_PATH | O_DIRECTORY));
    struct statfs system {};
    struct stat status {};
    if (!proc || ::fstatfs(proc.get(), &system) != 0 || system.f_type != PROC_SUPER_MAGIC ||
        ::fstat(proc.get(), &status) != 0 || status.st_ino != proc_root) {
        return false;
    }
    open_how how{};
    how.flags = O_PATH | O_CLOEXEC;
    how.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS;
    const system_fd maps(::syscall(SYS_openat2, proc.get(), "self/maps", &how, sizeof how));
    return maps && ::fstat(maps.get(), &status) == 0 && status.st_uid == 0;
}

/// Root of the machine, as opposed to root of another user namespace. Asked only while root of this
/// namespace may inspect this process, who gains nothing by a forged /proc.
bool is_in_first_namespace() noexcept {
    struct stat status {};
    return ::stat("/proc/self/ns/user", &status) == 0 && status.st_ino == first_user_namespace;
}

read_obstacle find_obstacle_for_root() noexcept {
    const read_obstacle found = find_dumpable();
    return found == read_obstacle::none || is_owned_by_root() ? read_obstacle::none : found;
}

/// Root has made the group's directory for programs with capabilities. A process that is a user for
/// a while has not joined the group with its own rights.
read_obstacle find_obstacle_for_group(const known_reader& reader) noexcept {
    if (::getauxval(AT_SECURE) != 0) {
        return read_obstacle::program;
    }
    const read_obstacle found = find_ids();
    return found != read_obstacle::none || reader.may_root_inspect ? found
                                                                   : find_obstacle_for_root();
}

read_obstacle find_obstacle_for_user(std::uint32_t user) noexcept {
    if (::getauxval(AT_SECURE) != 0) {
        return read_obstacle::program;
    }
    read_obstacle found = find_ids();
    if (found == read_obstacle::none) {
        found = find_dumpable();
    }
    return found == read_obstacle::none ? find_capabilities(user) : found;
}

}  // namespace

const char* describe_obstacle(read_obstacle found) noexcept {
    switch (found) {
        case read_obstacle::none:
            break;
        case read_obstacle::program:
            return "it is setuid, setgid, has file capabilities, or a security module raised its "
                   "rights";
        case read_obstacle::user_ids:
            return "its real, effective and saved user differ";
        case read_obstacle::group_ids:
            return "its real, effective and saved group differ";
        case read_obstacle::capabilities:
            return "it has capabilities";
        case read_obstacle::not_dumpable:
            return "it changed its user, called prctl(PR_SET_DUMPABLE, 0), or its file is "
                   "unreadable";
        case read_obstacle::unknown:
            return "its sandbox forbids to determine its rights";
    }
    return "it has more rights";
}

void remember_data_reader(const data_reader& reader) noexcept {
    const errno_guard keeps_errno;
    bool may_root_inspect = false;
    if (reader.type != data_reader::kind::unknown && reader.user == 0) {
        // The owner of the files of a process that may not be dumped is fixed until the next exec.
        may_root_inspect =
            find_dumpable() == read_obstacle::none ? is_in_first_namespace() : is_owned_by_root();
    }
    store({reader.type, may_root_inspect, reader.user});
}

read_obstacle find_obstacle() noexcept {
    const errno_guard keeps_errno;
    const known_reader reader = load();
    switch (reader.type) {
        case data_reader::kind::unknown:
            break;
        case data_reader::kind::user:
            if (reader.user != 0) {
                return find_obstacle_for_user(reader.user);
            }
            return reader.may_root_inspect ? read_obstacle::none : find_obstacle_for_root();
        case data_reader::kind::group:
            return find_obstacle_for_group(reader);
    }
    return read_obstacle::none;
}

void explain_obstacle(read_obstacle found, const char* provider, error_text& error) noexcept {
    const known_reader reader = load();
    if (reader.type == data_reader::kind::group) {
        error.set("Provider %s is hidden from the group of its directory: %s. See Privileged "
                  "programs in eventlog(7).",
                  provider, describe_obstacle(found));
        return;
    }
    error.set("Provider %s is hidden from user %u, who may not trace its process: %s. See "
              "Privileged programs in eventlog(7).",
              provider, reader.user, describe_obstacle(found));
}

bool may_be_read() noexcept {
    return find_obstacle() == read_obstacle::none;
}

}  // namespace eventlog::core
