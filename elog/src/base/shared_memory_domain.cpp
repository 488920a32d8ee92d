// SPDX-License-Identifier: MIT
#include "base/shared_memory_domain.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <vector>

#include <fmt/core.h>

#include "base/proc_file.hpp"
#include "platform/unique_fd.hpp"

namespace elog {
namespace {

using eventlog::core::unique_fd;

// A container usually has fewer than some thousand mounts, and a machine fewer than some thousand
// containers. The limits bound the time that a hostile process can cost.
constexpr std::size_t mounts_max = std::size_t{1} << 20U;
constexpr std::size_t surroundings_max = 4096;
constexpr std::size_t command_name_max = 64;

std::optional<std::string> read_of(pid_t process, const char* name, std::size_t size_max) {
    const std::string path = fmt::format("/proc/{}/{}", process, name);
    return read_text(unique_fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), size_max);
}

bool is_at_or_below(std::string_view path, std::string_view folder) {
    return folder == "/" || (path.substr(0, folder.size()) == folder &&
                             (path.size() == folder.size() || path[folder.size()] == '/'));
}

/// The user if real, effective, saved and file system user are the same.
std::optional<uid_t> single_user(std::string_view status) {
    const std::vector<unsigned> users = status_numbers(status, "Uid:");
    return users.size() == 4 && std::count(users.begin(), users.end(), users.front()) == 4
               ? std::optional<uid_t>(users.front())
               : std::nullopt;
}

/// Empty if the link cannot be read, for example without permission.
std::string target_of(pid_t process, const char* name) {
    std::array<char, PATH_MAX> target{};
    const ssize_t size =
        ::readlink(fmt::format("/proc/{}/{}", process, name).c_str(), target.data(), target.size());
    return size < 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(size));
}

}  // namespace

std::string mounted_at(std::string_view mounts, std::string_view path) {
    std::string found;
    std::size_t nearest = 0;
    while (!mounts.empty()) {
        std::string_view line = take_until(mounts, '\n');
        static_cast<void>(take_until(line, ' '));  // its number
        static_cast<void>(take_until(line, ' '));  // its parent's
        const std::string_view device = take_until(line, ' ');
        const std::string folder = unescape_octal(take_until(line, ' '));
        const std::string point = unescape_octal(take_until(line, ' '));
        // Of several mounts at one point the last one hides the earlier ones.
        if (point.empty() || point.size() < nearest || !is_at_or_below(path, point)) {
            continue;
        }
        nearest = point.size();
        const std::string_view rest = path.substr(point == "/" ? 0 : point.size());
        found = fmt::format("{}:{}{}", device, folder == "/" ? "" : folder, rest);
    }
    return found;
}

std::string name_of_process(pid_t process) {
    const std::string text = read_of(process, "comm", command_name_max).value_or("?\n");
    return text.substr(0, text.rfind('\n'));
}

std::optional<std::string> shared_memory_domains::find_memory(pid_t process) {
    mount_view where(target_of(process, "ns/mnt"), target_of(process, "root"));
    if (where.first.empty() || where.second.empty()) {
        return std::nullopt;
    }
    const auto known = known_.find(where);
    if (known != known_.end()) {
        return known->second;
    }
    if (known_.size() >= surroundings_max) {
        return std::string();
    }
    const std::optional<std::string> mounts = read_of(process, "mountinfo", mounts_max);
    if (!mounts) {
        return std::nullopt;
    }
    std::string memory;
    if (mounts->size() < mounts_max) {
        memory = mounted_at(*mounts, "/dev/shm");
        if (memory.empty()) {
            // The root directory is no mount itself, and mountinfo does not list those above it.
            memory = where.first + " " + where.second;
        }
    }
    return known_.emplace(std::move(where), std::move(memory)).first->second;
}

std::optional<shared_memory_domain> shared_memory_domains::of(pid_t process) {
    const std::optional<std::string> status = read_of(process, "status", process_status_max);
    if (!status || status_value(*status, "VmSize:").empty()) {
        return std::nullopt;
    }
    const std::optional<uid_t> user = single_user(*status);
    std::optional<std::string> memory = user ? find_memory(process) : std::nullopt;
    std::string users = target_of(process, "ns/user");
    if (!memory || users.empty()) {
        return std::nullopt;
    }
    if (memory->empty()) {
        ++left_out_;
        return std::nullopt;
    }
    return shared_memory_domain{std::move(*memory), std::move(users), target_of(process, "ns/pid"),
                                *user};
}

}  // namespace elog
