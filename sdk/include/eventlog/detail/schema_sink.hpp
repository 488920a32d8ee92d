// SPDX-License-Identifier: MIT
//
// Writes the bytes of a schema at run time, or counts them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <eventlog/schema_format.hpp>

namespace eventlog {
inline namespace v0 {
namespace detail {

/// Writes bytes; without memory it only counts them.
class schema_sink {
  public:
    constexpr schema_sink() = default;
    constexpr explicit schema_sink(std::uint8_t* bytes) : bytes_(bytes) {}

    constexpr void number(std::uint64_t value, std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) {
            byte(static_cast<std::uint8_t>(value >> (8 * i)));
        }
    }

    constexpr void text(std::string_view text) {
        byte(static_cast<std::uint8_t>(text.size()));
        if (bytes_ == nullptr) {
            size_ += text.size();
            return;
        }
        for (const char character : text) {
            byte(static_cast<std::uint8_t>(character));
        }
    }

    [[nodiscard]] constexpr std::size_t size() const { return size_; }

  private:
    constexpr void byte(std::uint8_t value) {
        if (bytes_ != nullptr) {
            bytes_[size_] = value;
        }
        ++size_;
    }

    std::uint8_t* bytes_ = nullptr;
    std::size_t size_ = 0;
};

inline constexpr std::size_t schema_hash_offset = 16;

/// Stores the hash of all `size` bytes in its field, which must be zero before. The last step.
constexpr void put_hash(std::uint8_t* schema, std::size_t size) {
    std::uint64_t hash = schema_format::fnv1a_start;
    for (std::size_t i = 0; i < size; ++i) {
        hash = schema_format::fnv1a(hash, schema[i]);
    }
    for (std::size_t i = 0; i < 8; ++i) {
        schema[schema_hash_offset + i] = static_cast<std::uint8_t>(hash >> (8 * i));
    }
}

}  // namespace detail
}  // namespace v0
}  // namespace eventlog
