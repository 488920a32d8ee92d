// SPDX-License-Identifier: MIT
//
// A message for the user: what went wrong and what to do about it. Fixed size, no allocation.
#pragma once

#include <array>
#include <cstdarg>
#include <cstdio>

namespace eventlog::core {

class error_text {
  public:
    /// Replaces the message; truncates it to the buffer.
    [[gnu::format(printf, 2, 3)]] void set(const char* format, ...) noexcept {
        va_list arguments;
        va_start(arguments, format);
        set_from(format, arguments);
        va_end(arguments);
    }
    [[gnu::format(printf, 2, 0)]] void set_from(const char* format, va_list arguments) noexcept {
        static_cast<void>(std::vsnprintf(text_.data(), text_.size(), format, arguments));
    }

    [[nodiscard]] const char* text() const noexcept { return text_.data(); }

  private:
    std::array<char, 256> text_{};
};

}  // namespace eventlog::core
