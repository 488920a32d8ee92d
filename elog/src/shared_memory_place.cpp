// SPDX-License-Identifier: MIT
#include "shared_memory_place.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "unique_fd.hpp"

namespace elog {
namespace {

using eventlog::core::unique_fd;

// A process may have so many mounts, and 65536 groups.
constexpr std::size_t mounts_max = 16U << 20U;
constexpr std::size_t status_max = 1U << 20U;

std::optional<std::string> read_of(pid_t process, const char* name, std::size_t size_max) {
    const unique_fd file(
        ::open(fmt::format("/proc/{}/{}", process, name).c_str(), O_RDONLY | O_CLOEXEC));
    std::string text;
    std::array<char, 16384> part{};
    while (file && text.size() < size_max) {
        const ssize_t size = ::read(file.get(), part.data(), part.size());
        if (size == 0) {
            return text;
        }
        if (size < 0 && errno != EINTR) {
            break;
        }
        text.append(part.data(), size < 0 ? 0 : static_cast<std::size_t>(size));
    }
    return std::nullopt;
}

/// Takes what stands in front of `end` off the text, and `end` itself.
std::string_view take_until(std::string_view& text, char end) {
    const std::size_t size = std::min(text.find(end), text.size());
    const std::string_view taken = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
    return taken;
}

/// Spaces, tabs, newlines and backslashes stand in /proc as "\040".
std::string unescaped(std::string_view text) {
    std::string plain;
    while (!text.empty()) {
        unsigned number = 0;
        if (text.front() == '\\' && text.size() >= 4 &&
            std::from_chars(text.data() + 1, text.data() + 4, number, 8).ptr == text.data() + 4) {
            plain += static_cast<char>(number);
            text.remove_prefix(4);
        } else {
            plain += text.front();
            text.remove_prefix(1);
        }
    }
    return plain;
}

bool is_at_or_below(std::string_view path, std::string_view folder) {
    return folder == "/" || (path.substr(0, folder.size()) == folder &&
                             (path.size() == folder.size() || path[folder.size()] == '/'));
}

std::string_view line_of(std::string_view status, std::string_view label) {
    while (!status.empty()) {
        std::string_view line = take_until(status, '\n');
        if (line.substr(0, label.size()) == label) {
            line.remove_prefix(label.size());
            return line;
        }
    }
    return {};
}

/// The one user that it is, in all respects.
std::optional<uid_t> single_user(std::string_view status) {
    std::string_view line = line_of(status, "Uid:\t");
    std::optional<uid_t> user;
    while (!line.empty()) {
        const std::string_view word = take_until(line, '\t');
        uid_t number = 0;
        const char* const end = word.data() + word.size();
        const auto [parsed, wrong] = std::from_chars(word.data(), end, number);
        if (wrong != std::errc() || parsed != end || (user && *user != number)) {
            return std::nullopt;
        }
        user = number;
    }
    return user;
}

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
        const std::string folder = unescaped(take_until(line, ' '));
        const std::string point = unescaped(take_until(line, ' '));
        // Of several at one point the last one lies on top.
        if (point.empty() || point.size() < nearest || !is_at_or_below(path, point)) {
            continue;
        }
        nearest = point.size();
        const std::string_view rest = path.substr(point == "/" ? 0 : point.size());
        found = fmt::format("{}:{}{}", device, folder == "/" ? "" : folder, rest);
    }
    return found;
}

std::optional<shared_memory_place> find_shared_memory_place(pid_t process) {
    const std::optional<std::string> status = read_of(process, "status", status_max);
    const std::optional<std::string> mounts = read_of(process, "mountinfo", mounts_max);
    if (!status || !mounts || line_of(*status, "VmSize:\t").empty()) {
        return std::nullopt;
    }
    const std::optional<uid_t> user = single_user(*status);
    std::string memory = mounted_at(*mounts, "/dev/shm");
    if (memory.empty()) {
        // Below a root directory that is no mount itself; no mount above it is told.
        memory = fmt::format("{} {}", target_of(process, "ns/mnt"), target_of(process, "root"));
    }
    std::string users = target_of(process, "ns/user");
    if (!user || users.empty()) {
        return std::nullopt;
    }
    return shared_memory_place{std::move(memory), std::move(users), target_of(process, "ns/pid"),
                               *user, unescaped(line_of(*status, "Name:\t"))};
}

}  // namespace elog
