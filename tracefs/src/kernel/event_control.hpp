// SPDX-License-Identifier: MIT
//
// Controls events in an instance of the kernel's tracing that belongs to other users: enabling,
// filter and triggers. Changes persist after the process exits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel/error.hpp"
#include "kernel/tracing_folder.hpp"

namespace eventlog::tracefs {

struct event_state {
    bool is_enabled = false;
    std::string filter{};                 // empty: none
    std::vector<std::string> triggers{};  // as printed by the kernel
};

/// Parses the files `enable`, `filter` and `trigger` of an event.
[[nodiscard]] event_state parse_state(std::string_view enable, std::string_view filter,
                                      std::string_view trigger);

class event_control {
  public:
    /// The instance with that name; empty: the top one. Throws error if it does not exist or may
    /// not be used.
    explicit event_control(const std::string& instance);
    ~event_control();
    event_control(const event_control&) = delete;
    event_control& operator=(const event_control&) = delete;

    // All throw error: event_gone if the event no longer exists.
    [[nodiscard]] event_state state_of(const event_name& event) const;
    void enable(const event_name& event, bool enabled) const;
    /// Records only events that match the kernel's filter, see Linux' events.rst; "0": all. If the
    /// kernel refuses it, all events are recorded.
    void filter(const event_name& event, const std::string& condition) const;
    /// Adds a trigger, or removes it if it starts with '!'. Other triggers stay.
    void trigger(const event_name& event, const std::string& command) const;

    /// The folder with the event's files.
    [[nodiscard]] std::string folder_of(const event_name& event) const;

  private:
    [[nodiscard]] std::string read(const event_name& event, const char* file) const;
    [[noreturn]] void refuse(const event_name& event, const std::string& what, int number) const;

    tracefs_instance* instance_ = nullptr;  // nullptr: the top instance
    std::string folder_;
};

}  // namespace eventlog::tracefs
