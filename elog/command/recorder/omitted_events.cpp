// SPDX-License-Identifier: MIT
#include "recorder/omitted_events.hpp"

#include <cstdint>
#include <map>
#include <vector>

#include <fmt/core.h>

namespace elog {
namespace {

/// The same members for all events together and for one of them.
template <class Counts>
json_object reasons_of(const Counts& counts) {
    return json_object().add("sampling", counts.by_sampling).add("max_rate", counts.by_rate);
}

}  // namespace

std::string omitted_text(const sampling_report& report) {
    std::map<std::uint64_t, std::uint64_t> by_every;
    for (const sampled_event& each : report.events) {
        if (each.every > 1) {
            add_saturating(by_every[each.every], each.by_sampling);
        }
    }
    std::uint64_t all = report.omitted();
    add_saturating(all, report.kept);
    std::string text = fmt::format("{} events:", all);
    for (const auto& [every, omitted] : by_every) {
        text += fmt::format(" {} omitted (1/{}),", omitted, every);
    }
    if (report.max_rate != 0) {
        text += fmt::format(" {} omitted (--max-rate {}),", report.by_rate, report.max_rate);
    }
    if (by_every.empty() && report.max_rate == 0) {
        text += " 0 omitted,";  // all events match a pattern without a rate
    }
    return text + fmt::format(" {} kept", report.kept);
}

std::vector<std::string> note_lines(const recording_notes& notes) {
    std::vector<std::string> lines;
    if (notes.omitted) {
        lines.push_back("when recorded, " + omitted_text(*notes.omitted));
    }
    if (notes.scope && notes.scope->outside != 0) {
        lines.push_back(fmt::format("{} events of processes outside of the command were left out",
                                    notes.scope->outside));
    }
    if (notes.scope && notes.scope->undecided != 0) {
        lines.push_back(
            fmt::format("{} events are of {} processes that may have been outside of the command",
                        notes.scope->undecided, notes.scope->undecided_processes));
    }
    return lines;
}

void add_omitted(json_object& object, const sampling_report& report) {
    std::vector<json_object> events;
    for (const sampled_event& each : report.events) {
        if (each.omitted() == 0) {
            continue;
        }
        events.emplace_back()
            .add("provider", each.provider)
            .add("event", each.event)
            .add("every", each.every)
            .add("kept", each.kept)
            .add("omitted", each.omitted())
            .add("omitted_by_reason", reasons_of(each));
    }
    object.add("omitted", report.omitted())
        .add("omitted_by_reason", reasons_of(report))
        .add("omitted_by_event", events);
}

}  // namespace elog
