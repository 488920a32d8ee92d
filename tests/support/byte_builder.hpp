// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace eventlog::test {

/// Assembles the bytes of a file number by number.
class byte_builder {
  public:
    template <class Number>
    byte_builder& add(Number number) {
        const std::size_t at = bytes_.size();
        bytes_.resize(at + sizeof number);
        std::memcpy(bytes_.data() + at, &number, sizeof number);
        return *this;
    }
    byte_builder& add_bytes(std::span<const std::uint8_t> added) {
        bytes_.insert(bytes_.end(), added.begin(), added.end());
        return *this;
    }
    /// Without a terminating NUL.
    byte_builder& add_text(std::string_view text) {
        bytes_.insert(bytes_.end(), text.begin(), text.end());
        return *this;
    }
    byte_builder& add_zeros(std::size_t count) {
        bytes_.resize(bytes_.size() + count);
        return *this;
    }
    byte_builder& pad_to(std::size_t multiple) {
        return add_zeros((multiple - bytes_.size() % multiple) % multiple);
    }

    /// Overwrites the bytes at an offset.
    template <class Number>
    void put(std::size_t at, Number number) {
        std::memcpy(bytes_.data() + at, &number, sizeof number);
    }

    [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
    [[nodiscard]] const std::vector<std::uint8_t>& bytes() const noexcept { return bytes_; }

  private:
    std::vector<std::uint8_t> bytes_;
};

}  // namespace eventlog::test
