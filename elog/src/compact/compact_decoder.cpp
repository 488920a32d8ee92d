// SPDX-License-Identifier: MIT
#include "compact/compact_decoder.hpp"

#include <algorithm>

namespace elog {
namespace {

constexpr std::size_t body_min_of(compact_shape shape) noexcept {
    switch (shape.mode) {
        case compact_mode::fixed:
            return shape.fixed;
        case compact_mode::sized:
            return 1;
        case compact_mode::text:
            break;
    }
    return shape.fixed - compact_word_size + 1;
}

/// A number of 1 to 4 bytes. Reads 4 bytes if `readable` permits it.
std::uint32_t load_delta(const std::uint8_t* from, std::size_t size,
                         std::size_t readable) noexcept {
    if (readable >= 4) [[likely]] {
        return load_little<std::uint32_t>(from) & UINT32_MAX >> (32 - 8 * size);
    }
    std::uint32_t delta = 0;
    for (std::size_t i = 0; i < size; ++i) {
        delta |= std::uint32_t{from[i]} << (8 * i);
    }
    return delta;
}

}  // namespace

void compact_decoder::begin(std::span<const std::uint8_t> bytes,
                            const compact_context& start) noexcept {
    at_ = bytes.data();
    end_ = at_ + bytes.size();
    context_ = start;
    damaged_ = false;
    next_ = 0;
    entries_.fill({});
}

compact_result compact_decoder::next(compact_record& record) noexcept {
    while (at_ != end_) {
        if (*at_ < compact_define) [[likely]] {
            return read_record(record);
        }
        if (*at_ == compact_raw) {
            return read_raw(record);
        }
        if (!read_escape()) {
            return fail();
        }
    }
    return damaged_ ? compact_result::damaged : compact_result::end;
}

compact_result compact_decoder::fail() noexcept {
    at_ = end_;
    damaged_ = true;
    return compact_result::damaged;
}

compact_result compact_decoder::read_record(compact_record& record) noexcept {
    const entry& from = entries_[*at_ >> 2U];
    const std::size_t delta_size = 1 + (*at_ & 3U);
    const std::uint8_t* const delta = at_ + 1;
    const auto readable = static_cast<std::size_t>(end_ - delta);
    if (readable < delta_size + from.body_min) {
        return fail();
    }
    context_.time += load_delta(delta, delta_size, readable);
    const std::uint8_t* const end = read_body(delta + delta_size, from, record.payload);
    if (end == nullptr) {
        return fail();
    }
    at_ = end;
    record.event = from.event;
    record.thread = context_.thread;
    record.time = context_.time;
    record.cpu = context_.cpu;
    record.flags = 0;
    return compact_result::record;
}

/// Returns the end of the body, or nullptr if it is not whole. There are body_min bytes of it.
const std::uint8_t* compact_decoder::read_body(const std::uint8_t* at, const entry& from,
                                               std::span<const std::uint8_t>& payload) noexcept {
    std::size_t size = from.shape.fixed;
    if (from.shape.mode == compact_mode::text) {
        const std::size_t n = at[size - compact_word_size];
        const std::size_t body = size - compact_word_size + std::max<std::size_t>(n, 1);
        if (static_cast<std::size_t>(end_ - at) < body) {
            return nullptr;
        }
        payload = {restore_text(at, from.shape, n), size + n};
        return at + body;
    }
    if (from.shape.mode == compact_mode::sized) {
        size = *at++;
        if (static_cast<std::size_t>(end_ - at) < size) {
            return nullptr;
        }
    }
    payload = {at, size};
    return at + size;
}

/// Restores the payload from a whole body, in which `n` follows the fixed part.
const std::uint8_t* compact_decoder::restore_text(const std::uint8_t* body, compact_shape shape,
                                                  std::size_t n) noexcept {
    std::uint8_t* const to = text_payload_.data();
    const std::size_t before = shape.text_word;
    const std::size_t behind = shape.fixed - before - compact_word_size;
    copy_short(to, body, before);
    store_little(to + before, compact_text_word(shape, n));
    if (behind != 0) {
        copy_short(to + before + compact_word_size, body + before, behind);
    }
    if (n != 0) {
        copy_short(to + shape.fixed, body + before + behind + 1, n - 1);
        to[shape.fixed + n - 1] = 0;
    }
    return to;
}

compact_result compact_decoder::read_raw(compact_record& record) noexcept {
    if (left() < compact_raw_size) {
        return fail();
    }
    const std::uint8_t* const raw = at_;
    const std::size_t size = load_little<std::uint16_t>(raw + 21);
    at_ += compact_raw_size;
    if (size > compact_payload_max || left() < size) {
        return fail();
    }
    at_ += size;
    record.event = load_little<std::uint32_t>(raw + 1);
    record.thread = load_little<std::uint32_t>(raw + 5);
    record.time = load_little<std::uint64_t>(raw + 9);
    record.cpu = load_little<std::uint16_t>(raw + 17);
    record.flags = load_little<std::uint16_t>(raw + 19);
    record.payload = {raw + compact_raw_size, size};
    return compact_result::record;
}

bool compact_decoder::read_escape() noexcept {
    const std::uint8_t* const escape = at_;
    switch (*escape) {
        case compact_define:
            return define();
        case compact_thread:
            if (left() < compact_thread_size) {
                return false;
            }
            at_ += compact_thread_size;
            context_.thread = load_little<std::uint32_t>(escape + 1);
            return true;
        default:
            if (left() < compact_context_size) {
                return false;
            }
            at_ += compact_context_size;
            context_ = {load_little<std::uint64_t>(escape + 1),
                        load_little<std::uint32_t>(escape + 9),
                        load_little<std::uint16_t>(escape + 13)};
            return true;
    }
}

bool compact_decoder::define() noexcept {
    if (left() < compact_define_size) {
        return false;
    }
    const compact_shape shape{static_cast<compact_mode>(at_[5]), at_[6], at_[7]};
    if (!is_valid(shape)) {
        return false;
    }
    entries_[next_] = {load_little<std::uint32_t>(at_ + 1), shape, body_min_of(shape)};
    next_ = static_cast<std::uint8_t>((next_ + 1U) % compact_entries);
    at_ += compact_define_size;
    return true;
}

}  // namespace elog
