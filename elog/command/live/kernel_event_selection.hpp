// SPDX-License-Identifier: MIT
//
// The events of the kernel's tracing that a command line names, as PROVIDER:EVENT.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernel/event_control.hpp"
#include "tracing/kernel_trace_registry.hpp"

namespace elog {

class kernel_event_selection {
  public:
    /// Looks for what matches any of the globs. Throws usage_error for what is none, and failure
    /// if the tracing may not be used.
    explicit kernel_event_selection(const std::vector<std::string>& globs);

    /// By provider, event and what the kernel calls it.
    [[nodiscard]] const std::vector<const kernel_trace_event*>& events() const noexcept {
        return found_;
    }
    /// Throws failure if there is a glob that nothing matches.
    void check_all_matched() const;

  private:
    event_patterns patterns_;
    std::unique_ptr<kernel_trace_registry> all_;
    std::vector<const kernel_trace_event*> found_;
};

/// SYSTEM:EVENT, as a terminal may show it.
[[nodiscard]] std::string shown_name(const eventlog::tracefs::event_name& name);

/// That instance, or the top one if the name is empty. Throws failure.
[[nodiscard]] std::unique_ptr<eventlog::tracefs::event_control> open_control(
    const std::string& instance);

}  // namespace elog
