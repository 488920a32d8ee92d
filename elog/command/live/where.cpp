// SPDX-License-Identifier: MIT
#include "live/where.hpp"

#include <chrono>
#include <utility>

#include "cli/usage_failure.hpp"
#include "predicate/narrowed_patterns.hpp"
#include "terminal/tell.hpp"

namespace elog {
namespace {

template <class Asked>
void add_provider(Asked* asked, const provider_instance& provider) {
    try {
        if (asked != nullptr) {
            asked->add(provider);
        }
    } catch (const failure&) {  // check_types says so, unless another version has other types
    }
}

void add_provider(record_filter* filter, aggregator* computed, const provider_instance& provider) {
    add_provider(filter, provider);
    add_provider(computed, provider);
}

/// What they find is a mistake of the command line.
template <class Check>
void check_both(const record_filter* filter, const aggregator* computed, const Check& check) {
    try {
        if (filter != nullptr) {
            check(*filter);
        }
        if (computed != nullptr) {
            check(*computed);
        }
    } catch (const failure& error) {
        throw usage_failure("{}", error.what());
    }
}

void check_what_was_added(const record_filter* filter, const aggregator* computed,
                          bool all_are_known) {
    check_both(filter, computed, [](const auto& asked) { asked.check_types(); });
    if (all_are_known) {
        check_names(filter, computed);
    }
}

// A program whose provider changes again and again must not fill the terminal.
constexpr std::size_t sentences_max = 20;

void tell_unsuited(const unsuited_events& events) {
    std::size_t told = 0;
    for (const std::string& sentence : events.sentences()) {
        if (told == sentences_max) {
            tell("elog: Other events were left out for such reasons, too; {} in all.",
                 events.counted());
            return;
        }
        tell("elog: {}", sentence);
        ++told;
    }
}

}  // namespace

std::unique_ptr<record_filter> make_filter(const std::optional<std::string>& where,
                                           std::int64_t reference_time, event_choice chosen) {
    if (!where) {
        return nullptr;
    }
    try {
        return std::make_unique<record_filter>(predicate("--where", *where), reference_time,
                                               std::move(chosen));
    } catch (const failure& error) {
        throw usage_failure("{}", error.what());
    }
}

std::unique_ptr<record_filter> make_file_filter(const std::optional<std::string>& where,
                                                const std::string& path) {
    return where ? make_filter(where, recording_start(path)) : nullptr;
}

std::int64_t present_time() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

void check_names(const record_filter* filter, const aggregator* computed) {
    check_both(filter, computed, [](const auto& asked) { asked.check_names(); });
}

void add_providers(record_filter* filter, aggregator* computed, const provider_map& providers,
                   bool all_are_known) {
    for (const auto& [id, provider] : providers) {
        add_provider(filter, computed, provider);
    }
    check_what_was_added(filter, computed, all_are_known);
}

void tell_unsuited(const record_filter* filter, const aggregator* computed) {
    if (filter != nullptr) {
        tell_unsuited(filter->unsuited());
    }
    if (computed != nullptr) {
        tell_unsuited(computed->unsuited());
    }
}

void check_found(record_filter* filter, aggregator* computed,
                 const std::vector<provider_instance>& found, bool all_are_known) {
    for (const provider_instance& provider : found) {
        add_provider(filter, computed, provider);
    }
    check_what_was_added(filter, computed, all_are_known);
}

void narrow(subscription_options& options, const std::optional<std::string>& where,
            bool all_are_there) {
    if (!where) {
        return;
    }
    const predicate wanted("--where", *where);
    if (!all_are_there && !asks_for_built_ins_alone(wanted)) {
        return;
    }
    if (std::optional<narrowed_patterns> found = narrow(options.patterns, wanted)) {
        options.narrowed = std::move(found->patterns);
        options.narrowed_by = std::move(found->names);
    }
}

void note_found(record_filter& filter, const std::vector<provider_instance>& found) {
    for (const provider_instance& provider : found) {
        add_provider(&filter, provider);
    }
}

event_choice chosen_by(const event_patterns& patterns) {
    return [&patterns](const provider_schema& provider, const event_schema& event) {
        return patterns.matches(provider, event);
    };
}

}  // namespace elog
