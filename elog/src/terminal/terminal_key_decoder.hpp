// SPDX-License-Identifier: MIT
//
// Decodes the bytes that a terminal sends into keys.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace elog {

enum class key {
    up,
    down,
    left,
    right,
    page_up,
    page_down,
    home,
    end,
    enter,
    space,
    escape,
    pause,
    quit
};

class terminal_key_decoder {
  public:
    /// The keys that these bytes complete, in order. Ignores bytes of unknown keys.
    [[nodiscard]] std::vector<key> take(std::string_view bytes);

    /// Whether an escape byte is pending: alone it is the escape key; the bytes of other keys
    /// follow it at once.
    [[nodiscard]] bool has_pending_bytes() const noexcept { return !pending_.empty(); }

    /// Ends the pending sequence, because no more bytes have followed: the escape key, or no key.
    [[nodiscard]] std::optional<key> finish_sequence();

  private:
    std::string pending_;
};

}  // namespace elog
