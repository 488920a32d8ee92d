// SPDX-License-Identifier: MIT
#include "scope/system_processes.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "base/proc_file.hpp"
#include "base/user_error.hpp"
#include "platform/time_namespace.hpp"
#include "platform/unique_fd.hpp"

namespace elog {
namespace {

constexpr std::size_t process_stat_max = 4096;

template <class Number>
bool parse_number(std::string_view text, Number& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

std::string read_file_of(std::uint32_t pid, const char* name, std::size_t size_max) {
    const std::string path = fmt::format("/proc/{}/{}", pid, name);
    const eventlog::core::unique_fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    return read_text(file, size_max).value_or("");
}

/// In a pid namespace with the /proc of an outer one, numbers there are those of other processes.
bool has_own_proc() {
    std::array<char, 16> number{};
    const ssize_t size = ::readlink("/proc/self", number.data(), number.size() - 1);
    return size > 0 && std::string_view(number.data()) == std::to_string(::getpid());
}

}  // namespace

/// The name may contain any character, so fields are counted behind its last ')'. While the kernel
/// removes a process, its parent reads as 0 and its process group as -1; it counts as ended, or its
/// parent would be taken for one outside of the pid namespace.
std::optional<process_stat> parse_process_stat(std::string_view text) {
    process_stat parsed;
    const std::size_t name_end = text.rfind(')');
    std::string_view rest = text;
    if (name_end == std::string_view::npos || !parse_number(take_until(rest, ' '), parsed.pid) ||
        text.size() < name_end + 2) {
        return std::nullopt;
    }
    rest = text.substr(name_end + 2);
    constexpr int parent_field = 4;
    constexpr int group_field = 5;
    constexpr int start_time_field = 22;
    for (int field = 3; field <= start_time_field; ++field) {
        const std::string_view value = take_until(rest, ' ');
        if ((field == group_field && value == "-1") ||
            (field == parent_field && !parse_number(value, parsed.parent)) ||
            (field == start_time_field && !parse_number(value, parsed.start_time))) {
            return std::nullopt;
        }
    }
    return parsed;
}

system_processes::system_processes() : has_proc_(has_own_proc()) {
    if (::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0) {
        throw user_error("The processes of the command cannot be identified ({}). To record all "
                         "processes, add --all-processes.",
                         std::strerror(errno));
    }
}

system_processes::~system_processes() {
    static_cast<void>(::prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0));
}

std::uint32_t system_processes::self() const {
    return static_cast<std::uint32_t>(::getpid());
}

std::optional<process_stat> system_processes::find(std::uint32_t pid) {
    std::optional<process_stat> found;
    if (has_proc_) {
        found = parse_process_stat(read_file_of(pid, "stat", process_stat_max));
    }
    if (found) {
        found->start_time = eventlog::core::machine_start_time(found->start_time);
    }
    return found;
}

std::vector<process_stat> system_processes::find_all() {
    std::vector<process_stat> all;
    const std::unique_ptr<DIR, int (*)(DIR*)> folder(has_proc_ ? ::opendir("/proc") : nullptr,
                                                     ::closedir);
    while (const dirent* const entry = folder ? ::readdir(folder.get()) : nullptr) {
        std::uint32_t pid = 0;
        if (parse_number(std::string_view(&entry->d_name[0]), pid)) {
            if (const std::optional<process_stat> found = find(pid)) {
                all.push_back(*found);
            }
        }
    }
    return all;
}

std::uint32_t system_processes::innermost_pid(std::uint32_t pid) {
    const std::string status = read_file_of(pid, "status", process_status_max);
    const std::vector<unsigned> numbers = status_numbers(status, "NSpid:");
    return numbers.empty() ? 0 : numbers.back();
}

/// A zombie stays readable in /proc until it is waited for. The command's own end is left to its
/// owner; the others are reaped after that.
std::optional<process_stat> system_processes::reap_orphan(std::uint32_t command) {
    siginfo_t ended{};
    if (::waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid <= 0 ||
        static_cast<std::uint32_t>(ended.si_pid) == command) {
        return std::nullopt;
    }
    const auto pid = static_cast<std::uint32_t>(ended.si_pid);
    const process_stat orphan = find(pid).value_or(process_stat{pid, self(), 0});
    siginfo_t reaped{};
    if (::waitid(P_PID, static_cast<id_t>(pid), &reaped, WEXITED | WNOHANG) != 0) {
        return std::nullopt;
    }
    return orphan;
}

}  // namespace elog
