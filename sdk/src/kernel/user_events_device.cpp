// SPDX-License-Identifier: MIT
#include "kernel/user_events_device.hpp"

#include <fcntl.h>
#include <linux/eventlog.h>
#include <sys/ioctl.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "kernel/eventlog_device.hpp"
#include "kernel/user_events_abi.hpp"
#include "platform/short_text.hpp"
#include "platform/startup_section.hpp"
#include "provider/user_events_page.hpp"

namespace eventlog::core {
namespace {

constexpr const char* default_mount_point = "/sys/kernel/tracing";
constexpr const char* legacy_mount_point = "/sys/kernel/debug/tracing";
constexpr const char* data_file = "/user_events_data";
constexpr const char* status_file = "/user_events_status";

/// Whether the process lacks descriptors or memory, which says nothing about the kernel.
bool is_shortage(int error) noexcept {
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/// Keeps the most informative of several errors: a shortage, or an error of an existing file.
void note_error(int& noted, int error) noexcept {
    if (noted == 0 || noted == ENOENT || is_shortage(error)) {
        noted = error;
    }
}

/// Reads the list as far as it fits; the rest is ignored.
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

/// The kernel's properties found by a search, and the most informative error.
struct device_search {
    bool has_enable_words = false;
    int major = 0;  // of the release: 6 in 6.1
    int minor = 0;
    int reason = 0;                   // the errno of the failure
    const char* refused = data_file;  // the file that failed
};

bool is_before(const device_search& search, int major, int minor) noexcept {
    return search.major < major || (search.major == major && search.minor < minor);
}

void note_failure(device_search& search, const char* file, int error) noexcept {
    note_error(search.reason, error);
    if (search.reason == error) {
        search.refused = file;
    }
}

unique_fd open_file(device_search& search, const char* place, const char* name,
                    int flags) noexcept {
    // Too large for a signal stack. Under the registry lock.
    [[EVENTLOG_STARTUP_SECTION]] static constinit short_text<512> path;
    path = {};
    path.put(place).put(name);
    if (path.is_cut()) {
        note_failure(search, name, ENAMETOOLONG);
        return {};
    }
    unique_fd file(::open(path.c_str(), flags | O_CLOEXEC | O_NOCTTY));
    if (!file) {
        note_failure(search, name, errno);
    }
    return file;
}

/// For a kernel without words, or one whose support is unknown because /proc is missing: maps the
/// page.
bool find_page(device_search& search, const char* place, user_events_device& device) noexcept {
    const unique_fd status = open_file(search, place, status_file, O_RDONLY);
    if (!status) {
        return false;
    }
    const int error = map_user_events_page(status.get(), is_before(search, 6, 1) ? page_unit::byte
                                                                                 : page_unit::bit);
    if (error != 0 && error != ENODEV) {
        note_failure(search, status_file, error);
        return false;
    }
    device.has_status_page = error == 0;
    return true;
}

/// Opens the file in a mounted tracefs.
bool open_in(device_search& search, const char* place, user_events_device& device) noexcept {
    device.file = open_file(search, place, data_file, O_RDWR);
    const bool too_old = is_before(search, 5, 18);
    if (device.file && !search.has_enable_words && (too_old || !find_page(search, place, device))) {
        device.file = unique_fd();
    }
    return static_cast<bool>(device.file);
}

/// Opens the file in a tracefs mounted elsewhere.
bool open_mounted(device_search& search, user_events_device& device) noexcept {
    static constinit std::array<char, 16384> list{};  // too large for a signal stack
    const std::size_t size = read_mounts(list.data(), list.size());
    static constinit std::array<char, 480> place{};
    std::size_t at = 0;
    while (next_tracefs_mount(list.data(), size, at, "", place.data(), place.size())) {
        if (open_in(search, place.data(), device)) {
            return true;
        }
    }
    return false;
}

bool is_tracefs(const char* place) noexcept {
    constexpr unsigned long magic = 0x74726163;
    struct statfs status {};
    return ::statfs(place, &status) == 0 && static_cast<unsigned long>(status.f_type) == magic;
}

/// Whether user_events may exist although they were not found: inaccessible, or tracefs not
/// mounted.
bool may_be_hidden(const device_search& search) noexcept {
    return search.has_enable_words || search.refused == status_file ||
           (!is_before(search, 5, 18) && is_before(search, 6, 4) &&
            !(search.reason == ENOENT && is_tracefs(default_mount_point)));
}

/// Sets status and message for a failure to open the kernel's user_events.
void explain(const device_search& search, user_events_device& device, error_text& error) noexcept {
    device.is_retryable = true;
    device.is_support_unknown = !search.has_enable_words && search.refused == data_file;
    device.status = EVENTLOG_STATUS_NO_PERMISSION;
    const char* const file = search.refused + 1;
    if (is_shortage(search.reason)) {
        device.status = EVENTLOG_STATUS_INCOMPLETE;
        error.set("%s cannot be opened (%s). Raise the limit of open files (ulimit -n), or free "
                  "memory.",
                  file, system_error{search.reason});
    } else if (search.reason == ENOENT) {
        error.set("tracefs is not mounted where this process can see it%s. Mount it: mount -t "
                  "tracefs tracefs /sys/kernel/tracing",
                  device.is_support_unknown ? ", and this kernel may have no user_events" : "");
    } else if (search.has_enable_words) {
        error.set("%s of tracefs may not be opened (%s). Root can allow it: chmod a+x "
                  "/sys/kernel/tracing; chmod a+rw /sys/kernel/tracing/user_events_data",
                  file, system_error{search.reason});
    } else {
        error.set("%s of tracefs may not be opened (%s)%s. Root can allow it, in "
                  "/sys/kernel/tracing: chmod a+x .; chmod a+rw user_events_data; chmod a+r "
                  "user_events_status",
                  file, system_error{search.reason},
                  device.is_support_unknown ? ", if this kernel has it" : "");
    }
}

/// Sets the message for a failure to open the module's device.
void explain_module(int reason, error_text& error) noexcept {
    if (is_shortage(reason)) {
        error.set("%s cannot be opened (%s). Raise the limit of open files (ulimit -n), or "
                  "files_per_user or files_max in /sys/module/eventlog/parameters, or free memory.",
                  eventlog_device_path, system_error{reason});
    } else {
        error.set("/dev/eventlog cannot be opened (%s). Root can allow it to a group, as tracing: "
                  "chgrp tracing /dev/eventlog; chmod g+rw /dev/eventlog",
                  system_error{reason});
    }
}

const char* find(const char* from, const char* to, char wanted) noexcept {
    return static_cast<const char*>(std::memchr(from, wanted, static_cast<std::size_t>(to - from)));
}

bool is_octal(char c) noexcept {
    return c >= '0' && c <= '7';
}

/// Reads one character of a mount point, in which a space is \040, and advances `from`.
char take_unescaped(const char*& from, const char* to) noexcept {
    if (*from == '\\' && to - from >= 4 && is_octal(from[1]) && is_octal(from[2]) &&
        is_octal(from[3])) {
        const int code = (from[1] - '0') * 64 + (from[2] - '0') * 8 + (from[3] - '0');
        from += 4;
        return static_cast<char>(code);
    }
    return *from++;
}

/// Builds the path of a name in a mount point. False if it does not fit.
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

void read_release(const char* release, int& major, int& minor) noexcept {
    major = static_cast<int>(take_number(release));
    minor = *release == '.' ? static_cast<int>(take_number(++release)) : 0;
}

bool next_tracefs_mount(const char* mounts, std::size_t size, std::size_t& at, const char* name,
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
    device_search search;
    search.has_enable_words = ::access(user_events_limit_path, F_OK) == 0;
    static constinit utsname system{};
    if (::uname(&system) == 0) {
        read_release(system.release, search.major, search.minor);
    }
    if (open_in(search, default_mount_point, device)) {
        return device;
    }
    const bool too_old = search.reason == 0;
    if (too_old || !may_be_hidden(search)) {
        device.status = EVENTLOG_STATUS_NO_KERNEL_SUPPORT;
        if (too_old) {
            error.set("uname reports a kernel older than Linux 5.18, which has user_events "
                      "nevertheless. Boot a newer kernel, or let uname report its release.");
        } else {
            error.set("This kernel has no user_events. That takes Linux 6.4 with "
                      "CONFIG_USER_EVENTS; everything else works without.");
        }
    } else if (is_shortage(search.reason) ||
               (!open_in(search, legacy_mount_point, device) && !open_mounted(search, device))) {
        explain(search, device, error);
    }
    return device;
}

user_events_device open_module_or_user_events(error_text& error) noexcept {
    int reason = 0;
    user_events_device module;
    module.file = open_eventlog_device(reason);
    if (module.file) {
        module.is_module = true;
        return module;
    }
    user_events_device device = open_user_events(error);
    // A device node without the module: in a container, or a leftover.
    const bool has_none = reason == ENOENT || reason == ENXIO || reason == ENODEV;
    if (!device.file && !has_none) {
        device.status =
            is_shortage(reason) ? EVENTLOG_STATUS_INCOMPLETE : EVENTLOG_STATUS_NO_PERMISSION;
        device.is_retryable = true;
        device.is_support_unknown = false;
        explain_module(reason, error);
    }
    return device;
}

bool supports_flag(int file, std::uint16_t flag) noexcept {
    // The address of the description is invalid, which the kernel detects after the flags.
    alignas(8) std::uint32_t word = 0;
    user_events_registration empty;
    empty.enable_bit = EVENTLOG_GATE_USER_EVENTS_BIT;
    empty.enable_address = reinterpret_cast<std::uintptr_t>(&word);
    empty.flags = flag;
    return ::ioctl(file, user_events_register, &empty) != 0 && errno == EFAULT;
}

}  // namespace eventlog::core
