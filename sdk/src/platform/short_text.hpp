// SPDX-License-Identifier: MIT
//
// Short texts and numbers without the C library's formatting, which takes much stack and is not
// async-signal-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace eventlog::core {

/// A text of fewer than Size characters, as the path of a file.
template <std::size_t Size>
class short_text {
  public:
    short_text& put(const char* part) noexcept {
        while (*part != '\0') {
            put(*part++);
        }
        return *this;
    }
    short_text& put(char character) noexcept {
        if (used_ + 1 < Size) {
            characters_[used_++] = character;
            characters_[used_] = '\0';
        } else {
            is_cut_ = true;
        }
        return *this;
    }
    short_text& put_number(std::uint64_t number, unsigned base = 10) noexcept {
        std::uint64_t unit = 1;
        while (number / unit >= base) {
            unit *= base;
        }
        for (; unit != 0; unit /= base) {
            put("0123456789abcdef"[number / unit % base]);
        }
        return *this;
    }

    [[nodiscard]] const char* c_str() const noexcept { return characters_.data(); }
    [[nodiscard]] const std::array<char, Size>& characters() const noexcept { return characters_; }
    [[nodiscard]] bool is_cut() const noexcept { return is_cut_; }

  private:
    std::array<char, Size> characters_{};
    std::size_t used_ = 0;
    bool is_cut_ = false;
};

/// Reads a decimal number and moves `at` behind it; 0 if there is none. Wraps.
[[nodiscard]] constexpr std::uint64_t take_number(const char*& at) noexcept {
    std::uint64_t number = 0;
    for (; *at >= '0' && *at <= '9'; ++at) {
        number = number * 10 + static_cast<std::uint64_t>(*at - '0');
    }
    return number;
}

}  // namespace eventlog::core
