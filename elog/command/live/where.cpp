// SPDX-License-Identifier: MIT
#include "live/where.hpp"

#include <chrono>
#include <utility>

#include "cli/usage_error.hpp"
#include "file/file_reader.hpp"
#include "predicate/narrowed_patterns.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {
namespace {

template <class Asked>
void add_provider(Asked* asked, const provider_instance& provider) {
    try {
        if (asked != nullptr) {
            asked->add(provider);
        }
    } catch (
        const user_error&) {  // check_types reports it unless another version has suitable types
    }
}

void add_provider(record_filter* filter, aggregator* computed, const provider_instance& provider) {
    add_provider(filter, provider);
    add_provider(computed, provider);
}

/// Runs a check on both; a failure is a mistake on the command line.
template <class Check>
void check_both(const record_filter* filter, const aggregator* computed, const Check& check) {
    as_usage_error([&] {
        if (filter != nullptr) {
            check(*filter);
        }
        if (computed != nullptr) {
            check(*computed);
        }
    });
}

void check_what_was_added(const record_filter* filter, const aggregator* computed,
                          bool all_are_known) {
    check_both(filter, computed, [](const auto& asked) { asked.check_types(); });
    if (all_are_known) {
        check_names(filter, computed);
    }
}

// Limits the output for a program whose provider changes again and again.
constexpr std::size_t sentences_max = 20;

void print_type_mismatches(const type_mismatches& events) {
    std::size_t printed = 0;
    for (const std::string& sentence : events.sentences()) {
        if (printed == sentences_max) {
            print_diagnostic("elog: Other events were left out for such reasons, too; {} in all.",
                             events.counted());
            return;
        }
        print_diagnostic("elog: {}", sentence);
        ++printed;
    }
}

}  // namespace

std::unique_ptr<record_filter> make_filter(const std::optional<std::string>& where,
                                           std::int64_t reference_time, event_choice chosen) {
    if (!where) {
        return nullptr;
    }
    return as_usage_error([&] {
        return std::make_unique<record_filter>(predicate("--where", *where), reference_time,
                                               std::move(chosen));
    });
}

std::unique_ptr<record_filter> make_live_filter(const std::optional<std::string>& where,
                                                const event_patterns& patterns) {
    return make_filter(where, current_time(), matches_any_pattern(patterns));
}

std::unique_ptr<record_filter> make_file_filter(const std::optional<std::string>& where,
                                                const std::string& path) {
    return where ? make_filter(where, recording_start(path)) : nullptr;
}

std::int64_t current_time() {
    const auto since = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
}

void check_names(const record_filter* filter, const aggregator* computed) {
    check_both(filter, computed, [](const auto& asked) { asked.check_names(); });
}

void print_unknown_events(const record_filter* filter) {
    if (filter != nullptr) {
        for (const std::string& sentence : filter->unknown_events()) {
            print_diagnostic("elog: {}", sentence);
        }
    }
}

void add_providers(record_filter* filter, aggregator* computed, const provider_map& providers,
                   bool all_are_known) {
    for (const auto& [id, provider] : providers) {
        add_provider(filter, computed, provider);
    }
    check_what_was_added(filter, computed, all_are_known);
}

void print_type_mismatches(const record_filter* filter, const aggregator* computed) {
    if (filter != nullptr) {
        print_type_mismatches(filter->mismatches());
    }
    if (computed != nullptr) {
        print_type_mismatches(computed->mismatches());
    }
}

void check_found(record_filter* filter, aggregator* computed,
                 const std::vector<provider_instance>& found, bool all_are_known) {
    for (const provider_instance& provider : found) {
        add_provider(filter, computed, provider);
    }
    check_what_was_added(filter, computed, all_are_known);
}

void narrow_subscription(subscription_options& options, const std::optional<std::string>& where,
                         bool all_are_there) {
    if (!where) {
        return;
    }
    const predicate wanted("--where", *where);
    if (!all_are_there && !uses_only_built_ins(wanted)) {
        return;
    }
    if (std::optional<narrowed_patterns> found = narrow(options.patterns, wanted)) {
        options.narrowed = std::move(found->patterns);
        options.narrowed_by = std::move(found->names);
    }
}

void add_found_providers(record_filter& filter, const std::vector<provider_instance>& found) {
    for (const provider_instance& provider : found) {
        add_provider(&filter, provider);
    }
}

event_choice matches_any_pattern(const event_patterns& patterns) {
    return [&patterns](const provider_schema& provider, const event_schema& event) {
        return patterns.matches(provider, event);
    };
}

}  // namespace elog
