// SPDX-License-Identifier: MIT
//
// Decodes compacted records as elog(5) specifies them, one byte after the other: a second decoder,
// with which that of elog is compared. It shares no code with it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

namespace eventlog::test {

struct plain_record {
    std::uint32_t event = 0;
    std::uint32_t thread = 0;
    std::uint64_t time = 0;
    std::uint16_t cpu = 0;
    std::uint16_t flags = 0;
    std::vector<std::uint8_t> payload{};
};

class plain_compact_decoder {
  public:
    plain_compact_decoder(std::span<const std::uint8_t> block, std::uint64_t time,
                          std::uint32_t thread, std::uint16_t cpu)
        : rest_(block), time_(time), thread_(thread), cpu_(cpu) {}

    /// Nothing: the block has ended, or is damaged.
    [[nodiscard]] std::optional<plain_record> next() {
        try {
            while (!rest_.empty()) {
                if (std::optional<plain_record> found = take_item()) {
                    return found;
                }
            }
        } catch (const std::out_of_range&) {
            is_damaged_ = true;
            rest_ = {};
        }
        return std::nullopt;
    }
    [[nodiscard]] bool is_damaged() const noexcept { return is_damaged_; }

  private:
    struct definition {
        std::uint32_t event = 0;
        unsigned mode = 0;
        std::size_t fixed = 0;
        std::size_t text_word = 0;
    };

    static void require(bool holds) {
        if (!holds) {
            throw std::out_of_range("damaged");
        }
    }

    std::vector<std::uint8_t> take(std::size_t size) {
        require(size <= rest_.size());
        const auto taken = rest_.first(size);
        rest_ = rest_.subspan(size);
        return {taken.begin(), taken.end()};
    }

    std::uint64_t take_number(std::size_t size) {
        std::uint64_t number = 0;
        std::size_t shift = 0;
        for (const std::uint8_t byte : take(size)) {
            number |= std::uint64_t{byte} << shift;
            shift += 8;
        }
        return number;
    }

    std::uint32_t take_u32() { return static_cast<std::uint32_t>(take_number(4)); }
    std::uint16_t take_u16() { return static_cast<std::uint16_t>(take_number(2)); }
    std::uint8_t take_u8() { return take(1).front(); }

    /// A record, or an escape: nothing.
    std::optional<plain_record> take_item() {
        const std::uint8_t tag = take_u8();
        switch (tag) {
            case 252:
                define();
                return std::nullopt;
            case 253:
                thread_ = take_u32();
                return std::nullopt;
            case 254:
                time_ = take_number(8);
                thread_ = take_u32();
                cpu_ = take_u16();
                return std::nullopt;
            case 255:
                return take_raw();
            default:
                return take_record(tag);
        }
    }

    void define() {
        definition made;
        made.event = take_u32();
        made.mode = take_u8();
        made.fixed = take_u8();
        made.text_word = take_u8();
        require(made.mode <= 2);
        require(made.mode != 1 || made.fixed == 0);
        require(made.mode == 2 ? made.text_word + 4 <= made.fixed : made.text_word == 0);
        entries_[defined_++ % entries_.size()] = made;
    }

    plain_record take_raw() {
        plain_record record;
        record.event = take_u32();
        record.thread = take_u32();
        record.time = take_number(8);
        record.cpu = take_u16();
        record.flags = take_u16();
        const std::size_t size = take_u16();
        require(size <= 65512);
        record.payload = take(size);
        return record;
    }

    plain_record take_record(std::uint8_t tag) {
        const std::size_t index = tag >> 2U;
        require(index < defined_);
        const definition& entry = entries_[index];
        time_ += take_number(1U + (tag & 3U));
        plain_record record{entry.event, thread_, time_, cpu_, 0, {}};
        switch (entry.mode) {
            case 0:
                record.payload = take(entry.fixed);
                break;
            case 1:
                record.payload = take(take_u8());
                break;
            default:
                record.payload = take_text_payload(entry);
        }
        return record;
    }

    std::vector<std::uint8_t> take_text_payload(const definition& entry) {
        std::vector<std::uint8_t> payload = take(entry.fixed - 4);
        const std::size_t n = take_u8();
        const std::size_t word = n == 0 ? 0 : n << 16U | (entry.fixed - entry.text_word - 4);
        for (std::size_t i = 0; i < 4; ++i) {
            payload.insert(payload.begin() + static_cast<std::ptrdiff_t>(entry.text_word + i),
                           static_cast<std::uint8_t>(word >> (8 * i)));
        }
        if (n != 0) {
            const std::vector<std::uint8_t> characters = take(n - 1);
            payload.insert(payload.end(), characters.begin(), characters.end());
            payload.push_back(0);
        }
        return payload;
    }

    std::span<const std::uint8_t> rest_;
    std::uint64_t time_;
    std::uint32_t thread_;
    std::uint16_t cpu_;
    bool is_damaged_ = false;
    std::array<definition, 63> entries_{};
    std::size_t defined_ = 0;
};

}  // namespace eventlog::test
