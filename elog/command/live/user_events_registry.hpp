// SPDX-License-Identifier: MIT
//
// Events in the kernel's user_events that are there without a program: an administrator registers
// and removes them. A program that starts later finds its events there, enabled or not, because it
// registers them with the same text. See user_events_abi.hpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernel/user_events_description.hpp"
#include "platform/unique_fd.hpp"

namespace elog {

class user_events_registry {
  public:
    /// Throws failure if the kernel has none, or the user may not.
    user_events_registry();

    struct registered {
        std::string name;  // SYSTEM:EVENT, as perf and trace-cmd know it
        bool existed = false;
    };
    /// Registers the event that `text` describes, to stay until it is removed or the machine is
    /// started anew. Throws failure.
    [[nodiscard]] registered add(eventlog::core::user_events_description& text) const;

    /// Names of all events of ours, without their system, each once.
    [[nodiscard]] std::vector<std::string> names() const;

    /// Removes all events of that name. Throws failure.
    void remove(const std::string& name) const;

  private:
    [[nodiscard]] std::vector<std::string> names_of_system(const char* system) const;
    [[nodiscard]] int register_with_flags(std::uint16_t flags, const char* description,
                                          registered& result) const;

    eventlog::core::unique_fd file_;
    bool in_system_ = false;  // new ones are in the system eventlog
    std::filesystem::path tracefs_;
};

}  // namespace elog
