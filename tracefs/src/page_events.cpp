// SPDX-License-Identifier: MIT
#include "page_events.hpp"

// C++ may read it, but it does not say that it is C.
extern "C" {
#include <kbuffer.h>
}

#include <cstring>

#include "error.hpp"

namespace eventlog::tracefs {
namespace {

// A page begins with the time of its first event, and a word: how many bytes are filled, below two
// flags. Those are the kernel's, and have been since 3.x; see its events/header_page.
constexpr std::size_t time_size = sizeof(std::uint64_t);
constexpr std::size_t header_size = time_size + sizeof(long);
constexpr std::uint64_t missed_flag = std::uint64_t{1} << 31U;
constexpr std::uint64_t filled_mask = (std::uint64_t{1} << 27U) - 1;
// kbuffer reads the head of an event before it looks whether there is room for one.
constexpr std::size_t spare = 64;

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

missed_events page_events::load(std::span<std::uint8_t> page) {
    has_begun_ = false;
    size_ = 0;
    if (page.size() < header_size) {
        throw error("A page of {} bytes is none of the kernel's. Say what kernel that is.",
                    page.size());
    }
    unsigned long word = 0;
    std::memcpy(&word, page.data() + time_size, sizeof word);
    const std::size_t filled = word & filled_mask;
    if (filled > page.size() - header_size) {
        throw error("A page of the kernel's buffer says that {} of its {} bytes are filled. "
                    "Somebody has changed its size: start again.",
                    filled, page.size() - header_size);
    }
    padded_.assign(page.begin(), page.end());
    padded_.resize(page.size() + spare);
    if (::kbuffer_load_subbuffer(buffer_.get(), padded_.data()) != 0) {
        throw error("libtraceevent does not take a page of the kernel's buffer. Install a newer "
                    "one.");
    }
    size_ = header_size + filled;
    missed_events missed;
    missed.any = (word & missed_flag) != 0;
    const int count = ::kbuffer_missed_events(buffer_.get());
    if (missed.any && count > 0 && filled + sizeof(long) <= page.size() - header_size) {
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
