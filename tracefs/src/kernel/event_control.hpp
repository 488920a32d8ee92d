// SPDX-License-Identifier: MIT
//
// What an instance of the kernel's tracing that is not ours does with events: whether it keeps
// them, which of them, and what else happens when one comes. What is changed stays, whatever
// becomes of this process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernel/error.hpp"
#include "kernel/instance.hpp"

namespace eventlog::tracefs {

struct event_state {
    bool is_enabled = false;
    std::string filter{};                 // empty: none
    std::vector<std::string> triggers{};  // as the kernel writes them
};

/// Takes apart what stands in the files `enable`, `filter` and `trigger` of an event.
[[nodiscard]] event_state parse_state(std::string_view enable, std::string_view filter,
                                      std::string_view trigger);

class event_control {
  public:
    /// Of the instance of that name; empty: the top one. Throws error if there is none, or it may
    /// not be used.
    explicit event_control(const std::string& instance);
    ~event_control();
    event_control(const event_control&) = delete;
    event_control& operator=(const event_control&) = delete;

    // All throw error: event_gone if there is no such event any more.
    [[nodiscard]] event_state state_of(const event_name& event) const;
    void enable(const event_name& event, bool enabled) const;
    /// Only events for which the kernel's filter is true, see Linux' events.rst; "0": all, as if
    /// the kernel refuses it.
    void filter(const event_name& event, const std::string& condition) const;
    /// Adds one; with '!' in front of it that one goes. Others stay.
    void trigger(const event_name& event, const std::string& command) const;

    /// Where the event's files are.
    [[nodiscard]] std::string folder_of(const event_name& event) const;

  private:
    [[nodiscard]] std::string read(const event_name& event, const char* file) const;
    [[noreturn]] void refuse(const event_name& event, const std::string& what, int number) const;

    tracefs_instance* instance_ = nullptr;  // the top one has none
    std::string folder_;
};

}  // namespace eventlog::tracefs
