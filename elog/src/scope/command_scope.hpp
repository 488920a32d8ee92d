// SPDX-License-Identifier: MIT
//
// Decides which processes belong to a recorded command: the command and its descendants.
//
// This process is made the subreaper of its descendants: it adopts their orphans. So as long as a
// descendant exists, its chain of parents ends here, after double forks and in new sessions too,
// and the verdict about a process that exists, also as a zombie, is exact. A verdict about a
// process that has ended needs evidence from its lifetime, in this order:
//
//   1. It started before the command: outside.
//   2. The kernel reported its creation (connector of process events), it was found in /proc while
//      it ran, or it was adopted here: as known from then.
//   3. The parent that the process itself stated when it attached exists, or belonged to the
//      command: as the parent.
//   4. Otherwise undecided.
//
// Environment variables are no evidence: env -i, sudo and daemons drop them. One thread uses it.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>

#include "scope/known_processes.hpp"
#include "scope/process_source.hpp"

namespace elog {

enum class scope_verdict : std::uint8_t { inside, outside, undecided };

class command_scope {
  public:
    /// Before the command starts. Everything that exists is outside.
    explicit command_scope(std::unique_ptr<process_source> source);
    ~command_scope();
    command_scope(const command_scope&) = delete;
    command_scope& operator=(const command_scope&) = delete;

    /// The command has started: a child of this process that has not been waited for.
    void begin(std::uint32_t command);

    /// Collects evidence, and reaps adopted processes. To be called often, for example every 10 ms.
    void poll();

    /// As in a provider_instance. Start time 0 and parent 0 mean unknown.
    [[nodiscard]] scope_verdict decide(std::uint32_t pid, std::uint64_t start_time,
                                       std::uint32_t parent = 0);
    /// The process of a thread that has just been recorded.
    [[nodiscard]] scope_verdict decide_thread(std::uint32_t thread);

  private:
    using clock = std::chrono::steady_clock;

    void take_forks();
    void take_fork(const fork_event& fork);
    void reap_orphans();
    void scan();
    void scan_when_due();
    [[nodiscard]] std::optional<bool> is_adopted_inside() const;
    [[nodiscard]] std::optional<bool> walk_chain(process_stat process);
    [[nodiscard]] std::optional<bool> is_parent_inside(const process_stat& parent);
    [[nodiscard]] std::optional<process_stat> find_in_inner_namespace(std::uint32_t pid,
                                                                      std::uint64_t start_time);
    [[nodiscard]] scope_verdict decide_living(const process_stat& found);
    [[nodiscard]] std::optional<bool> is_child_inside(std::uint32_t parent,
                                                      std::uint64_t start_time);

    std::unique_ptr<process_source> source_;
    std::uint32_t self_;
    std::optional<process_stat> command_;
    known_processes known_;
    bool has_earlier_children_ = false;  // of this process, from before it became elog by exec
    bool are_forks_complete_ = false;    // each process since the command started is in known_
    clock::time_point scan_due_{};
    clock::time_point inner_search_due_{};
    std::unordered_map<std::uint32_t, scope_verdict> threads_;  // since the last poll
};

}  // namespace elog
