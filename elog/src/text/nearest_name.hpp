// SPDX-License-Identifier: MIT
//
// What somebody may have meant whose pattern matches nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace elog {

/// How many characters have to be added, left out or replaced in a pattern with * and ? until it
/// matches the name.
[[nodiscard]] std::size_t match_distance(std::string_view pattern, std::string_view name);

class nearest_name {
  public:
    /// PROVIDER[:EVENT][@LEVEL][/KEYWORD,...][#]; only the names are looked at.
    explicit nearest_name(std::string_view pattern);

    /// An event that there is.
    void add_candidate(std::string_view provider, std::string_view event);

    /// PROVIDER or PROVIDER:EVENT of what is nearest, of equals what was offered first. Nothing if
    /// all that has been offered is quite another name.
    [[nodiscard]] const std::optional<std::string>& found() const noexcept { return found_; }
    /// The names match: it is the conditions behind them that do not.
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
