// SPDX-License-Identifier: MIT
//
// One sentence about what went wrong and what to do, without allocation.
#pragma once

#include <array>
#include <cstdarg>
#include <cstdio>

namespace eventlog::core {

class error_text {
  public:
    /// Replaces the sentence; cuts it if it is too long.
    [[gnu::format(printf, 2, 3)]] void set(const char* format, ...) noexcept {
        va_list arguments;
        va_start(arguments, format);
        static_cast<void>(std::vsnprintf(text_.data(), text_.size(), format, arguments));
        va_end(arguments);
    }

    [[nodiscard]] const char* text() const noexcept { return text_.data(); }

  private:
    std::array<char, 256> text_{};
};

}  // namespace eventlog::core
