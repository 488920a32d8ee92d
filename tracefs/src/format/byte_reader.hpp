// SPDX-License-Identifier: MIT
//
// Reads numbers and texts in sequence from the bytes of an untrusted file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "kernel/error.hpp"

namespace eventlog::tracefs {

/// The value that the bytes begin with; zeros if they are too few.
template <class Value>
[[nodiscard]] Value value_in(std::span<const std::uint8_t> bytes) noexcept {
    Value value{};
    if (bytes.size() >= sizeof value) {
        std::memcpy(&value, bytes.data(), sizeof value);
    }
    return value;
}

class byte_reader {
  public:
    /// `of` names the bytes in error messages. The bytes must outlive the reader and its results.
    byte_reader(std::span<const std::uint8_t> bytes, const char* of) noexcept
        : bytes_(bytes), of_(of) {}

    [[nodiscard]] std::size_t left() const noexcept { return bytes_.size() - at_; }
    [[nodiscard]] std::size_t taken() const noexcept { return at_; }

    // All functions below throw error if fewer bytes are left.
    template <class Number>
    [[nodiscard]] Number take() {
        return value_in<Number>(take_bytes(sizeof(Number)));
    }
    [[nodiscard]] std::span<const std::uint8_t> take_bytes(std::uint64_t size) {
        if (size > left()) {
            throw error("{} ends too early: {} bytes are wanted where {} are left. The file is "
                        "damaged; record it again.",
                        of_, size, left());
        }
        const auto taken = bytes_.subspan(at_, size);
        at_ += size;
        return taken;
    }
    void skip(std::uint64_t size) { static_cast<void>(take_bytes(size)); }
    /// Up to a NUL, which is consumed.
    [[nodiscard]] std::string_view take_text() {
        const auto rest = bytes_.subspan(at_);
        const auto end = std::find(rest.begin(), rest.end(), std::uint8_t{0});
        const auto size = static_cast<std::size_t>(end - rest.begin());
        skip(std::uint64_t{size} + 1);
        return text_of(rest.first(size));
    }

    [[nodiscard]] static std::string_view text_of(std::span<const std::uint8_t> bytes) noexcept {
        return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    }

  private:
    std::span<const std::uint8_t> bytes_;
    std::size_t at_ = 0;
    const char* of_;
};

}  // namespace eventlog::tracefs
