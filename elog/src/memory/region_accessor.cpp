// SPDX-License-Identifier: MIT
#include "memory/region_accessor.hpp"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/read_at.hpp"
#include "base/user_error.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;

// Attempts to read a changing word exactly; after them a lower bound is returned.
constexpr int word_read_attempts_max = 4;

constexpr std::uint64_t upper_half = sizeof(std::uint32_t);
static_assert(std::endian::native == std::endian::little);

std::uint32_t lower_of(std::uint64_t value) noexcept {
    return static_cast<std::uint32_t>(value);
}

std::uint32_t upper_of(std::uint64_t value) noexcept {
    return static_cast<std::uint32_t>(value >> 32U);
}

void need(bool is_there) {
    if (!is_there) {
        throw_truncated();
    }
}

}  // namespace

void throw_truncated() {
    throw user_error(
        "The file of the subscription has been cut short by another process. Start a new one.");
}

void* map_region(const core::unique_fd& file, std::uint64_t size) {
    void* const mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
    if (mapped == MAP_FAILED) {
        throw user_error("The subscription cannot be mapped ({}). Raise the limit on memory.",
                         std::strerror(errno));
    }
    return mapped;
}

void futex_wait(const std::uint32_t* word, std::uint32_t expected,
                std::chrono::nanoseconds at_most) noexcept {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(at_most);
    const timespec timeout{static_cast<time_t>(seconds.count()),
                           static_cast<long>((at_most - seconds).count())};
    static_cast<void>(::syscall(SYS_futex, word, FUTEX_WAIT, expected, &timeout, nullptr, 0));
}

region_accessor::region_accessor(const core::unique_fd& file, std::uint64_t size)
    : file_(file), size_(size), memory_(static_cast<unsigned char*>(map_region(file, size))) {}

region_accessor::~region_accessor() {
    static_cast<void>(::munmap(memory_, size_));
}

void region_accessor::copy(void* to, std::size_t size, std::uint64_t offset) const {
    need(read_at(file_, to, size, offset));
}

template <class Value>
Value region_accessor::load(std::uint64_t offset) const {
    Value value{};
    copy(&value, sizeof value, offset);
    // Acquire: later reads see values at least as new as this copy.
    std::atomic_thread_fence(std::memory_order_acquire);
    return value;
}

bool region_accessor::is(std::uint64_t offset, std::uint32_t value) const {
    const core::futex_comparison found = core::futex_compare(address_of(offset), value);
    need(found != core::futex_comparison::truncated);
    std::atomic_thread_fence(std::memory_order_acquire);
    return found == core::futex_comparison::equal;
}

/// If the upper half is equal before and after, the lower half belongs to it. In the fallback each
/// byte is read after all more significant ones, so the composed value never exceeds the word.
region_accessor::reading region_accessor::read(std::uint64_t offset) const {
    for (int attempt = 0; attempt < word_read_attempts_max; ++attempt) {
        const auto value = load<std::uint64_t>(offset);
        if (is(offset + upper_half, upper_of(value)) && is(offset, lower_of(value)) &&
            is(offset + upper_half, upper_of(value))) {
            return {value, true};
        }
    }
    std::uint64_t value = 0;
    for (std::uint64_t byte = sizeof value; byte > 0; --byte) {
        value = value << 8U | read_u8(offset + byte - 1);
    }
    return {value, false};
}

std::uint32_t region_accessor::read_u32(std::uint64_t offset) const {
    auto value = load<std::uint32_t>(offset);
    for (int attempt = 0; attempt < word_read_attempts_max && !is(offset, value); ++attempt) {
        value = load<std::uint32_t>(offset);
    }
    return value;
}

std::uint8_t region_accessor::read_u8(std::uint64_t offset) const {
    return load<std::uint8_t>(offset);
}

void region_accessor::increment_if_equal(std::uint64_t offset, std::uint64_t before) {
    // Release: reads of the buffer are complete before producers see the new value.
    std::atomic_thread_fence(std::memory_order_release);
    if (!is(offset, lower_of(before)) || !is(offset + upper_half, upper_of(before))) {
        const std::uint64_t value = before + 1;
        need(::pwrite(file_.get(), &value, sizeof value, static_cast<off_t>(offset)) ==
             static_cast<ssize_t>(sizeof value));
        return;
    }
    need(core::futex_increment(address_of(offset)));
    if (lower_of(before) == UINT32_MAX) {
        // Between the two increments the word is too small. A producer that reads it then finds no
        // room and counts a loss: once in 2^32 buffers.
        need(core::futex_increment(address_of(offset + upper_half)));
    }
}

void region_accessor::futex_store_flag(std::uint64_t offset, bool value) {
    need(core::futex_store_flag(address_of(offset), value));
}

void region_accessor::wait(std::uint64_t offset, std::uint32_t expected,
                           std::chrono::nanoseconds at_most) const noexcept {
    futex_wait(address_of(offset), expected, at_most);
}

std::uint32_t* region_accessor::address_of(std::uint64_t offset) const noexcept {
    return reinterpret_cast<std::uint32_t*>(memory_ + offset);
}

}  // namespace elog
