// SPDX-License-Identifier: MIT
#include "kernel/event_control.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "kernel/error.hpp"
#include "kernel/kernel_text.hpp"
#include "kernel/libtracefs.h"

namespace eventlog::tracefs {
namespace {

constexpr std::string_view no_filter = "none";

/// Without surrounding blanks and the end of the line.
std::string_view trimmed(std::string_view line) noexcept {
    constexpr const char* blanks = " \t\n";
    const std::size_t begin = line.find_first_not_of(blanks);
    return begin == std::string_view::npos
               ? std::string_view()
               : line.substr(begin, line.find_last_not_of(blanks) - begin + 1);
}

}  // namespace

event_state parse_state(std::string_view enable, std::string_view filter,
                        std::string_view trigger) {
    event_state state;
    // Followed by a star if a trigger uses the event as well.
    state.is_enabled = enable.starts_with('1');
    const std::string_view condition = trimmed(filter);
    if (condition != no_filter) {
        state.filter = condition;
    }
    while (!trigger.empty()) {
        const std::string_view command = trimmed(take_line(trigger));
        // If there is no trigger, the kernel lists the possible ones in a comment.
        if (!command.empty() && !command.starts_with('#')) {
            state.triggers.emplace_back(command);
        }
    }
    return state;
}

event_control::event_control(const std::string& instance) : folder_(find_tracefs()) {
    if (instance.empty()) {
        return;
    }
    const std::string folder = folder_ + "/instances/" + instance;
    const bool is_name = instance.find('/') == std::string::npos && !instance.starts_with('.');
    const bool is_there = is_name && ::access(folder.c_str(), F_OK) == 0;
    if (is_name && !is_there && errno == EACCES) {
        throw error("Of the kernel's tracing the instance {} may not be used. {}.", instance,
                    use_root);
    }
    if (!is_there) {
        throw error("The kernel's tracing has no instance called '{}'. See which there are with: "
                    "ls {}/instances; make one, as root, with: mkdir {}/instances/NAME",
                    instance, folder_, folder_);
    }
    instance_ = eventlog_tracefs_lookup(instance.c_str());
    if (instance_ == nullptr) {
        throw error("There is no memory for the instance {}. Free some.", instance);
    }
    folder_ = folder;
}

event_control::~event_control() {
    if (instance_ != nullptr) {
        eventlog_tracefs_release(instance_);
    }
}

std::string event_control::folder_of(const event_name& event) const {
    return fmt::format("{}/events/{}/{}", folder_, event.system, event.event);
}

void event_control::refuse(const event_name& event, const std::string& what, int number) const {
    switch (number) {
        case EACCES:
        case EPERM:
            throw error("The kernel's tracing may not be used: {} of {}:{} is refused. {}.", what,
                        event.system, event.event, use_root);
        case ENOENT:
        case ENODEV:
            throw event_gone(event.system, event.event);
        case EEXIST:
            throw error("{}:{} has such a trigger already, in {}. Remove it, "
                        "or use another instance.",
                        event.system, event.event, folder_);
        default:
            throw error("The kernel refuses {} of {}:{}: {}. See what it says about it with: cat "
                        "{}/error_log",
                        what, event.system, event.event, std::strerror(number), folder_);
    }
}

std::string event_control::read(const event_name& event, const char* file) const {
    const std::optional<std::string> text = read_event_file(instance_, event, file);
    if (!text) {
        refuse(event, fmt::format("reading the file {}", file), errno);
    }
    return *text;
}

event_state event_control::state_of(const event_name& event) const {
    return parse_state(read(event, "enable"), read(event, "filter"), read(event, "trigger"));
}

void event_control::enable(const event_name& event, bool enabled) const {
    if (!enable_event(instance_, event, enabled)) {
        refuse(event, enabled ? "the beginning" : "the end", errno);
    }
}

void event_control::filter(const event_name& event, const std::string& condition) const {
    if (!write_event_filter(instance_, event, condition)) {
        refuse(event, fmt::format("the filter '{}'", condition), errno);
    }
}

void event_control::trigger(const event_name& event, const std::string& command) const {
    if (!append_trigger(instance_, event, command)) {
        refuse(event, fmt::format("the trigger '{}'", command), errno);
    }
}

}  // namespace eventlog::tracefs
