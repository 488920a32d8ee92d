// SPDX-License-Identifier: MIT
#include "schema/unknown_keywords.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/core.h>

#include "platform/glob.hpp"
#include "text/did_you_mean.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;

bool has_event(const provider_schema& provider, std::string_view pattern) {
    return std::any_of(
        provider.events.begin(), provider.events.end(),
        [&](const event_schema& event) { return core::glob_match(pattern, event.name); });
}

}  // namespace

unknown_keywords::unknown_keywords(const event_patterns& patterns, without_keywords meaning)
    : meaning_(meaning), processes_(patterns.packed()) {
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        core::filter_rule rule;
        if (!core::parse_rule(patterns[i], rule)) {
            continue;
        }
        for (std::string_view rest = rule.keywords; !rest.empty();) {
            const std::size_t end = std::min(rest.find(','), rest.size());
            // Bits need no name.
            if (end != 0 && !core::is_keyword_mask(rest)) {
                keywords_.push_back({patterns[i], std::string(rule.provider),
                                     std::string(rule.event), std::string(rest.substr(0, end))});
            }
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
}

void unknown_keywords::add(const provider_instance& provider) {
    if (provider.pid == 0 || core::wants_process(processes_, provider.pid, provider.process)) {
        add(provider.schema);
    }
}

void unknown_keywords::add(const provider_schema& provider) {
    if (provider.keywords.empty() && meaning_ == without_keywords::is_unknown) {
        return;
    }
    for (wanted_keyword& wanted : keywords_) {
        if (!wanted.is_known && core::glob_match(wanted.provider, provider.name) &&
            has_event(provider, wanted.event)) {
            compare(wanted, provider);
        }
    }
}

void unknown_keywords::compare(wanted_keyword& wanted, const provider_schema& provider) {
    for (const auto& [bit, name] : provider.keywords) {
        if (core::glob_match(wanted.name, name)) {
            wanted.is_known = true;
            return;
        }
        wanted.alternatives.insert(name);
    }
    wanted.is_lacking = true;
}

bool unknown_keywords::is_undecided() const noexcept {
    return std::any_of(keywords_.begin(), keywords_.end(), [](const wanted_keyword& wanted) {
        return !wanted.is_known && !wanted.is_reported;
    });
}

std::vector<std::string> unknown_keywords::take_sentences() {
    std::vector<std::string> sentences;
    for (wanted_keyword& wanted : keywords_) {
        if (wanted.is_lacking && !wanted.is_known && !wanted.is_reported) {
            wanted.is_reported = true;
            sentences.push_back(sentence_about(wanted));
        }
    }
    return sentences;
}

std::string unknown_keywords::sentence_about(const wanted_keyword& wanted) {
    const std::vector<std::string_view> names(wanted.alternatives.begin(),
                                              wanted.alternatives.end());
    return fmt::format("No running provider that matches '{}' has a keyword '{}'.{} See the "
                       "keywords with: elog list.",
                       wanted.pattern, wanted.name, did_you_mean(wanted.name, names));
}

}  // namespace elog
