// SPDX-License-Identifier: MIT
//
// The events of the kernel's tracing that match patterns of the command line.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernel/event_control.hpp"
#include "tracing/kernel_trace_registry.hpp"

namespace elog {

class kernel_event_selection {
  public:
    /// Finds all matching events. Throws usage_error for an invalid pattern, and user_error if the
    /// tracing is not accessible.
    explicit kernel_event_selection(const std::vector<std::string>& globs);

    /// Sorted by provider, event and kernel name.
    [[nodiscard]] const std::vector<const kernel_trace_event*>& events() const noexcept {
        return found_;
    }
    /// Throws user_error if a pattern matches nothing, or has a keyword that no provider has.
    void check_all_matched() const;

  private:
    [[nodiscard]] std::vector<provider_instance> published() const;

    event_patterns patterns_;
    std::unique_ptr<kernel_trace_registry> all_;
    std::vector<const kernel_trace_event*> found_;
};

/// SYSTEM:EVENT, escaped for a terminal.
[[nodiscard]] std::string shown_name(const eventlog::tracefs::event_name& name);

/// Opens that instance, or the top one if the name is empty. Throws user_error.
[[nodiscard]] std::unique_ptr<eventlog::tracefs::event_control> open_control(
    const std::string& instance);

}  // namespace elog
