// SPDX-License-Identifier: MIT
#include "recorded_processes.hpp"

namespace elog {

const traced_process& recorded_processes::of(std::uint32_t pid) {
    const auto [place, is_new] = known_.try_emplace(pid);
    if (is_new) {
        place->second.pid = pid;
        place->second.name = pid == 0 ? "idle" : "?";
    }
    return place->second;
}

void recorded_processes::rename(std::uint32_t pid, std::uint32_t thread, std::string_view name) {
    // A thread's own name is not its process's.
    if (pid == thread && pid != 0) {
        static_cast<void>(of(pid));
        known_[pid].name = name;
    }
}

void recorded_processes::become(std::uint32_t pid, std::string_view name, std::uint64_t time) {
    rename(pid, pid, name);
    known_[pid].start_time = time;
}

void recorded_processes::fork(std::uint32_t parent, std::uint32_t pid, std::uint64_t time) {
    if (parent == pid) {
        return;  // a thread
    }
    traced_process made = of(parent);
    made.pid = pid;
    made.start_time = time;
    known_.insert_or_assign(pid, std::move(made));
}

}  // namespace elog
