// SPDX-License-Identifier: MIT
#include "top/top_json.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include "text/json_object.hpp"
#include "text/utc_text.hpp"

namespace elog {
namespace {

/// Totals since the beginning, and the rate in the last interval.
json_object& add_flows(json_object& to, const rate_counter& events, const rate_counter& bytes) {
    return to.add("events", events.total())
        .add("events_per_second", events.rate())
        .add("bytes", bytes.total());
}

json_object json_of(const top_event& event) {
    json_object shown;
    shown.add("event", event.name).add("level", name_of(event.severity));
    add_flows(shown, event.events, event.bytes);
    return shown;
}

json_object json_of(const top_provider& provider) {
    json_object shown;
    shown.add("provider", provider.name).add("process_count", provider.processes);
    add_flows(shown, provider.events, provider.bytes).add("lost", provider.lost.total());
    std::vector<json_object> events;
    for (const top_event& event : provider.seen) {
        events.push_back(json_of(event));
    }
    return shown.add("by_event", events);
}

}  // namespace

std::string format_top_json(const top_statistics& counted, std::int64_t time,
                            const recording_summary& so_far) {
    json_object shown = versioned_object();
    shown.add("time", as_utc_text(time))
        .add("duration_ns", static_cast<std::int64_t>(std::llround(counted.seconds() * 1e9)));
    add_flows(shown, counted.events(), counted.bytes())
        .add("lost", counted.lost().total())
        .add("unknown", counted.unrecognized())
        .add("providers_refused", so_far.providers_refused)
        .add("counts_overwritten", so_far.has_impossible_counts)
        .add("losses_incomplete", so_far.has_unread_losses);
    std::vector<json_object> providers;
    for (const top_provider& provider : counted.providers()) {
        providers.push_back(json_of(provider));
    }
    return shown.add("by_provider", providers).line();
}

}  // namespace elog
