// SPDX-License-Identifier: MIT
//
// Words that another process changes while the kernel reads and writes them for this process.
#include "memory/region_accessor.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "platform/unique_fd.hpp"
#include "run_in_child.hpp"
#include "shm/futex_atomic.hpp"
#include "syscall_override.hpp"

namespace {

namespace core = eventlog::core;
using core::futex_comparison;

constexpr std::uint64_t size = 4096;

/// A file, mapped as writers map it.
class mapped_words {
  public:
    mapped_words() : file_(::memfd_create("words", MFD_CLOEXEC)) {
        EXPECT_EQ(::ftruncate(file_.get(), size), 0);
        words_ = static_cast<std::uint64_t*>(
            ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), 0));
        EXPECT_NE(static_cast<void*>(words_), MAP_FAILED);
    }
    ~mapped_words() { ::munmap(words_, size); }
    mapped_words(const mapped_words&) = delete;
    mapped_words& operator=(const mapped_words&) = delete;

    [[nodiscard]] const core::unique_fd& file() const { return file_; }
    [[nodiscard]] std::atomic_ref<std::uint64_t> word() const { return std::atomic_ref(words_[1]); }
    [[nodiscard]] std::atomic_ref<std::uint32_t> half() const { return std::atomic_ref(*small()); }
    [[nodiscard]] std::uint32_t* small() const {
        return reinterpret_cast<std::uint32_t*>(words_) + 8;
    }
    void cut() const { ASSERT_EQ(::ftruncate(file_.get(), 0), 0); }

    static constexpr std::uint64_t offset = 8;  // of word()

  private:
    core::unique_fd file_;
    std::uint64_t* words_;
};

TEST(futex_atomic, compares_and_sets_bits) {
    const mapped_words words;
    for (const unsigned bit : {0U, 1U, 15U, 16U, 30U, 31U}) {
        EXPECT_TRUE(core::futex_set_bit(words.small(), bit));
        EXPECT_EQ(words.half().load(), 1U << bit);
        EXPECT_EQ(core::futex_compare(words.small(), 1U << bit), futex_comparison::equal);
        EXPECT_EQ(core::futex_compare(words.small(), 0), futex_comparison::different);
        EXPECT_TRUE(core::futex_clear_bit(words.small(), bit));
        EXPECT_EQ(words.half().load(), 0U);
    }
    EXPECT_TRUE(core::futex_store_flag(words.small(), true));
    EXPECT_EQ(words.half().load(), 1U);
    EXPECT_TRUE(core::futex_increment(words.small()));
    EXPECT_EQ(words.half().load(), 2U);
    EXPECT_TRUE(core::futex_store_flag(words.small(), false));
    EXPECT_EQ(words.half().load(), 0U);
}

TEST(futex_atomic, reports_truncated_file) {
    const mapped_words words;
    words.cut();
    EXPECT_EQ(core::futex_compare(words.small(), 0), futex_comparison::truncated);
    EXPECT_FALSE(core::futex_set_bit(words.small(), 3));
    EXPECT_FALSE(core::futex_clear_bit(words.small(), 3));
    EXPECT_FALSE(core::futex_increment(words.small()));
    EXPECT_FALSE(core::futex_store_flag(words.small(), true));
}

TEST(futex_atomic, is_atomic_with_concurrent_writers) {
    const mapped_words words;
    constexpr int turns = 20'000;
    std::thread other([&] {
        for (int i = 0; i < turns; ++i) {
            words.half().fetch_add(1U << 16U);
        }
    });
    for (int i = 0; i < turns; ++i) {
        EXPECT_TRUE(core::futex_increment(words.small()));
        EXPECT_TRUE(core::futex_set_bit(words.small(), 15));
        EXPECT_TRUE(core::futex_clear_bit(words.small(), 15));
    }
    other.join();
    EXPECT_EQ(words.half().load(), static_cast<std::uint32_t>(turns) << 16U | turns);
}

