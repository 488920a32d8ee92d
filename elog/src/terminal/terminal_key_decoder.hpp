// SPDX-License-Identifier: MIT
//
// From the bytes that a terminal sends to keys.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace elog {

enum class key { up, down, left, right, page_up, page_down, home, end, enter, space, escape, quit };

class terminal_key_decoder {
  public:
    /// The keys that these bytes complete, in their order. What means none is left out.
    [[nodiscard]] std::vector<key> take(std::string_view bytes);

    /// Whether a byte has come that begins several keys: the escape key alone sends no more, all
    /// others send the rest at once.
    [[nodiscard]] bool has_pending_bytes() const noexcept { return !pending_.empty(); }

    /// Nothing more has come: what it was then, if anything.
    [[nodiscard]] std::optional<key> finish_sequence();

  private:
    std::string pending_;
};

}  // namespace elog
