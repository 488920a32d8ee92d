// SPDX-License-Identifier: MIT
#include "user_events_device.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "user_events_abi.hpp"

namespace eventlog::core {
namespace {

constexpr const char* usual_path = "/sys/kernel/tracing/user_events_data";
constexpr const char* older_path = "/sys/kernel/debug/tracing/user_events_data";

int open_file(const char* path) noexcept {
    return ::open(path, O_RDWR | O_CLOEXEC | O_NOCTTY);
}

/// Out of descriptors or memory: that says nothing about the kernel.
bool is_shortage(int error) noexcept {
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/// The worst of several errors is the one that says most: a file that is there.
void note_error(int& noted, int error) noexcept {
    if (noted == 0 || noted == ENOENT || is_shortage(error)) {
        noted = error;
    }
}

/// Reads the list whole or in part: what does not fit is not looked at.
std::size_t read_mounts(char* list, std::size_t size) noexcept {
    const unique_fd file(::open("/proc/self/mounts", O_RDONLY | O_CLOEXEC));
    std::size_t end = 0;
    while (file && end < size) {
        const ssize_t got = ::read(file.get(), list + end, size - end);
        if (got <= 0) {
            break;
        }
        end += static_cast<std::size_t>(got);
    }
    return end;
}

/// Where somebody has mounted it elsewhere.
int open_mounted(int& error) noexcept {
    static constinit std::array<char, 16384> list{};  // too large for a signal stack
    const std::size_t size = read_mounts(list.data(), list.size());
    std::array<char, 512> path{};
    std::size_t at = 0;
    while (next_tracefs(list.data(), size, at, "/user_events_data", path.data(), path.size())) {
        const int file = open_file(path.data());
        if (file >= 0) {
            return file;
        }
        note_error(error, errno);
    }
    return -1;
}

int open_elsewhere(int& error) noexcept {
    const int file = open_file(older_path);
    if (file >= 0) {
        return file;
    }
    note_error(error, errno);
    return open_mounted(error);
}

/// Says why the kernel's own cannot be opened.
void explain(int reason, user_events_device& device, error_text& error) noexcept {
    device.may_change = true;
    device.status = EVENTLOG_NO_PERMISSION;
    if (is_shortage(reason)) {
        device.status = EVENTLOG_INCOMPLETE;
        error.set("user_events_data cannot be opened (%s). Raise the limit of open files (ulimit "
                  "-n), or free memory.",
                  std::strerror(reason));
    } else if (reason == ENOENT) {
        error.set("tracefs is not mounted where this process can see it. Mount it: mount -t "
                  "tracefs tracefs /sys/kernel/tracing");
    } else {
        error.set("user_events_data of tracefs may not be opened (%s). Root can allow it: chmod "
                  "a+x /sys/kernel/tracing; chmod a+rw /sys/kernel/tracing/user_events_data",
                  std::strerror(reason));
    }
}

const char* find(const char* from, const char* to, char wanted) noexcept {
    return static_cast<const char*>(std::memchr(from, wanted, static_cast<std::size_t>(to - from)));
}

bool is_octal(char c) noexcept {
    return c >= '0' && c <= '7';
}

/// Takes one character of a mount point, in which a space is \040. Moves `from` on.
char take_unescaped(const char*& from, const char* to) noexcept {
    if (*from == '\\' && to - from >= 4 && is_octal(from[1]) && is_octal(from[2]) &&
        is_octal(from[3])) {
        const int code = (from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0');
        from += 4;
        return static_cast<char>(code);
    }
    return *from++;
}

/// A path of a mount point and a name in it. False if there is not enough room.
bool join(const char* place, const char* end_of_place, const char* name, char* path,
          std::size_t path_size) noexcept {
    std::size_t used = 0;
    while (place != end_of_place && used < path_size) {
        path[used++] = take_unescaped(place, end_of_place);
    }
    const std::size_t name_size = std::strlen(name) + 1;
    if (place != end_of_place || path_size - used < name_size) {
        return false;
    }
    std::memcpy(path + used, name, name_size);
    return true;
}

}  // namespace

bool next_tracefs(const char* mounts, std::size_t size, std::size_t& at, const char* name,
                  char* path, std::size_t path_size) noexcept {
    while (at < size) {
        const char* line = mounts + at;
        const char* const end = find(line, mounts + size, '\n');
        if (end == nullptr) {
            at = size;
            break;
        }
        at = static_cast<std::size_t>(end - mounts) + 1;
        // DEVICE PLACE TYPE OPTIONS ...
        const char* const place = find(line, end, ' ');
        const char* const type = place == nullptr ? nullptr : find(place + 1, end, ' ');
        if (type != nullptr &&
            std::string_view(type, static_cast<std::size_t>(end - type)).starts_with(" tracefs ") &&
            join(place + 1, type, name, path, path_size)) {
            return true;
        }
    }
    return false;
}

user_events_device open_user_events(error_text& error) noexcept {
    user_events_device device;
    device.file = unique_fd(open_file(usual_path));
    int reason = device.file ? 0 : errno;
    const bool found = static_cast<bool>(device.file);
    if (::access(user_events_limit_path, F_OK) != 0) {
        device.file = unique_fd();
        device.status = EVENTLOG_NO_KERNEL_SUPPORT;
        error.set(found ? "The user_events of this kernel are those before Linux 6.4, or /proc is "
                          "not mounted. Mount /proc, or take a newer kernel."
                        : "This kernel has no user_events. That takes Linux 6.4 with "
                          "CONFIG_USER_EVENTS; everything else works without.");
        return device;
    }
    if (!found && !is_shortage(reason)) {
        device.file = unique_fd(open_elsewhere(reason));
    }
    if (!device.file) {
        explain(reason, device, error);
    }
    return device;
}

}  // namespace eventlog::core
