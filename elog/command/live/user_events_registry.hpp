// SPDX-License-Identifier: MIT
//
// Events in the kernel's user_events without a program, which an administrator registers and
// removes.
//
// A program that starts later registers its events with the same text, and so uses these, enabled
// or not. See user_events_abi.hpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernel/user_events_description.hpp"
#include "platform/unique_fd.hpp"

namespace elog {

class user_events_registry {
  public:
    /// Throws user_error if the kernel has no user_events, or the user has no access.
    user_events_registry();

    struct registered {
        std::string name;  // SYSTEM:EVENT, the name in perf and trace-cmd
        bool existed = false;
    };
    /// Registers the event that `text` describes, until it is removed or the machine reboots.
    /// Throws user_error.
    [[nodiscard]] registered add(eventlog::core::user_events_description& text) const;

    /// Names of all events of eventlog, without their system, each once.
    [[nodiscard]] std::vector<std::string> names() const;

    /// Removes all events with that name. Throws user_error.
    void remove(const std::string& name) const;

  private:
    [[nodiscard]] std::vector<std::string> names_of_system(const char* system) const;
    [[nodiscard]] int register_with_flags(std::uint16_t flags, const char* description,
                                          registered& result) const;

    eventlog::core::unique_fd file_;
    bool in_system_ = false;  // new events are in the system eventlog
    std::filesystem::path tracefs_;
};

}  // namespace elog
