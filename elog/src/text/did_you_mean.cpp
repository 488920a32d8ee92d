// SPDX-License-Identifier: MIT
#include "text/did_you_mean.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/core.h>

namespace elog {
namespace {

constexpr std::size_t length_max = 128;

char lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// The number of characters to insert, remove, replace or swap with their neighbor that turns one
/// text into the other. Both have at most length_max characters.
std::size_t edit_distance(std::string_view one, std::string_view other) noexcept {
    std::array<std::array<std::size_t, length_max + 1>, 3> rows{};
    for (std::size_t j = 0; j <= other.size(); ++j) {
        rows[0][j] = j;
    }
    for (std::size_t i = 1; i <= one.size(); ++i) {
        auto& row = rows[i % 3];
        const auto& above = rows[(i + 2) % 3];
        const auto& two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (std::size_t j = 1; j <= other.size(); ++j) {
            const bool same = lower(one[i - 1]) == lower(other[j - 1]);
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0U : 1U)});
            if (i > 1 && j > 1 && lower(one[i - 1]) == lower(other[j - 2]) &&
                lower(one[i - 2]) == lower(other[j - 1])) {
                row[j] = std::min(row[j], two_above[j - 2] + 1);
            }
        }
    }
    return rows[one.size() % 3][other.size()];
}

/// Empty if no name is similar.
std::string_view closest_name(std::string_view wanted,
                              const std::vector<std::string_view>& names) noexcept {
    std::string_view best;
    // Below a third of the characters, and one in short names.
    std::size_t limit = std::max<std::size_t>(1, wanted.size() / 3) + 1;
    if (wanted.size() > length_max) {
        return best;
    }
    for (const std::string_view name : names) {
        // A name that exists was rejected for another reason, which a suggestion would hide.
        if (name.size() <= length_max && name != wanted) {
            const std::size_t changes = edit_distance(wanted, name);
            if (changes < limit && changes < std::max(wanted.size(), name.size())) {
                limit = changes;
                best = name;
            }
        }
    }
    return best;
}

}  // namespace

std::string did_you_mean(std::string_view wanted, const std::vector<std::string_view>& names) {
    const std::string_view nearest = closest_name(wanted, names);
    return nearest.empty() ? std::string() : fmt::format(" Did you mean '{}'?", nearest);
}

}  // namespace elog
