// SPDX-License-Identifier: MIT
//
// What a user asks for: patterns PROVIDER:EVENT, with * and ?.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace elog {

class event_patterns {
  public:
    /// Adds a pattern; "tcp" stands for "tcp:*". Throws failure for what cannot match any event.
    void add(std::string_view pattern);

    [[nodiscard]] bool empty() const noexcept { return patterns_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return patterns_.size(); }
    [[nodiscard]] const std::string& operator[](std::size_t index) const noexcept {
        return patterns_[index];
    }

    [[nodiscard]] bool matches(std::string_view provider, std::string_view event) const noexcept;
    [[nodiscard]] bool matches(std::size_t index, std::string_view provider,
                               std::string_view event) const noexcept;

    /// As a subscription keeps them: each ended by NUL.
    [[nodiscard]] std::string packed() const;

  private:
    std::vector<std::string> patterns_;
};

}  // namespace elog
