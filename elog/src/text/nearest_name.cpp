// SPDX-License-Identifier: MIT
#include "text/nearest_name.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace elog {
namespace {

/// A name is similar if it differs in at most one character plus a third of the pattern.
std::size_t tolerance_for(std::string_view names) {
    const auto literal = std::count_if(names.begin(), names.end(),
                                       [](char c) { return c != '*' && c != '?' && c != ':'; });
    return 1 + static_cast<std::size_t>(literal) / 3;
}

}  // namespace

std::size_t match_distance(std::string_view pattern, std::string_view name) {
    // Distance of the pattern's part so far to each prefix of the name.
    std::vector<std::size_t> row(name.size() + 1);
    for (std::size_t i = 0; i < row.size(); ++i) {
        row[i] = i;
    }
    for (const char c : pattern) {
        std::size_t diagonal = row[0];
        row[0] += c == '*' ? 0 : 1;
        for (std::size_t i = 1; i < row.size(); ++i) {
            const std::size_t above = row[i];
            if (c == '*') {
                row[i] = std::min(above, row[i - 1]);
            } else {
                const std::size_t replaced = c == '?' || c == name[i - 1] ? 0 : 1;
                row[i] = std::min({above + 1, row[i - 1] + 1, diagonal + replaced});
            }
            diagonal = above;
        }
    }
    return row.back();
}

nearest_name::nearest_name(std::string_view pattern) {
    const std::string_view names = pattern.substr(0, pattern.find_first_of("@/#"));
    const auto colon = names.find(':');
    provider_ = names.substr(0, colon);
    if (colon != std::string_view::npos) {
        event_ = names.substr(colon + 1);
    }
    distance_max_ = tolerance_for(names);
}

void nearest_name::add_candidate(std::string_view provider, std::string_view event) {
    if (event_) {
        consider(match_distance(provider_, provider) + match_distance(*event_, event),
                 fmt::format("{}:{}", provider, event));
        return;
    }
    consider(match_distance(provider_, provider), std::string(provider));
    // The pattern names a provider: an event whose name fits never counts as a match.
    consider(std::max<std::size_t>(match_distance(provider_, event), 1),
             fmt::format("{}:{}", provider, event));
}

void nearest_name::consider(std::size_t distance, std::string name) {
    if (distance <= distance_max_ && (!found_ || distance < distance_)) {
        found_ = std::move(name);
        distance_ = distance;
    }
}

}  // namespace elog
