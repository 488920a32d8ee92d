// SPDX-License-Identifier: MIT
#include "scope/command_scope.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace elog {
namespace {

// At most this many attempts while parents end during a walk.
constexpr int walk_attempts = 100;
// A longer chain of parents is not examined.
constexpr int chain_length_max = 65536;
// Reading /proc takes at most a fiftieth of the time.
constexpr int scan_pause_factor = 50;
constexpr std::chrono::milliseconds scan_pause_min{20};

constexpr scope_verdict verdict_of(std::optional<bool> is_inside) noexcept {
    return !is_inside   ? scope_verdict::undecided
           : *is_inside ? scope_verdict::inside
                        : scope_verdict::outside;
}

/// When /proc may be read again, after a reading that began then.
std::chrono::steady_clock::time_point pause_after(std::chrono::steady_clock::time_point begin) {
    using clock = std::chrono::steady_clock;
    const clock::time_point end = clock::now();
    return end + std::max<clock::duration>(scan_pause_min, (end - begin) * scan_pause_factor);
}

}  // namespace

command_scope::command_scope(std::unique_ptr<process_source> source)
    : source_(std::move(source)), self_(source_->self()) {
    std::vector<fork_event> earlier;
    are_forks_complete_ = source_->take_forks(earlier);
    for (const process_stat& each : source_->find_all()) {
        known_.add(each.pid, each.start_time, false);
        has_earlier_children_ = has_earlier_children_ || each.parent == self_;
    }
}

command_scope::~command_scope() = default;

/// The events are used only if they contain the command with its start time: elsewhere, for example
/// in another pid or time namespace, they would be about other processes.
void command_scope::begin(std::uint32_t command) {
    command_ = source_->find(command).value_or(process_stat{command, self_, 0});
    known_.add(command, command_->start_time, true);
    std::vector<fork_event> forks;
    are_forks_complete_ = source_->take_forks(forks) && are_forks_complete_;
    const auto first = std::find_if(forks.begin(), forks.end(), [&](const fork_event& each) {
        return each.child == command &&
               (each.time == command_->start_time || each.time == command_->start_time + 1);
    });
    are_forks_complete_ = are_forks_complete_ && first != forks.end();
    for (const fork_event& each : forks) {
        if (each.child != command) {
            take_fork(each);
        }
    }
    scan_when_due();
}

/// While the events are complete, a parent without an entry existed before the command.
void command_scope::take_fork(const fork_event& fork) {
    const std::optional<bool> parent =
        fork.parent == self_ ? std::optional(true) : known_.find(fork.parent, 0);
    if (parent) {
        known_.add_forked(fork.child, fork.time, *parent);
    } else if (are_forks_complete_) {
        known_.add_forked(fork.child, fork.time, false);
    }
}

/// After a gap a parent's entry may be that of an earlier process with its pid, so that no event
/// is used any more.
void command_scope::take_forks() {
    if (!are_forks_complete_) {
        return;
    }
    std::vector<fork_event> forks;
    const bool is_complete = source_->take_forks(forks);
    for (const fork_event& each : forks) {
        take_fork(each);
    }
    are_forks_complete_ = is_complete && !known_.has_forgotten_inside();
}

/// The verdict about a child of this process without other evidence. Orphans of the children that
/// the process had before it became elog, by exec, are adopted too.
std::optional<bool> command_scope::is_adopted_inside() const {
    return has_earlier_children_ ? std::nullopt : std::optional(true);
}

/// A process may have been created and have ended since its event was due.
void command_scope::reap_orphans() {
    while (const std::optional<process_stat> ended = source_->reap_orphan(command_->pid)) {
        take_forks();
        const std::optional<bool> adopted = is_adopted_inside();
        if (adopted && !known_.find(ended->pid, ended->start_time)) {
            known_.add(ended->pid, ended->start_time, *adopted);
        }
    }
}

void command_scope::scan() {
    for (const process_stat& each : source_->find_all()) {
        if (!known_.find(each.pid, each.start_time)) {
            static_cast<void>(decide_living(each));
        }
    }
}

void command_scope::scan_when_due() {
    const clock::time_point begin = clock::now();
    if (are_forks_complete_ || begin < scan_due_) {
        return;
    }
    scan();
    scan_due_ = pause_after(begin);
}

void command_scope::poll() {
    threads_.clear();
    if (!command_) {
        return;
    }
    take_forks();
    scan_when_due();
    reap_orphans();
}

