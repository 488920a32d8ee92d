// SPDX-License-Identifier: MIT
#include "live/kernel_choice.hpp"

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "base/failure.hpp"
#include "cli/usage_failure.hpp"
#include "live/tracing.hpp"
#include "terminal/tell.hpp"
#include "text/escaped_text.hpp"
#include "tracing/traced_failure.hpp"

namespace elog {
namespace {

namespace tracefs = eventlog::tracefs;

void add_pattern(event_patterns& patterns, const std::string& glob) {
    if (glob.ends_with('#')) {
        throw usage_failure("The kernel's tracing knows no sessions: leave the # of '{}' away, and "
                            "pick one with --where.",
                            glob);
    }
    try {
        patterns.add(glob);
    } catch (const failure& mistake) {
        throw usage_failure("{}", mistake.what());
    }
}

auto order_of(const traced_event& event) {
    const event_schema& known = event.schema->events[event.position];
    return std::tie(event.schema->name, known.name, event.kernel_name.system,
                    event.kernel_name.event);
}

}  // namespace

kernel_choice::kernel_choice(const std::vector<std::string>& globs) {
    for (const std::string& glob : globs) {
        add_pattern(patterns_, glob);
    }
    all_ = std::make_unique<traced_events>(patterns_, read_published);
    found_ = translated([&] { return all_->look(); });
    for (const std::string& complaint : all_->take_complaints()) {
        tell("elog: {}", complaint);
    }
    std::sort(found_.begin(), found_.end(),
              [](const auto* one, const auto* other) { return order_of(*one) < order_of(*other); });
}

void kernel_choice::check_met() const {
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
        if (!all_->patterns_met()[i]) {
            throw failure("The kernel has no event that matches '{}'. Start its program, or make "
                          "it known with elog register; see what there is with: elog events",
                          patterns_[i]);
        }
    }
}

std::string shown_name(const tracefs::event_name& name) {
    fmt::memory_buffer shown;
    append_visible(shown, name.system + ":" + name.event);
    return {shown.data(), shown.size()};
}

std::unique_ptr<tracefs::event_control> open_control(const std::string& instance) {
    return translated([&] { return std::make_unique<tracefs::event_control>(instance); });
}

}  // namespace elog
