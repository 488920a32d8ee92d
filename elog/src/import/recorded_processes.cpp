// SPDX-License-Identifier: MIT
#include "import/recorded_processes.hpp"

namespace elog {
namespace {

constexpr std::size_t process_name_max = 15;  // as in the kernel; a file may contain longer ones

}  // namespace

bool recorded_processes::knows(std::uint32_t pid) const {
    return known_.contains(pid);
}

process_info& recorded_processes::entry_of(std::uint32_t pid) {
    if (known_.size() >= known_max && !knows(pid)) {
        known_.clear();
    }
    const auto [place, is_new] = known_.try_emplace(pid);
    if (is_new) {
        place->second.pid = pid;
        place->second.name = pid == 0 ? "idle" : "?";
    }
    return place->second;
}

const process_info& recorded_processes::of(std::uint32_t pid) {
    return entry_of(pid);
}

void recorded_processes::rename(std::uint32_t pid, std::uint32_t thread, std::string_view name) {
    // The name of another thread is not the name of its process.
    if (pid == thread && pid != 0) {
        entry_of(pid).name = name.substr(0, process_name_max);
    }
}

void recorded_processes::become(std::uint32_t pid, std::string_view name, std::uint64_t time) {
    rename(pid, pid, name);
    entry_of(pid).start_time = time;
}

void recorded_processes::fork(std::uint32_t parent, std::uint32_t pid, std::uint64_t time) {
    if (parent == pid) {
        return;  // a thread
    }
    process_info made = of(parent);
    made.pid = pid;
    made.start_time = time;
    entry_of(pid) = std::move(made);
}

}  // namespace elog
