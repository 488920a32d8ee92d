// SPDX-License-Identifier: MIT
#include "aggregate/key_table.hpp"

#include <sys/random.h>

#include <algorithm>
#include <cstring>

#include "text/wide_integer.hpp"

namespace elog {
namespace {

constexpr std::size_t slots_min = 64;

std::uint64_t random_seed() noexcept {
    std::uint64_t seed = 0;
    // Without randomness, hostile keys can slow the table down; results stay correct.
    static_cast<void>(!::getrandom(&seed, sizeof seed, GRND_NONBLOCK));
    return seed;
}

/// Both halves of the product depend on all bits of both factors.
std::uint64_t mix(std::uint64_t one, std::uint64_t other) noexcept {
    const wide_unsigned product = wide_unsigned{one} * other;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

}  // namespace

key_table::key_table() : seed_(random_seed()), slots_(slots_min, 0) {}

std::uint64_t key_table::hash_of(std::string_view key) const noexcept {
    constexpr std::uint64_t odd = 0x9e3779b97f4a7c15U;
    constexpr std::uint64_t other_odd = 0xd6e8feb86659fd93U;
    std::uint64_t hash = seed_ ^ key.size();
    while (!key.empty()) {
        std::uint64_t word = 0;
        const std::size_t size = std::min(key.size(), sizeof word);
        std::memcpy(&word, key.data(), size);
        hash = mix(hash ^ odd, word ^ other_odd ^ seed_);
        key.remove_prefix(size);
    }
    return mix(hash ^ other_odd, odd);
}

std::size_t key_table::find(std::string_view key) const noexcept {
    const std::uint64_t hash = hash_of(key);
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t slot = hash & mask; slots_[slot] != 0; slot = (slot + 1) & mask) {
        const std::size_t number = slots_[slot] - 1;
        const stored_key& at = keys_[number];
        if (at.hash == hash && std::string_view(bytes_.data() + at.begin, at.size) == key) {
            return number;
        }
    }
    return none;
}

void key_table::insert(std::uint64_t hash, std::uint32_t number) noexcept {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash & mask;
    while (slots_[slot] != 0) {
        slot = (slot + 1) & mask;
    }
    slots_[slot] = number + 1;
}

std::size_t key_table::add(std::string_view key) {
    const std::size_t number = keys_.size();
    keys_.push_back({hash_of(key), bytes_.size(), key.size()});
    bytes_ += key;
    if (keys_.size() * 2 > slots_.size()) {
        slots_.assign(slots_.size() * 2, 0);
        for (std::size_t i = 0; i < number; ++i) {
            insert(keys_[i].hash, static_cast<std::uint32_t>(i));
        }
    }
    insert(keys_[number].hash, static_cast<std::uint32_t>(number));
    return number;
}

void key_table::clear() noexcept {
    bytes_.clear();
    keys_.clear();
    std::fill(slots_.begin(), slots_.end(), 0);
}

}  // namespace elog
