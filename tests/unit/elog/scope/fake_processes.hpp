// SPDX-License-Identifier: MIT
//
// A simulated machine: processes fork, exec, end, are reparented and reaped as in Linux.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "scope/process_source.hpp"

namespace eventlog::test {

class fake_processes : public elog::process_source {
  public:
    static constexpr std::uint32_t init = 1;
    static constexpr std::uint32_t shell = 100;
    static constexpr std::uint32_t elog_pid = 200;

    fake_processes() {
        add(init, 0, 5);
        add(shell, init, 50);
        add(elog_pid, shell, 1000);
    }

    std::uint64_t now = 1000;             // clock ticks
    bool reports_forks = false;           // as the connector of process events does
    bool loses_forks = false;             // the next take_forks() finds a gap
    bool hides_others = false;            // /proc is mounted with hidepid
    std::function<void()> before_find{};  // runs before each find(): a race

    std::uint32_t fork(std::uint32_t parent, std::uint32_t child) {
        add(child, parent, now);
        forks_.push_back({parent, child, now});
        return child;
    }
    void fork_in_inner_namespace(std::uint32_t parent, std::uint32_t pid, std::uint32_t inner) {
        fork(parent, pid);
        inner_[pid] = inner;
    }
    /// Children get init or elog, the subreaper, as their parent. The zombie remains.
    void exit(std::uint32_t pid) {
        for (auto& [child, stat] : processes_) {
            if (stat.parent == pid) {
                stat.parent = is_below(child, elog_pid) ? elog_pid : init;
            }
        }
        zombies_.push_back(pid);
    }
    void reap(std::uint32_t pid) {
        std::erase(zombies_, pid);
        processes_.erase(pid);
    }
    void exit_and_reap(std::uint32_t pid) {
        exit(pid);
        reap(pid);
    }
    [[nodiscard]] bool exists(std::uint32_t pid) const { return processes_.contains(pid); }
    [[nodiscard]] std::uint64_t start_time(std::uint32_t pid) const {
        return processes_.at(pid).start_time;
    }

    [[nodiscard]] std::uint32_t self() const override { return elog_pid; }
    [[nodiscard]] std::optional<elog::process_stat> find(std::uint32_t pid) override {
        if (before_find) {
            std::exchange(before_find, {})();
        }
        const auto found = processes_.find(pid);
        if (found == processes_.end() || hides_others) {
            return std::nullopt;
        }
        return found->second;
    }
    [[nodiscard]] std::vector<elog::process_stat> find_all() override {
        std::vector<elog::process_stat> all;
        for (const auto& [pid, stat] : processes_) {
            if (!hides_others) {
                all.push_back(stat);
            }
        }
        return all;
    }
    [[nodiscard]] std::uint32_t innermost_pid(std::uint32_t pid) override {
        return inner_.contains(pid) ? inner_[pid] : pid;
    }
    [[nodiscard]] bool take_forks(std::vector<elog::fork_event>& forks) override {
        if (!reports_forks || std::exchange(loses_forks, false)) {
            forks_.clear();
            return false;
        }
        forks.insert(forks.end(), forks_.begin(), forks_.end());
        forks_.clear();
        return true;
    }
    [[nodiscard]] std::optional<elog::process_stat> reap_orphan(std::uint32_t command) override {
        for (const std::uint32_t zombie : zombies_) {
            const elog::process_stat stat = processes_.at(zombie);
            if (stat.parent == elog_pid && zombie != command) {
                reap(zombie);
                return stat;
            }
        }
        return std::nullopt;
    }

  private:
    void add(std::uint32_t pid, std::uint32_t parent, std::uint64_t start_time) {
        processes_[pid] = {pid, parent, start_time};
    }
    [[nodiscard]] bool is_below(std::uint32_t pid, std::uint32_t ancestor) const {
        while (processes_.contains(pid) && pid != ancestor) {
            pid = processes_.at(pid).parent;
        }
        return pid == ancestor;
    }

    std::map<std::uint32_t, elog::process_stat> processes_;
    std::map<std::uint32_t, std::uint32_t> inner_;
    std::vector<std::uint32_t> zombies_;
    std::vector<elog::fork_event> forks_;
};

}  // namespace eventlog::test
