// SPDX-License-Identifier: MIT
#include "discovery/catalogue.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "cli/usage_error.hpp"
#include "discovery/kernel_providers.hpp"
#include "memory/running_directory.hpp"
#include "memory/running_providers.hpp"
#include "ring/gate_layout.hpp"
#include "schema/filter.hpp"
#include "schema/unknown_keywords.hpp"
#include "text/nearest_name.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;

/// The rule of a pattern, in the form in which a subscription stores it.
event_patterns make_rule(const std::string& pattern) {
    event_patterns patterns;
    as_usage_error([&] { patterns.add(pattern.empty() ? "*" : pattern); });
    return patterns;
}

/// The events that match the rule, some of them only in some sessions.
std::vector<catalogue_event> find_requested(const provider_schema& provider,
                                            const std::string& rule) {
    std::vector<catalogue_event> matching;
    core::schema_reader schema;
    core::error_text ignored;
    if (!schema.open(provider.binary, ignored)) {
        return matching;
    }
    const core::keyword_names keywords(schema);
    core::event_description event;
    while (schema.next_event(event)) {
        if (core::judge(rule, provider.name, event, keywords) != core::verdict::unwanted) {
            matching.push_back({event.id, {}});
        }
    }
    return matching;
}

/// The events of a provider that match a subscription.
using result_by_event = std::map<std::size_t, core::verdict>;

result_by_event find_wanted(const provider_schema& provider, const std::string& filter) {
    result_by_event wanted;
    core::schema_reader schema;
    core::error_text ignored;
    if (schema.open(provider.binary, ignored)) {
        core::for_each_wanted(schema, filter,
                              [&](std::uint16_t id, core::verdict found) { wanted[id] = found; });
    }
    return wanted;
}

void add_counters(eventlog_route_counters& sums, const eventlog_route_counters& added) {
    sums.written += added.written;
    sums.truncated += added.truncated;
    sums.lost_full += added.lost_full;
    sums.lost_too_large += added.lost_too_large;
    sums.lost_busy += added.lost_busy;
    sums.lost_unattached += added.lost_unattached;
    sums.lost_refused += added.lost_refused;
}

class collector {
  public:
    collector(std::string rule, std::vector<running_subscription> subscriptions)
        : rule_(std::move(rule)) {
        found_.subscriptions = std::move(subscriptions);
    }

    /// Precondition: the providers are added in the order of their names.
    void add(const running_provider& added) {
        catalogue_provider* group = find_group(added.schema);
        if (group == nullptr) {
            group = start_group(added.schema);
        }
        if (group == nullptr) {
            return;
        }
        add_process(*group, added);
        for (catalogue_event& event : group->events) {
            add_listeners(event, added);
        }
    }

    /// Returns the catalogue, with listeners sorted by slot.
    [[nodiscard]] catalogue take() {
        for (catalogue_provider& provider : found_.providers) {
            for (catalogue_event& event : provider.events) {
                std::sort(event.listeners.begin(), event.listeners.end(),
                          [](const auto& a, const auto& b) { return a.slot < b.slot; });
            }
        }
        return std::move(found_);
    }

  private:
    catalogue_provider* find_group(const provider_schema& schema) {
        // Providers arrive sorted by name: only the last ones have to be searched, of thousands.
        for (std::size_t i = found_.providers.size(); i-- > 0;) {
            catalogue_provider& known = found_.providers[i];
            if (known.schema.name != schema.name) {
                return nullptr;
            }
            if (known.schema.binary == schema.binary) {
                select_results(schema);
                return &known;
            }
        }
        return nullptr;
    }

    /// nullptr if no event matches the rule.
    catalogue_provider* start_group(const provider_schema& schema) {
        std::vector<catalogue_event> matching = find_requested(schema, rule_);
        if (matching.empty()) {
            return nullptr;
        }
        select_results(schema);
        return &found_.providers.emplace_back(catalogue_provider{schema, {}, std::move(matching)});
    }

