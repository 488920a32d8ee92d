// SPDX-License-Identifier: MIT
#include "schema/stored_filter.hpp"

#include <linux/eventlog.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <system_error>

#include "base/user_error.hpp"
#include "schema/filter.hpp"

namespace elog {
namespace {

constexpr char every_mark = '%';
constexpr char rate_mark = '<';

/// The number behind an entry's mark; 0 if it is none from 1 to `most`.
std::uint64_t number_of(std::string_view entry, std::uint64_t most) noexcept {
    entry.remove_prefix(1);
    std::uint64_t number = 0;
    const char* const end = entry.data() + entry.size();
    const auto [after, error] = std::from_chars(entry.data(), end, number);
    return error == std::errc{} && after == end && number <= most ? number : 0;
}

void add_entry(stored_filter& filter, std::string_view entry) {
    sampling_options& sampling = filter.sampling;
    if (eventlog::core::is_process_entry(entry)) {
        filter.processes.emplace_back(entry);
    } else if (entry.starts_with(every_mark)) {
        const std::uint64_t every = number_of(entry, sampling_every_max);
        if (every != 0 && !sampling.every.empty()) {
            sampling.every.back() = every;
        }
    } else if (entry.starts_with(rate_mark)) {
        sampling.max_rate = number_of(entry, max_rate_max);
    } else if (!entry.empty()) {
        filter.rules.emplace_back(entry);
        sampling.every.push_back(1);
    }
}

}  // namespace

std::string pack_filter(const event_patterns& patterns, const sampling_options& sampling) {
    const std::string packed = patterns.packed();
    std::string list;
    std::size_t begin = 0;
    // The rules are in front of the processes.
    for (std::size_t rule = 0; rule < patterns.size(); ++rule) {
        const std::size_t end = packed.find('\0', begin) + 1;
        list.append(packed, begin, end - begin);
        begin = end;
        if (rule < sampling.every.size() && sampling.every[rule] > 1) {
            list += fmt::format("{}{}", every_mark, sampling.every[rule]);
            list += '\0';
        }
    }
    list.append(packed, begin);
    if (sampling.max_rate != 0) {
        list += fmt::format("{}{}", rate_mark, sampling.max_rate);
        list += '\0';
    }
    // patterns_of() needs one character for each rule.
    if (list.size() + patterns.size() > EVENTLOG_FILTER_SIZE_MAX) {
        throw user_error("The patterns and their rates are longer than {} characters together. Use "
                         "* to select the same events with fewer.",
                         EVENTLOG_FILTER_SIZE_MAX);
    }
    return list;
}

stored_filter unpack_filter(std::string_view filter) {
    stored_filter found;
    for (std::size_t begin = 0; begin < filter.size();) {
        const std::size_t end = std::min(filter.find('\0', begin), filter.size());
        add_entry(found, filter.substr(begin, end - begin));
        begin = end + 1;
    }
    return found;
}

event_patterns patterns_of(const stored_filter& filter, std::span<const std::uint64_t> sessions) {
    event_patterns patterns;
    // Without patterns no event is sampled. pack_filter() makes no list that is too long for this.
    static_cast<void>(patterns.replace(filter.rules));
    for (const std::uint64_t session :
         sessions.first(std::min<std::size_t>(sessions.size(), EVENTLOG_SESSIONS_MAX))) {
        patterns.add_session(session);
    }
    return patterns;
}

std::vector<std::string> sampled_rules(const stored_filter& filter) {
    std::vector<std::string> shown = filter.rules;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        if (filter.sampling.every[i] > 1) {
            shown[i] += fmt::format(" 1/{}", filter.sampling.every[i]);
        }
    }
    return shown;
}

}  // namespace elog