TEST(futex_atomic, falls_back_to_direct_access_in_sandbox) {
    const mapped_words words;
    EXPECT_EQ(eventlog::test::run_in_child([&] {
                  if (!eventlog::test::deny_syscall(SYS_futex)) {
                      return 1;
                  }
                  const bool is_changed = core::futex_store_flag(words.small(), true) &&
                                          core::futex_increment(words.small()) &&
                                          core::futex_set_bit(words.small(), 16) &&
                                          core::futex_clear_bit(words.small(), 1);
                  return is_changed && words.half().load() == 1U << 16U &&
                                 core::futex_compare(words.small(), 1U << 16U) ==
                                     futex_comparison::equal &&
                                 core::futex_compare(words.small(), 2) ==
                                     futex_comparison::different
                             ? 0
                             : 2;
              }),
              0);
}

TEST(region_accessor, reads_idle_words_exactly) {
    const mapped_words words;
    const elog::region_accessor read(words.file(), size);
    for (const std::uint64_t value : {0ULL, 1ULL, 0x0123456789abcdefULL, ~0ULL}) {
        words.word().store(value);
        const elog::region_accessor::reading found = read.read(mapped_words::offset);
        EXPECT_TRUE(found.exact);
        EXPECT_EQ(found.value, value);
    }
    words.half().store(7);
    EXPECT_EQ(read.read_u32(32), 7U);
    EXPECT_EQ(read.read_u8(32), 7U);
}

/// The steps carry from any byte to the next, as a ring's control word does.
TEST(region_accessor, never_overestimates_growing_words) {
    const mapped_words words;
    const elog::region_accessor read(words.file(), size);
    std::atomic<bool> enough{false};
    std::thread other([&] {
        for (std::uint64_t value = 0; !enough; value += 0x10f0f1) {
            words.word().store(value);
        }
    });
    std::uint64_t too_much = 0;
    std::uint64_t inexact = 0;
    std::uint64_t wrong = 0;
    // On one processor, or if the other thread seldom runs, the word rarely changes during a read.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(3);
    while (inexact < 2000 && std::chrono::steady_clock::now() < end) {
        const std::uint64_t before = words.word().load();
        const elog::region_accessor::reading found = read.read(mapped_words::offset);
        too_much += found.value > words.word().load() ? 1 : 0;
        inexact += found.exact ? 0 : 1;
        wrong += found.exact && (found.value < before || found.value % 0x10f0f1 != 0) ? 1 : 0;
    }
    enough = true;
    other.join();
    EXPECT_EQ(too_much, 0U);
    EXPECT_EQ(wrong, 0U);
}

TEST(region_accessor, increment_carries_between_halves) {
    const mapped_words words;
    elog::region_accessor count(words.file(), size);
    for (const std::uint64_t before : {0ULL, 41ULL, 0xfffffffeULL, 0xffffffffULL, 0x1ffffffffULL}) {
        words.word().store(before);
        count.increment_if_equal(mapped_words::offset, before);
        EXPECT_EQ(words.word().load(), before + 1);
    }
    words.word().store(12345);  // as a process without permission would
    count.increment_if_equal(mapped_words::offset, 7);
    EXPECT_EQ(words.word().load(), 8U);
}

TEST(region_accessor, reports_truncated_file) {
    const mapped_words words;
    elog::region_accessor all(words.file(), size);
    words.cut();
    EXPECT_THROW(static_cast<void>(all.read(8)), elog::user_error);
    EXPECT_THROW(static_cast<void>(all.read_u32(8)), elog::user_error);
    EXPECT_THROW(static_cast<void>(all.read_u8(8)), elog::user_error);
    EXPECT_THROW(static_cast<void>(all.is(8, 0)), elog::user_error);
    EXPECT_THROW(all.increment_if_equal(8, 0), elog::user_error);
    EXPECT_THROW(all.futex_store_flag(8, true), elog::user_error);
}

}  // namespace
