// SPDX-License-Identifier: MIT
#include "recorder/command_processes.hpp"

#include <cstdint>
#include <memory>

#include "scope/system_processes.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {

command_processes::command_processes(bool is_limited, record_sink& next) : all_(next) {
    if (is_limited) {
        scope_.emplace(std::make_unique<system_processes>());
        limited_.emplace(*scope_, next);
    }
}

void command_processes::begin(pid_t command) {
    if (scope_) {
        scope_->begin(static_cast<std::uint32_t>(command));
    }
}

void command_processes::poll() {
    if (scope_) {
        scope_->poll();
    }
}

void command_processes::complete(recording_summary& summary) const {
    if (limited_) {
        limited_->subtract_outside(summary);
    }
}

void command_processes::print_counts() const {
    if (limited_ && limited_->outside() != 0) {
        print_note("elog: {} events of processes outside of the command are left out. To include "
                   "them, add --all-processes.",
                   limited_->outside());
    }
    if (limited_ && limited_->lost_outside() != 0) {
        print_note("elog: {} lost events of processes outside of the command are not counted.",
                   limited_->lost_outside());
    }
    if (limited_ && limited_->undecided() != 0) {
        print_diagnostic("elog: {} events are of {} processes that may be outside of the command: "
                         "they ended before their parents could be found. They are included.",
                         limited_->undecided(), limited_->undecided_processes());
    }
}

std::optional<command_scope_counts> command_processes::counts() const {
    if (!limited_) {
        return std::nullopt;
    }
    return command_scope_counts{limited_->outside(), limited_->undecided(),
                                limited_->undecided_processes()};
}

std::optional<json_object> command_processes::as_json() const {
    if (!limited_) {
        return std::nullopt;
    }
    return json_object()
        .add("events_outside", limited_->outside())
        .add("lost_outside", limited_->lost_outside())
        .add("events_undecided", limited_->undecided())
        .add("processes_undecided", limited_->undecided_processes());
}

}  // namespace elog
