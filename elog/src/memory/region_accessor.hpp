// SPDX-License-Identifier: MIT
//
// The words of a region that its writers change while we read. Nothing is touched through the
// mapping, whose file anybody who writes there may cut short, and who touches what is gone is
// killed: words are copied with pread(2), and compared and changed by the kernel
// (futex_atomic.hpp).
//
// A copy may be torn: some kernels and processors copy byte by byte. So it is believed only if the
// kernel, which looks at 32 bits in one piece, finds its upper half, its lower and its upper again.
#pragma once

#include <cstdint>

#include "platform/unique_fd.hpp"
#include "shm/futex_atomic.hpp"

namespace elog {

/// For who finds that the file of a region ends too early.
[[noreturn]] void throw_truncated();

class region_accessor {
  public:
    /// What is in the first `size` bytes of the file, which must stay open. Throws failure.
    region_accessor(const eventlog::core::unique_fd& file, std::uint64_t size);
    ~region_accessor();
    region_accessor(const region_accessor&) = delete;
    region_accessor& operator=(const region_accessor&) = delete;

    struct reading {
        std::uint64_t value = 0;
        bool exact = false;
    };

    /// A word that never goes back: what it was at some moment of this call, or, if it changes too
    /// fast for that, what it has reached by the end of the call, or less. Throws failure if it is
    /// gone, as all that follow do.
    [[nodiscard]] reading read(std::uint64_t offset) const;
    /// A word of 32 bits that changes seldom.
    [[nodiscard]] std::uint32_t read_u32(std::uint64_t offset) const;
    [[nodiscard]] std::uint8_t read_u8(std::uint64_t offset) const;
    /// Whether the 32 bits are these now.
    [[nodiscard]] bool is(std::uint64_t offset, std::uint32_t value) const;

    /// Changes a word that is `before`, and only ours to write, to one more than that, in one
    /// piece. If somebody else has written there, it has that value afterwards, too.
    void increment_if_equal(std::uint64_t offset, std::uint64_t before);
    void futex_store_flag(std::uint64_t offset, bool value);

    /// For futex(2), and not to be looked at.
    [[nodiscard]] std::uint32_t* address_of(std::uint64_t offset) const noexcept;

  private:
    template <class Value>
    [[nodiscard]] Value copy(std::uint64_t offset) const;

    const eventlog::core::unique_fd& file_;
    std::uint64_t size_;
    unsigned char* memory_ = nullptr;
};

}  // namespace elog
