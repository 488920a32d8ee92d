// SPDX-License-Identifier: MIT
//
// The events in a page of the kernel's ring buffer, taken apart by libtraceevent's kbuffer.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

struct kbuffer;

namespace eventlog::tracefs {

/// What is missing in front of a page.
struct missed_events {
    bool any = false;
    std::optional<std::uint64_t> count{};  // nothing: the page had no room to tell
};

struct raw_event {
    std::uint64_t time = 0;  // on the instance's clock
    std::span<const std::uint8_t> record{};
};

class page_events {
  public:
    /// Throws error if there is no memory.
    page_events();
    ~page_events();
    page_events(const page_events&) = delete;
    page_events& operator=(const page_events&) = delete;

    /// Begins with a page, as trace_pipe_raw gives it out, and copies it. Throws error if that is
    /// no page.
    missed_events load(std::span<const std::uint8_t> page);

    /// The next event of it; nothing behind the last one. Throws error where the page makes no
    /// sense; then there is nothing more in it.
    [[nodiscard]] std::optional<raw_event> next();

  private:
    struct free_buffer {
        void operator()(kbuffer* buffer) const noexcept;
    };

    std::unique_ptr<kbuffer, free_buffer> buffer_;
    std::vector<std::uint8_t> padded_;
    std::size_t size_ = 0;  // of the page, as far as it is filled
    bool has_begun_ = false;
};

}  // namespace eventlog::tracefs
