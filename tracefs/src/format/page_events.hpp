// SPDX-License-Identifier: MIT
//
// Iterates over the events in a page of the kernel's ring buffer, with libtraceevent's kbuffer.
//
// The page is untrusted: its entries are checked before kbuffer reads them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

struct kbuffer;

namespace eventlog::tracefs {

/// Loss in front of a page.
struct missed_events {
    bool any = false;
    std::optional<std::uint64_t> count{};  // nothing: unknown, because the page had no room for it
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

    /// Starts with a page in the format of trace_pipe_raw, which is copied. Throws error if it is
    /// invalid.
    missed_events load(std::span<const std::uint8_t> page);

    /// The next event; nothing behind the last one. Throws error if the rest of the page is invalid
    /// and skipped.
    [[nodiscard]] std::optional<raw_event> next();

  private:
    struct free_buffer {
        void operator()(kbuffer* buffer) const noexcept;
    };

    std::unique_ptr<kbuffer, free_buffer> buffer_;
    std::vector<std::uint8_t> padded_;
    std::size_t size_ = 0;  // filled size of the page
    bool has_begun_ = false;
};

}  // namespace eventlog::tracefs