/// For a process whose verdict is known without its parents.
std::optional<bool> command_scope::is_parent_inside(const process_stat& parent) {
    if (const std::optional<bool> known = known_.find(parent.pid, parent.start_time)) {
        return known;
    }
    return parent.start_time < command_->start_time ? std::optional(false) : std::nullopt;
}

/// Follows the parents of an existing process to this process, or to one outside. A parent may end
/// during the walk and its pid may be reused; but then the child has another parent, so each step
/// is valid if the child still has the same parent after the parent has been read. Nothing if the
/// process has ended or a parent is hidden.
std::optional<bool> command_scope::walk_chain(process_stat process) {
    int attempts = walk_attempts;
    for (int length = 0; length < chain_length_max; ++length) {
        if (process.parent == self_) {
            return is_adopted_inside();
        }
        if (process.parent == 0) {
            return false;
        }
        const std::optional<process_stat> parent = source_->find(process.parent);
        const std::optional<process_stat> again = source_->find(process.pid);
        if (!again || again->start_time != process.start_time) {
            return std::nullopt;
        }
        if (again->parent != process.parent) {
            process = *again;
            if (--attempts == 0) {
                return std::nullopt;
            }
            continue;
        }
        if (!parent) {
            return std::nullopt;
        }
        if (const std::optional<bool> known = is_parent_inside(*parent)) {
            return known;
        }
        process = *parent;
    }
    return std::nullopt;
}

scope_verdict command_scope::decide_living(const process_stat& found) {
    const std::optional<bool> is_inside =
        found.start_time < command_->start_time ? std::optional(false) : walk_chain(found);
    if (is_inside) {
        known_.add(found.pid, found.start_time, *is_inside);
    }
    return verdict_of(is_inside);
}

/// A process in an inner pid namespace knows only its number there. Limited like scan(), because
/// most processes without an entry in /proc have ended.
std::optional<process_stat> command_scope::find_in_inner_namespace(std::uint32_t pid,
                                                                   std::uint64_t start_time) {
    const clock::time_point begin = clock::now();
    if (begin < inner_search_due_) {
        return std::nullopt;
    }
    std::optional<process_stat> found;
    for (const process_stat& each : source_->find_all()) {
        if (each.start_time == start_time && source_->innermost_pid(each.pid) == pid) {
            found = each;
        }
    }
    inner_search_due_ = pause_after(begin);
    return found;
}

/// The verdict about an ended process by its parent at some time of its life. A younger process has
/// reused the parent's number. An ended parent only includes, because its number may have been
/// reused unnoticed.
std::optional<bool> command_scope::is_child_inside(std::uint32_t parent, std::uint64_t start_time) {
    if (parent == self_) {
        return is_adopted_inside();
    }
    const std::optional<process_stat> found = source_->find(parent);
    if (!found || found->start_time > start_time) {
        return known_.find(parent, 0) == true ? std::optional(true) : std::nullopt;
    }
    if (const std::optional<bool> known = known_.find(parent, found->start_time)) {
        return known;
    }
    const scope_verdict verdict = decide_living(*found);
    return verdict == scope_verdict::undecided ? std::nullopt
                                               : std::optional(verdict == scope_verdict::inside);
}

scope_verdict command_scope::decide(std::uint32_t pid, std::uint64_t start_time,
                                    std::uint32_t parent) {
    if (!command_ || pid == 0 || (start_time != 0 && start_time < command_->start_time)) {
        return scope_verdict::outside;
    }
    take_forks();
    if (const std::optional<bool> known = known_.find(pid, start_time); known && start_time != 0) {
        return verdict_of(known);
    }
    const std::optional<process_stat> found = source_->find(pid);
    if (found && (start_time == 0 || found->start_time == start_time)) {
        if (const auto known = known_.find(pid, found->start_time)) {
            return verdict_of(known);
        }
        return decide_living(*found);
    }
    if (start_time == 0) {
        return verdict_of(known_.find(pid, 0));
    }
    if (parent != 0) {  // so its number is of this pid namespace
        const std::optional<bool> is_inside = is_child_inside(parent, start_time);
        if (is_inside) {
            known_.add(pid, start_time, *is_inside);
        }
        return verdict_of(is_inside);
    }
    if (const auto outer = find_in_inner_namespace(pid, start_time)) {
        const std::optional<bool> known = known_.find(outer->pid, start_time);
        return known ? verdict_of(known) : decide_living(*outer);
    }
    return scope_verdict::undecided;
}

scope_verdict command_scope::decide_thread(std::uint32_t thread) {
    const auto known = threads_.find(thread);
    return known != threads_.end() ? known->second
                                   : threads_.emplace(thread, decide(thread, 0)).first->second;
}

}  // namespace elog
