// SPDX-License-Identifier: MIT
#include "recorder/recorded_command.hpp"

#include <chrono>
#include <thread>

#include "terminal/diagnostics.hpp"

namespace elog {
namespace {

constexpr std::chrono::milliseconds wait_interval{10};

}  // namespace

void recorded_command::start(const std::vector<std::string>& command, command_output output) {
    child_.emplace(command, output);
    // A signal from before the start has not reached the command.
    const stop_request request = stop_requested();
    if (request.count != 0) {
        child_->send(request.signal);
    }
    seen_ = request.count;
}

bool recorded_command::is_interrupted() {
    const stop_request request = stop_requested();
    if (request.count > seen_ && child_ && !request.by_terminal) {
        // The command ends first, so that its last events are recorded.
        child_->send(request.signal);
    }
    seen_ = request.count;
    const int enough = child_ ? 2 : 1;
    return request.count >= enough;
}

bool recorded_command::should_stop() {
    const bool is_over = end_.has_passed();
    return is_interrupted() || is_over || (child_ && child_->has_ended());
}

void recorded_command::wait() {
    if (!child_ || child_->has_ended() || is_interrupted()) {
        return;
    }
    print_note("The recording has ended; waiting for '{}', process {}.", child_->name(),
               child_->pid());
    while (!child_->has_ended() && !is_interrupted()) {
        std::this_thread::sleep_for(wait_interval);
    }
}

void recorded_command::print_status() {
    if (!child_) {
        return;
    }
    if (!child_->has_ended()) {
        print_diagnostic("elog: '{}' is still running, as process {}.", child_->name(),
                         child_->pid());
    } else if (const std::optional<std::string> complaint = child_->complaint()) {
        print_diagnostic("elog: {}", *complaint);
    }
}

std::optional<int> recorded_command::exit_status() {
    return child_ && child_->has_ended() ? std::optional(child_->exit_status()) : std::nullopt;
}

}  // namespace elog
