// SPDX-License-Identifier: MIT
#include "compact/compact_encoder.hpp"

#include <algorithm>

namespace elog {
namespace {

/// Whether the shape restores exactly this payload.
bool fits(std::span<const std::uint8_t> payload, compact_shape shape) noexcept {
    const std::size_t size = payload.size();
    switch (shape.mode) {
        case compact_mode::fixed:
            return size == shape.fixed;
        case compact_mode::sized:
            return size <= compact_size_max;
        case compact_mode::text:
            break;
        default:
            return false;
    }
    if (!is_valid(shape) || size < shape.fixed || size - shape.fixed > compact_size_max) {
        return false;
    }
    const std::size_t n = size - shape.fixed;
    const auto word = load_little<std::uint32_t>(payload.data() + shape.text_word);
    return word == compact_text_word(shape, n) && (n == 0 || payload.back() == 0);
}

/// Members that a mode does not use are 0 in a definition.
compact_shape canonical(compact_shape shape) noexcept {
    switch (shape.mode) {
        case compact_mode::fixed:
            return {shape.mode, shape.fixed, 0};
        case compact_mode::sized:
            return {shape.mode, 0, 0};
        case compact_mode::text:
            break;
    }
    return shape;
}

/// Returns the end of the body.
std::uint8_t* put_body(std::uint8_t* to, std::span<const std::uint8_t> payload,
                       compact_shape shape) noexcept {
    const std::uint8_t* from = payload.data();
    std::size_t size = payload.size();
    if (shape.mode == compact_mode::text) {
        const std::size_t n = size - shape.fixed;
        const std::size_t before = shape.text_word;
        const std::size_t behind = shape.fixed - before - compact_word_size;
        copy_short(to, from, before);
        to += before;
        if (behind != 0) {
            copy_short(to, from + before + compact_word_size, behind);
            to += behind;
        }
        *to++ = static_cast<std::uint8_t>(n);
        from += shape.fixed;
        size = n == 0 ? 0 : n - 1;
    } else if (shape.mode == compact_mode::sized) {
        *to++ = static_cast<std::uint8_t>(size);
    }
    copy_short(to, from, size);
    return to + size;
}

}  // namespace

void compact_encoder::begin(std::span<std::uint8_t> buffer, const compact_context& start) noexcept {
    begin_ = buffer.data();
    at_ = begin_;
    end_ = begin_ + buffer.size();
    context_ = start;
    entries_.fill(0);
    next_ = 0;
}

bool compact_encoder::add(const compact_record& record, compact_shape shape) noexcept {
    const std::size_t size = record.payload.size();
    if (size > compact_payload_max || size_bound(size) > static_cast<std::size_t>(end_ - at_)) {
        return false;
    }
    if (record.flags != 0 || !fits(record.payload, shape)) [[unlikely]] {
        add_raw(record);
        return true;
    }
    const unsigned index = entry_of(record.event, shape);
    std::uint64_t delta = record.time - context_.time;
    if (record.thread != context_.thread || record.cpu != context_.cpu || delta > UINT32_MAX)
        [[unlikely]] {
        delta = change_context(record);
    }
    context_.time = record.time;
    // All four bytes are stored; the next part overwrites those that do not count. The bound has
    // room for them.
    const unsigned more = static_cast<unsigned>(std::bit_width(delta | 1U) - 1) / 8;
    std::uint8_t* const at = at_;
    at[0] = static_cast<std::uint8_t>(index << 2U | more);
    store_little(at + 1, static_cast<std::uint32_t>(delta));
    at_ = put_body(at + 2 + more, record.payload, shape);
    return true;
}

std::uint8_t compact_encoder::entry_of(std::uint32_t event, compact_shape shape) noexcept {
    shape = canonical(shape);
    const std::uint8_t hint = hints_[event & 0xffU];
    return entries_[hint] == key_of(event, shape) ? hint : find_or_define(event, shape);
}

std::uint8_t compact_encoder::find_or_define(std::uint32_t event, compact_shape shape) noexcept {
    const entry_key key = key_of(event, shape);
    std::uint8_t& hint = hints_[event & 0xffU];
    const auto* const found = std::find(entries_.begin(), entries_.end(), key);
    if (found != entries_.end()) {
        return hint = static_cast<std::uint8_t>(found - entries_.begin());
    }
    *at_ = compact_define;
    store_little(at_ + 1, event);
    at_[5] = static_cast<std::uint8_t>(shape.mode);
    at_[6] = shape.fixed;
    at_[7] = shape.text_word;
    at_ += compact_define_size;
    hint = next_;
    entries_[hint] = key;
    next_ = static_cast<std::uint8_t>((next_ + 1U) % compact_entries);
    return hint;
}

/// Returns the delta after the escape.
std::uint32_t compact_encoder::change_context(const compact_record& record) noexcept {
    const std::uint64_t delta = record.time - context_.time;
    if (record.cpu == context_.cpu && delta <= UINT32_MAX) {
        *at_ = compact_thread;
        store_little(at_ + 1, record.thread);
        at_ += compact_thread_size;
        context_.thread = record.thread;
        return static_cast<std::uint32_t>(delta);
    }
    *at_ = compact_set_context;
    store_little(at_ + 1, record.time);
    store_little(at_ + 9, record.thread);
    store_little(at_ + 13, record.cpu);
    at_ += compact_context_size;
    context_ = {record.time, record.thread, record.cpu};
    return 0;
}

void compact_encoder::add_raw(const compact_record& record) noexcept {
    const std::size_t size = record.payload.size();
    *at_ = compact_raw;
    store_little(at_ + 1, record.event);
    store_little(at_ + 5, record.thread);
    store_little(at_ + 9, record.time);
    store_little(at_ + 17, record.cpu);
    store_little(at_ + 19, record.flags);
    store_little(at_ + 21, static_cast<std::uint16_t>(size));
    at_ += compact_raw_size;
    copy_short(at_, record.payload.data(), size);
    at_ += size;
}

}  // namespace elog
