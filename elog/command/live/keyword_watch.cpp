// SPDX-License-Identifier: MIT
#include "live/keyword_watch.hpp"

#include <utility>

#include <fmt/core.h>

#include "base/user_error.hpp"
#include "cli/complaints.hpp"

namespace elog {
namespace {

using std::chrono::steady_clock;

// A search reads the files of all running providers.
constexpr std::chrono::seconds search_interval{1};

std::vector<std::string> unknown_in(const event_patterns& patterns, const find_providers& find,
                                    without_keywords meaning = without_keywords::lacks_all) {
    unknown_keywords keywords(patterns, meaning);
    if (keywords.is_undecided()) {
        for (const provider_instance& provider : find()) {
            keywords.add(provider);
        }
    }
    return keywords.take_sentences();
}

}  // namespace

void check_keywords(const event_patterns& patterns, const find_providers& find,
                    std::string_view advice, without_keywords meaning) {
    const std::vector<std::string> sentences = unknown_in(patterns, find, meaning);
    if (!sentences.empty()) {
        throw user_error("{}{}{}", sentences.front(), advice.empty() ? "" : " ", advice);
    }
}

void warn_unknown_keywords(const event_patterns& patterns, const find_providers& find) {
    print_complaints(unknown_in(patterns, find));
}

keyword_watch::keyword_watch(const event_patterns& patterns, record_sink& sink, find_providers find,
                             without_keywords meaning)
    : keywords_(patterns, meaning), sink_(sink), find_(std::move(find)) {}

void keyword_watch::poll() {
    if (!keywords_.is_undecided()) {
        return;
    }
    const steady_clock::time_point now = steady_clock::now();
    if (now >= next_search_) {
        next_search_ = now + search_interval;
        search();
    }
}

void keyword_watch::search() {
    try {
        add(find_());
    } catch (const user_error&) {
        // The directory is locked for long. The next search sees the same providers.
    }
}

void keyword_watch::add(const std::vector<provider_instance>& providers) {
    for (const provider_instance& provider : providers) {
        keywords_.add(provider);
    }
    print_complaints(keywords_.take_sentences());
}

void keyword_watch::take_provider(const provider_instance& provider) {
    if (keywords_.is_undecided()) {
        keywords_.add(provider);
        print_complaints(keywords_.take_sentences());
    }
    sink_.take_provider(provider);
}

}  // namespace elog