    /// Selects the schema of `results_`, which are computed once for all processes with that
    /// schema.
    void select_results(const provider_schema& schema) {
        if (results_schema_ == schema.binary) {
            return;
        }
        results_schema_ = schema.binary;
        results_.clear();
        for (const running_subscription& subscription : found_.subscriptions) {
            results_.push_back(find_wanted(schema, subscription.filter));
        }
    }

    static void add_process(catalogue_provider& group, const running_provider& added) {
        // Providers arrive sorted: the instances of a process follow each other.
        if (!group.processes.empty() && group.processes.back().pid == added.pid) {
            ++group.processes.back().instances;
            add_counters(group.processes.back().counters, added.counters);
            add_counters(group.processes.back().in_kernel, added.in_kernel);
        } else {
            group.processes.push_back(
                {added.pid, added.uid, added.process, 1, added.counters, added.in_kernel});
        }
    }

    /// A slot listens if its bit is in the gate and its rules match: the bit alone may be left over
    /// from a subscription that has ended, and the rules alone may not have reached the program
    /// yet.
    void add_listeners(catalogue_event& event, const running_provider& from) {
        for (std::size_t i = 0; i < results_.size(); ++i) {
            const unsigned slot = found_.subscriptions[i].slot;
            const auto wanted = results_[i].find(event.id);
            if (wanted == results_[i].end() || (from.gate[event.id] >> slot & 1U) == 0) {
                continue;
            }
            auto listener = std::find_if(event.listeners.begin(), event.listeners.end(),
                                         [&](const auto& known) { return known.slot == slot; });
            if (listener == event.listeners.end()) {
                const bool in_sessions = wanted->second == core::verdict::in_session;
                event.listeners.push_back({slot, in_sessions, {}});
                listener = std::prev(event.listeners.end());
            }
            if (listener->pids.empty() || listener->pids.back() != from.pid) {
                listener->pids.push_back(from.pid);
            }
        }
    }

    std::string rule_;
    catalogue found_;
    std::vector<std::uint8_t> results_schema_;
    std::vector<result_by_event> results_;  // by subscription
};

/// Finds the most similar name for a pattern without a match.
void find_nearest(const std::string& pattern, const std::vector<running_provider>& providers,
                  catalogue& found) {
    nearest_name nearest(pattern);
    const provider_schema* before = nullptr;
    for (const running_provider& provider : providers) {
        if (before == nullptr || before->binary != provider.schema.binary) {
            for (const event_schema& event : provider.schema.events) {
                nearest.add_candidate(provider.schema.name, event.name);
            }
        }
        before = &provider.schema;
    }
    found.nearest = nearest.found();
    found.only_conditions_differ = nearest.is_match();
}

}  // namespace

void check_catalogue_pattern(const std::string& pattern) {
    static_cast<void>(make_rule(pattern));
}

catalogue collect_catalogue(const std::string& pattern, catalogue_scope scope) {
    const event_patterns rule = make_rule(pattern);
    const std::optional<core::directory> where = open_running_directory();
    running_providers running = where ? read_providers(*where) : running_providers{};
    // Order: subscriptions are read after the gates. A slot whose bit was in a gate is then either
    // listed or has ended.
    collector into(rule.packed(), where ? read_subscriptions(*where, running.complaints)
                                        : std::vector<running_subscription>{});
    if (scope == catalogue_scope::programs_and_kernel) {
        for (running_provider& provider : find_kernel_providers()) {
            running.providers.push_back(std::move(provider));
        }
        sort_providers(running.providers);
    }
    unknown_keywords keywords(rule);
    for (const running_provider& provider : running.providers) {
        into.add(provider);
        keywords.add(provider.schema);
    }
    catalogue found = into.take();
    found.is_whole = pattern.empty();
    found.unknown_keywords = keywords.take_sentences();
    found.complaints = std::move(running.complaints);
    if (found.providers.empty()) {
        find_nearest(pattern, running.providers, found);
    }
    return found;
}

}  // namespace elog
