// SPDX-License-Identifier: MIT
//
// The words of a region that its writers change while we read. Nothing is touched through the
// mapping, whose file anybody who writes there may cut short, and who touches what is gone is
// killed: words are copied with pread(2), and compared and changed by the kernel
// (guarded_words.hpp).
//
// A copy may be torn: some kernels and processors copy byte by byte. So it is believed only if the
// kernel, which looks at 32 bits in one piece, finds its upper half, its lower and its upper again.
#pragma once

#include <cstdint>

#include "platform/unique_fd.hpp"
#include "shm/guarded_words.hpp"

namespace elog {

/// For who finds that the file of a region ends too early.
[[noreturn]] void throw_cut();

class region_words {
  public:
    /// What is in the first `size` bytes of the file, which must stay open. Throws failure.
    region_words(const eventlog::core::unique_fd& file, std::uint64_t size);
    ~region_words();
    region_words(const region_words&) = delete;
    region_words& operator=(const region_words&) = delete;

    struct reading {
        std::uint64_t value = 0;
        bool exact = false;
    };

    /// A word that never goes back: what it was at some moment of this call, or, if it changes too
    /// fast for that, what it has reached by the end of the call, or less. Throws failure if it is
    /// gone, as all that follow do.
    [[nodiscard]] reading read(std::uint64_t offset) const;
    /// A word of 32 bits that changes seldom.
    [[nodiscard]] std::uint32_t read_small(std::uint64_t offset) const;
    [[nodiscard]] std::uint8_t read_byte(std::uint64_t offset) const;
    /// Whether the 32 bits are these now.
    [[nodiscard]] bool is(std::uint64_t offset, std::uint32_t value) const;

    /// Changes a word that is `before`, and only ours to write, to one more than that, in one
    /// piece. If somebody else has written there, it has that value afterwards, too.
    void count_on(std::uint64_t offset, std::uint64_t before);
    void set_flag(std::uint64_t offset, bool value);

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
