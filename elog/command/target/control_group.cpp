// SPDX-License-Identifier: MIT
#include "target/control_group.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>

#include <fmt/core.h>

#include "base/proc_file.hpp"
#include "base/user_error.hpp"
#include "platform/unique_fd.hpp"

namespace elog {
namespace {

using eventlog::core::unique_fd;

/// A line NUMBER:CONTROLLERS:PATH.
struct cgroup_entry {
    std::string_view controllers;  // empty: version 2, which has one tree
    std::string_view path;
};

/// Removes a line from the text and returns it; nothing after the last one.
std::optional<cgroup_entry> next_cgroup(std::string_view& text) {
    while (!text.empty()) {
        const std::string_view line = take_until(text, '\n');
        const std::size_t first = line.find(':');
        const std::size_t second =
            first == std::string_view::npos ? first : line.find(':', first + 1);
        if (second != std::string_view::npos) {
            return cgroup_entry{line.substr(first + 1, second - first - 1),
                                line.substr(second + 1)};
        }
    }
    return std::nullopt;
}

bool controls_devices(const cgroup_entry& of) noexcept {
    return of.controllers.empty() || of.controllers.find("devices") != std::string_view::npos;
}

std::string_view own_cgroup_path(std::string_view own, std::string_view controllers) {
    while (const std::optional<cgroup_entry> found = next_cgroup(own)) {
        if (found->controllers == controllers) {
            return found->path;
        }
    }
    return {};
}

/// Returns 0 or an errno.
int join(const std::string& folder) {
    const unique_fd members(
        ::open((folder + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    return members && ::write(members.get(), "0", 1) == 1 ? 0 : errno;
}

int join(const cgroup_entry& wanted) {
    if (wanted.path.find("/..") != std::string_view::npos) {
        return EXDEV;  // outside of the visible tree
    }
    if (!wanted.controllers.empty()) {
        return join(fmt::format("/sys/fs/cgroup/{}{}", wanted.controllers, wanted.path));
    }
    int error = 0;
    for (const char* root : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
        error = join(fmt::format("{}{}", root, wanted.path));
        if (error == 0) {
            break;
        }
    }
    return error;
}

}  // namespace

void join_control_groups(std::string_view own, std::string_view other) {
    while (const std::optional<cgroup_entry> wanted = next_cgroup(other)) {
        if (!controls_devices(*wanted) ||
            own_cgroup_path(own, wanted->controllers) == wanted->path) {
            continue;
        }
        if (const int error = join(*wanted)) {
            throw user_error("{}: {}", wanted->path, std::strerror(error));
        }
    }
}

}  // namespace elog
