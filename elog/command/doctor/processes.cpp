// SPDX-License-Identifier: MIT
#include "doctor/processes.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/core.h>

#include "base/proc_file.hpp"
#include "doctor/machine.hpp"
#include "platform/data_reader.hpp"
#include "platform/process.hpp"
#include "shm/process_file.hpp"

namespace elog::doctor {
namespace {

namespace core = eventlog::core;
namespace fs = std::filesystem;

constexpr std::size_t maps_max = std::size_t{16} << 20U;
constexpr const char* group_directory = "/run/eventlog";

bool has_loaded_library(const std::string& pid) {
    return read_if_possible(proc_path(pid, "maps"), maps_max)
               .value_or("")
               .find("/libeventlog.so") != std::string::npos;
}

/// The pid namespace of the process, and its pid there.
std::pair<std::uint64_t, std::uint32_t> inner_pid(const std::string& pid) {
    const std::string status =
        read_if_possible(proc_path(pid, "status"), process_status_max).value_or("");
    const std::vector<unsigned> pids = status_numbers(status, "NSpid:");
    struct stat space {};
    return pids.empty() || ::stat(proc_path(pid, "ns/pid").c_str(), &space) != 0
               ? std::pair<std::uint64_t, std::uint32_t>()
               : std::pair<std::uint64_t, std::uint32_t>(space.st_ino, pids.back());
}

}  // namespace

std::string proc_path(const std::string& pid, const char* file) {
    return fmt::format("/proc/{}/{}", pid, file);
}

std::string_view process_name(std::string_view status) {
    std::string_view name = status_value(status, "Name:");
    name.remove_prefix(std::min(name.find_first_not_of('\t'), name.size()));
    return name;
}

core::directory_path path_of_group() {
    core::directory_path path;
    static_cast<void>(std::snprintf(path.text.data(), path.text.size(), "%s", group_directory));
    return path;
}

publishers find_published(const core::directory_path& path) {
    publishers found;
    core::directory where;
    core::error_text ignored;
    if (path.too_long || !where.open(path, core::if_missing::fail, ignored)) {
        return found;
    }
    found.are_of_group = where.reader.type == core::data_reader::kind::group;
    core::folder_listing names(where.processes);
    while (const char* name = names.next()) {
        core::process_file file;
        if (file.open(where, name, ignored) && file.is_alive()) {
            const eventlog_process_file& process = file.header();
            found.everywhere.emplace(process.pid_namespace, process.pid);
            if (process.pid_namespace == core::own_pid_namespace()) {
                found.pids.insert(std::to_string(process.pid));
            }
        }
    }
    return found;
}

std::set<std::string> find_unpublished(const publishers& published) {
    std::set<std::string> pids;
    std::error_code error;
    for (fs::directory_iterator each("/proc", error), end; !error && each != end;
         each.increment(error)) {
        const std::string pid = each->path().filename().native();
        if (pid.find_first_not_of("0123456789") == std::string::npos && has_loaded_library(pid) &&
            !published.everywhere.contains(inner_pid(pid))) {
            pids.insert(pid);
        }
    }
    return pids;
}

}  // namespace elog::doctor
