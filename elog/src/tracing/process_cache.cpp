// SPDX-License-Identifier: MIT
#include "tracing/process_cache.hpp"

#include <sys/stat.h>

#include <charconv>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/proc_file.hpp"
#include "platform/time_namespace.hpp"
#include "tracing/process_files.hpp"

namespace elog {
namespace {

constexpr std::chrono::seconds cache_lifetime{1};
// More threads at once are rare; forgotten ones are looked up again.
constexpr std::size_t known_processes_max = 65536;

/// Field 22 of /proc/PID/stat: the 20th behind the name, which may contain any character.
std::uint64_t start_time_of(std::uint32_t pid) {
    const std::string text = read_process_file(pid, "stat");
    const std::size_t end = text.rfind(')');
    if (end == std::string::npos) {
        return 0;
    }
    std::size_t at = end;
    constexpr int fields = 20;
    for (int i = 0; i < fields && at != std::string::npos; ++i) {
        at = text.find(' ', at + 1);
    }
    std::uint64_t found = 0;
    if (at != std::string::npos) {
        std::from_chars(text.data() + at + 1, text.data() + text.size(), found);
    }
    return eventlog::core::machine_start_time(found);
}

std::optional<process_info> look_up_living_process(std::uint32_t thread) {
    process_info found;
    const std::vector<unsigned> process =
        status_numbers(read_process_file(thread, "status"), "Tgid:");
    if (process.empty()) {
        return std::nullopt;
    }
    found.pid = process.front();
    struct stat folder {};
    if (::stat(fmt::format("/proc/{}", found.pid).c_str(), &folder) != 0) {
        return std::nullopt;
    }
    found.uid = folder.st_uid;
    found.start_time = start_time_of(found.pid);
    found.name = living_process_name(found.pid);
    return found;
}

}  // namespace

process_cache::process_cache(saved_name_lookup dead)
    : process_cache(look_up_living_process, std::move(dead)) {}

/// The thread may have exited while its process runs. If another process is found for the thread,
/// that process has reused the thread's number.
std::optional<process_info> process_cache::find_living(std::uint32_t thread,
                                                       std::uint32_t process) const {
    std::optional<process_info> found = lookup_(thread);
    if (process != 0 && (!found || found->pid != process)) {
        found = lookup_(process);
        if (found && found->pid != process) {
            found.reset();
        }
    }
    return found;
}

const process_info& process_cache::of(std::uint32_t thread, std::uint32_t process) {
    const clock::time_point now = clock::now();
    auto known = known_.find(thread);
    if (known != known_.end() && process != 0 && known->second.process.pid != process) {
        known_.erase(known);
        known = known_.end();
    }
    if (known != known_.end() && now - known->second.looked_up < cache_lifetime) {
        return known->second.process;
    }
    if (thread == 0) {
        process_info idle;  // on every CPU, not in /proc
        idle.name = std::string("idle");
        return known_.insert_or_assign(0, entry{std::move(idle), now}).first->second.process;
    }
    std::optional<process_info> found = find_living(thread, process);
    if (known != known_.end()) {
        // The entry of a thread that has exited is kept.
        if (found && found->start_time != known->second.process.start_time) {
            known->second.process = std::move(*found);
        }
        known->second.looked_up = now;
        return known->second.process;
    }
    if (!found) {
        // If the kernel does not state the process of an exited thread, the thread is taken as the
        // first of its process.
        const std::uint32_t number = process != 0 ? process : thread;
        std::string name = dead_(number);
        found = process_info{number, 0, 0, name.empty() ? std::string(1, '?') : std::move(name)};
    }
    if (known_.size() >= known_processes_max) {
        known_.clear();
    }
    return known_.emplace(thread, entry{std::move(*found), now}).first->second.process;
}

}  // namespace elog
