// SPDX-License-Identifier: MIT
//
// Numbers keys in the order of their first appearance. A hash table with open addressing; the seed
// is random, so that keys cannot be constructed to collide.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace elog {

class key_table {
  public:
    static constexpr std::size_t none = SIZE_MAX;

    key_table();

    [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }
    /// Total size of the keys.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_.size(); }

    /// The key's number; `none` if it has not been added.
    [[nodiscard]] std::size_t find(std::string_view key) const noexcept;
    /// Adds a new key and returns its number.
    std::size_t add(std::string_view key);
    void clear() noexcept;

  private:
    struct stored_key {
        std::uint64_t hash = 0;
        std::size_t begin = 0;
        std::size_t size = 0;
    };

    [[nodiscard]] std::uint64_t hash_of(std::string_view key) const noexcept;
    void insert(std::uint64_t hash, std::uint32_t number) noexcept;

    std::uint64_t seed_;
    std::string bytes_;
    std::vector<stored_key> keys_;
    std::vector<std::uint32_t> slots_;  // number + 1; 0: free. A power of two, at most half full
};

}  // namespace elog
