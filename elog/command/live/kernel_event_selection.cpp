// SPDX-License-Identifier: MIT
#include "live/kernel_event_selection.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/user_error.hpp"
#include "cli/complaints.hpp"
#include "cli/usage_error.hpp"
#include "live/keyword_watch.hpp"
#include "memory/running_providers.hpp"
#include "text/escaped_text.hpp"
#include "tracing/kernel_trace_error.hpp"

namespace elog {
namespace {

namespace tracefs = eventlog::tracefs;

void add_pattern(event_patterns& patterns, const std::string& glob) {
    if (glob.ends_with('#')) {
        throw usage_error("The kernel's tracing has no sessions: remove the # from '{}', and "
                          "select one with --where.",
                          glob);
    }
    as_usage_error([&] { patterns.add(glob); });
}

auto order_of(const kernel_trace_event& event) {
    const event_schema& known = event.schema->events[event.position];
    return std::tie(event.schema->name, known.name, event.kernel_name.system,
                    event.kernel_name.event);
}

}  // namespace

kernel_event_selection::kernel_event_selection(const std::vector<std::string>& globs) {
    for (const std::string& glob : globs) {
        add_pattern(patterns_, glob);
    }
    all_ = std::make_unique<kernel_trace_registry>(patterns_, read_published_schemas);
    found_ = convert_tracefs_errors([&] { return all_->discover(); });
    print_complaints(all_->take_diagnostics());
    std::sort(found_.begin(), found_.end(),
              [](const auto* one, const auto* other) { return order_of(*one) < order_of(*other); });
}

void kernel_event_selection::check_all_matched() const {
    check_keywords(
        patterns_, [this] { return published(); }, "", without_keywords::is_unknown);
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
        if (!all_->patterns_matched()[i]) {
            throw user_error(
                "The kernel has no event that matches '{}'. Start its program, or "
                "register it with elog kernel register; see the events with: elog kernel list",
                patterns_[i]);
        }
    }
}

/// The providers of events that have a published schema.
std::vector<provider_instance> kernel_event_selection::published() const {
    std::vector<provider_instance> providers;
    for (const kernel_trace_event* event : found_) {
        if (event->is_published) {
            providers.emplace_back().schema = *event->schema;
        }
    }
    return providers;
}

std::string shown_name(const tracefs::event_name& name) {
    fmt::memory_buffer shown;
    append_visible(shown, name.system + ":" + name.event);
    return {shown.data(), shown.size()};
}

std::unique_ptr<tracefs::event_control> open_control(const std::string& instance) {
    return convert_tracefs_errors(
        [&] { return std::make_unique<tracefs::event_control>(instance); });
}

}  // namespace elog
