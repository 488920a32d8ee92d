// SPDX-License-Identifier: MIT
#include "format/page_events.hpp"

// The header can be included in C++ but lacks extern "C".
extern "C" {
#include <kbuffer.h>
}

#include <cstring>

#include "format/byte_reader.hpp"
#include "kernel/error.hpp"

namespace eventlog::tracefs {
namespace {

// A page starts with the time of its first event and a word with two flags and the number of filled
// bytes. The layout has not changed since Linux 3.x; see events/header_page.
constexpr std::size_t page_time_size = sizeof(std::uint64_t);
constexpr std::size_t header_size = page_time_size + sizeof(long);
constexpr std::uint64_t missed_flag = std::uint64_t{1} << 31U;
constexpr std::uint64_t stored_flag = std::uint64_t{1}
                                      << 30U;  // the count is stored behind the filled bytes
constexpr std::uint64_t filled_mask = (std::uint64_t{1} << 27U) - 1;
// kbuffer reads the head of an event before it checks that there is one.
constexpr std::size_t padding_size = 64;

// An entry starts with a word: the low bits are the kind or the number of words, the others the
// time since the previous entry. See events/header_event.
constexpr std::uint32_t kind_mask = 31;
constexpr std::uint32_t kind_padding = 29;
constexpr std::uint32_t kind_time =
    30;  // this kind and above: a second word holds a part of the time
constexpr std::uint64_t word_size = sizeof(std::uint32_t);

/// Size of the first entry in bytes; 0 if it is invalid.
std::uint64_t size_of_entry(std::span<const std::uint8_t> bytes) noexcept {
    const std::uint32_t kind = value_in<std::uint32_t>(bytes) & kind_mask;
    const std::uint64_t size = value_in<std::uint32_t>(bytes.subspan(
        std::min<std::size_t>(bytes.size(), word_size)));  // for kinds that store it there
    if (kind >= kind_time) {
        return 2 * word_size;
    }
    if (kind == kind_padding) {
        return word_size + size;
    }
    if (kind != 0) {
        return word_size + kind * word_size;
    }
    // The size includes its own word; entries are aligned to words.
    return size < word_size ? 0 : word_size + (size + word_size - 1) / word_size * word_size;
}

/// Returns how many of the filled bytes are entries. kbuffer follows the sizes of entries
/// unchecked, so this throws error unless they lead exactly to the end.
std::size_t check_entries(std::span<const std::uint8_t> filled) {
    std::size_t at = 0;
    while (at < filled.size()) {
        const auto left = filled.subspan(at);
        // Nothing follows padding without a time, whose size may have any value.
        if (value_in<std::uint32_t>(left) == kind_padding) {
            break;
        }
        const std::uint64_t size = size_of_entry(left);
        if (size == 0 || size > left.size()) {
            throw error("An entry in a page of the kernel's buffer ends in front of its beginning, "
                        "or behind the end of the page. What was in the page is lost.");
        }
        at += size;
    }
    return at;
}

}  // namespace

void page_events::free_buffer::operator()(kbuffer* buffer) const noexcept {
    ::kbuffer_free(buffer);
}

page_events::page_events()
    : buffer_(::kbuffer_alloc(KBUFFER_LSIZE_SAME_AS_HOST, KBUFFER_ENDIAN_SAME_AS_HOST)) {
    if (buffer_ == nullptr) {
        throw error("There is no memory to read the kernel's buffers. Free some.");
    }
}

page_events::~page_events() = default;

missed_events page_events::load(std::span<const std::uint8_t> page) {
    has_begun_ = false;
    size_ = 0;
    if (page.size() < header_size) {
        throw error("A page of {} bytes is none of the kernel's. Say what kernel that is.",
                    page.size());
    }
    const auto word = value_in<unsigned long>(page.subspan(page_time_size));
    const std::size_t filled = word & filled_mask;
    if (filled > page.size() - header_size) {
        throw error("A page of the kernel's buffer says that {} of its {} bytes are filled. "
                    "Another process has changed its size: start again.",
                    filled, page.size() - header_size);
    }
    const auto behind_head = page.subspan(header_size);
    const std::size_t entries = check_entries(behind_head.first(filled));
    padded_.assign(page.begin(), page.end());
    padded_.resize(page.size() + padding_size);
    // The stored count was read above: with padding, it does not directly follow the entries.
    const unsigned long own_word = entries;
    std::memcpy(padded_.data() + page_time_size, &own_word, sizeof own_word);
    if (::kbuffer_load_subbuffer(buffer_.get(), padded_.data()) != 0) {
        throw error("libtraceevent does not take a page of the kernel's buffer. Install a newer "
                    "one.");
    }
    size_ = header_size + entries;
    missed_events missed;
    missed.any = (word & missed_flag) != 0;
    const long count =
        missed.any && (word & stored_flag) != 0 ? value_in<long>(behind_head.subspan(filled)) : 0;
    if (count > 0) {
        missed.count = static_cast<std::uint64_t>(count);
    }
    return missed;
}

std::optional<raw_event> page_events::next() {
    if (size_ == 0) {
        return std::nullopt;
    }
    unsigned long long time = 0;
    void* const data = has_begun_ ? ::kbuffer_next_event(buffer_.get(), &time)
                                  : ::kbuffer_read_event(buffer_.get(), &time);
    has_begun_ = true;
    if (data == nullptr) {
        size_ = 0;
        return std::nullopt;
    }
    const auto* const begin = static_cast<const std::uint8_t*>(data);
    const auto offset = static_cast<std::size_t>(begin - padded_.data());
    const int size = ::kbuffer_event_size(buffer_.get());
    if (size < 0 || offset > size_ || static_cast<std::size_t>(size) > size_ - offset) {
        size_ = 0;
        throw error("An event in the kernel's buffer reaches behind the end of its page. What "
                    "follows it there is lost.");
    }
    return raw_event{time, {begin, static_cast<std::size_t>(size)}};
}

}  // namespace eventlog::tracefs
