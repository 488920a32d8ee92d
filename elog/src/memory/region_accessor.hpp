// SPDX-License-Identifier: MIT
//
// Reads and changes words of a region while its writers change them.
//
// - The mapping is never dereferenced: a process that may write to the file can truncate it, and an
//   access behind the end would raise SIGBUS. Words are copied with pread(2) and compared and
//   changed by the kernel (futex_atomic.hpp).
// - A copy may be torn, because some kernels and processors copy byte by byte. A 64-bit word is
//   trusted only if the kernel, which compares 32 bits at once, finds its upper, lower and upper
//   half again, in this order.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "platform/unique_fd.hpp"
#include "shm/futex_atomic.hpp"

namespace elog {

/// Reports that the file of a region ends too early.
[[noreturn]] void throw_truncated();

/// Maps the first `size` bytes of a region's file. Throws user_error.
[[nodiscard]] void* map_region(const eventlog::core::unique_fd& file, std::uint64_t size);

/// Sleeps while the word has the value `expected`, until it is woken, the time is over, or a signal
/// arrives. The word is not dereferenced.
void futex_wait(const std::uint32_t* word, std::uint32_t expected,
                std::chrono::nanoseconds at_most) noexcept;

class region_accessor {
  public:
    /// Maps the first `size` bytes of the file, which must stay open. Throws user_error.
    region_accessor(const eventlog::core::unique_fd& file, std::uint64_t size);
    ~region_accessor();
    region_accessor(const region_accessor&) = delete;
    region_accessor& operator=(const region_accessor&) = delete;

    struct reading {
        std::uint64_t value = 0;
        bool exact = false;
    };

    /// Reads a word that never decreases. Exact: its value at some moment of this call. Otherwise,
    /// if it changes too often, a value not larger than the word's at the end of the call. Throws
    /// user_error if the file has been truncated, as all functions below do.
    [[nodiscard]] reading read(std::uint64_t offset) const;
    /// Reads a 32-bit word that changes rarely.
    [[nodiscard]] std::uint32_t read_u32(std::uint64_t offset) const;
    [[nodiscard]] std::uint8_t read_u8(std::uint64_t offset) const;
    /// Copies bytes from anywhere in the file. They may be torn.
    void copy(void* to, std::size_t size, std::uint64_t offset) const;
    /// Whether the 32 bits have this value now.
    [[nodiscard]] bool is(std::uint64_t offset, std::uint32_t value) const;

    /// Adds one to a word that has the value `before` and that only the reader writes. If another
    /// process has changed the word, it is set to `before` + 1.
    void increment_if_equal(std::uint64_t offset, std::uint64_t before);
    void futex_store_flag(std::uint64_t offset, bool value);

    /// futex_wait() on a word.
    void wait(std::uint64_t offset, std::uint32_t expected,
              std::chrono::nanoseconds at_most) const noexcept;

  private:
    template <class Value>
    [[nodiscard]] Value load(std::uint64_t offset) const;
    /// For futex(2) only; not to be dereferenced.
    [[nodiscard]] std::uint32_t* address_of(std::uint64_t offset) const noexcept;

    const eventlog::core::unique_fd& file_;
    std::uint64_t size_;
    unsigned char* memory_ = nullptr;
};

}  // namespace elog
