// SPDX-License-Identifier: MIT
//
// Changes valid binary schemas as a newer writer could have written them, and as an attacker could:
// adds attributes of any kind and content, and recomputes size and hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <eventlog/schema_format.hpp>

namespace eventlog::test {

/// An attribute with a size of its own, which may be wrong.
struct added_attribute {
    std::uint8_t kind = 0;
    std::vector<std::uint8_t> content{};
    std::size_t claimed_size = content.size();
};

inline constexpr std::size_t schema_size_offset = 8;
inline constexpr std::size_t provider_attributes_offset = 15;
inline constexpr std::size_t schema_hash_offset = 16;

/// Stores the size and the hash that a changed schema has.
inline void complete_schema(std::vector<std::uint8_t>& schema) {
    for (std::size_t i = 0; i < 4; ++i) {
        schema[schema_size_offset + i] = static_cast<std::uint8_t>(schema.size() >> (8 * i));
    }
    std::uint64_t hash = schema_format::fnv1a_start;
    for (std::size_t i = 0; i < schema.size(); ++i) {
        const bool is_hash = i >= schema_hash_offset && i < schema_hash_offset + 8;
        hash = schema_format::fnv1a(hash, is_hash ? std::uint8_t{0} : schema[i]);
    }
    for (std::size_t i = 0; i < 8; ++i) {
        schema[schema_hash_offset + i] = static_cast<std::uint8_t>(hash >> (8 * i));
    }
}

/// The places in a valid schema of one provider or event, for its attributes.
struct attribute_place {
    std::size_t count_at = 0;  // of the byte with their number
    std::size_t end = 0;       // behind the last one
};

/// Walks through a valid schema without the reader of the library.
class schema_walk {
  public:
    explicit schema_walk(const std::vector<std::uint8_t>& schema) : schema_(schema) {
        const std::size_t events = number(6, 2);
        const std::size_t enumerations = number(12, 2);
        at_ = schema_format::header_size;
        skip_texts(2);
        places.push_back(skip_attributes(provider_attributes_offset));
        for (std::size_t left = number(14, 1); left != 0; --left) {
            at_ += 1;
            skip_texts(1);
        }
        for (std::size_t i = 0; i < enumerations; ++i) {
            const std::size_t values = number(at_ + 1, 2);
            at_ += 3;
            skip_texts(1);
            for (std::size_t left = values; left != 0; --left) {
                at_ += 8;
                skip_texts(1);
            }
        }
        for (std::size_t i = 0; i < events; ++i) {
            skip_event();
        }
    }

    /// That of the provider, then those of its events.
    std::vector<attribute_place> places{};

  private:
    [[nodiscard]] std::size_t number(std::size_t at, std::size_t size) const {
        std::size_t found = 0;
        for (std::size_t i = 0; i < size; ++i) {
            found |= std::size_t{schema_[at + i]} << (8 * i);
        }
        return found;
    }
    void skip_texts(unsigned count) {
        for (; count != 0; --count) {
            at_ += std::size_t{1} + schema_[at_];
        }
    }
    [[nodiscard]] attribute_place skip_attributes(std::size_t count_at) {
        for (std::size_t left = schema_[count_at]; left != 0; --left) {
            at_ += 3 + number(at_ + 1, 2);
        }
        return {count_at, at_};
    }
    void skip_event() {
        const std::size_t begin = at_;
        at_ += 16;
        skip_texts(3);
        places.push_back(skip_attributes(begin + 3));
        for (std::size_t left = number(begin + 6, 2); left != 0; --left) {
            at_ += 10;
            skip_texts(3);
        }
    }

    const std::vector<std::uint8_t>& schema_;
    std::size_t at_ = 0;
};

/// Adds the attribute behind those of the provider (0) or of an event (1 and so on).
inline void add_attribute(std::vector<std::uint8_t>& schema, std::size_t owner,
                          const added_attribute& added) {
    const attribute_place place = schema_walk(schema).places.at(owner);
    std::vector<std::uint8_t> coded{added.kind, static_cast<std::uint8_t>(added.claimed_size),
                                    static_cast<std::uint8_t>(added.claimed_size >> 8U)};
    coded.insert(coded.end(), added.content.begin(), added.content.end());
    ++schema[place.count_at];
    schema.insert(schema.begin() + static_cast<std::ptrdiff_t>(place.end), coded.begin(),
                  coded.end());
    complete_schema(schema);
}

/// Adds attributes of unknown kinds and different sizes to the provider and to each event. Returns
/// their number.
inline std::size_t add_unknown_attributes(std::vector<std::uint8_t>& schema) {
    const std::size_t owners = schema_walk(schema).places.size();
    std::size_t added = 0;
    for (std::size_t owner = 0; owner < owners; ++owner) {
        for (const std::size_t size : {std::size_t{0}, owner + 1, 300 + owner}) {
            const auto kind = static_cast<std::uint8_t>(255 - added % 100);
            add_attribute(schema, owner, {kind, std::vector<std::uint8_t>(size, 0xee)});
            ++added;
        }
    }
    return added;
}

}  // namespace eventlog::test
