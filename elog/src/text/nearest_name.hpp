// SPDX-License-Identifier: MIT
//
// Finds the event whose name is closest to a pattern that matches no event.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace elog {

/// The number of characters to insert, remove or replace in a pattern with * and ? until it matches
/// the name.
[[nodiscard]] std::size_t match_distance(std::string_view pattern, std::string_view name);

class nearest_name {
  public:
    /// PROVIDER[:EVENT][@LEVEL][/KEYWORD,...][#]; only the names are compared. The pattern must
    /// outlive this.
    explicit nearest_name(std::string_view pattern);

    /// Compares an existing event with the pattern.
    void add_candidate(std::string_view provider, std::string_view event);

    /// PROVIDER or PROVIDER:EVENT of the closest candidate, of equals the first. nullopt if none is
    /// similar.
    [[nodiscard]] const std::optional<std::string>& found() const noexcept { return found_; }
    /// Whether the names match, so that only the conditions behind them do not.
    [[nodiscard]] bool is_match() const noexcept { return found_ && distance_ == 0; }

  private:
    void consider(std::size_t distance, std::string name);

    std::string_view provider_;
    std::optional<std::string_view> event_;
    std::optional<std::string> found_;
    std::size_t distance_ = 0;
    std::size_t distance_max_ = 0;
};

}  // namespace elog
