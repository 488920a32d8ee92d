// SPDX-License-Identifier: MIT
//
// Asking for a snapshot of flight recorders: see "Asking for a snapshot" in linux/eventlog.h. All
// of it may run in a signal handler.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <eventlog/abi.h>

#include "subscription_slots.hpp"

namespace eventlog::core {
namespace {

using reason_words = std::array<std::uint64_t, EVENTLOG_SNAPSHOT_REASON_WORDS>;

constexpr std::size_t bytes_of_word = EVENTLOG_SNAPSHOT_TICKET_SHIFT / 8;

// How often others may be quicker to store a word: a hostile one could be so for ever.
constexpr int swaps_max = 16;

bool continues_character(char c) noexcept {
    return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

/// How many bytes of it are kept.
std::size_t kept_size(const char* reason) noexcept {
    const std::size_t size = ::strnlen(reason, EVENTLOG_SNAPSHOT_REASON_SIZE + 1);
    if (size <= EVENTLOG_SNAPSHOT_REASON_SIZE) {
        return size;
    }
    // No character is longer than four bytes; what is no UTF-8 is cut anywhere.
    for (std::size_t cut = 0; cut < 4; ++cut) {
        if (!continues_character(reason[EVENTLOG_SNAPSHOT_REASON_SIZE - cut])) {
            return EVENTLOG_SNAPSHOT_REASON_SIZE - cut;
        }
    }
    return EVENTLOG_SNAPSHOT_REASON_SIZE;
}

reason_words pack(const char* reason) noexcept {
    reason_words words{};
    const std::size_t size = reason == nullptr ? 0 : kept_size(reason);
    for (std::size_t i = 0; i < size; ++i) {
        words[i / bytes_of_word] |= std::uint64_t{static_cast<unsigned char>(reason[i])}
                                    << (i % bytes_of_word * 8);
    }
    return words;
}

/// Unless a request with a later ticket has been here.
void store_word(__u64& word, std::uint64_t bytes, std::uint32_t ticket) noexcept {
    const std::uint64_t wanted = bytes | std::uint64_t{ticket & 0xffffU}
                                             << EVENTLOG_SNAPSHOT_TICKET_SHIFT;
    auto place = shared(word);
    __u64 found = place.load(std::memory_order_relaxed);
    for (int swap = 0; swap < swaps_max; ++swap) {
        const auto ahead =
            static_cast<std::uint16_t>(ticket - (found >> EVENTLOG_SNAPSHOT_TICKET_SHIFT));
        if (ahead == 0 || ahead > INT16_MAX ||
            place.compare_exchange_strong(found, wanted, std::memory_order_relaxed)) {
            return;
        }
    }
}

/// False if it is no flight recorder, or not any more.
bool ask(eventlog_region& region, const reason_words& reason) noexcept {
    constexpr std::uint32_t recorder = EVENTLOG_FEATURE_OVERWRITE | EVENTLOG_FEATURE_STANDING;
    if (shared(region.state).load(std::memory_order_relaxed) != EVENTLOG_REGION_LIVE ||
        (shared(region.features).load(std::memory_order_relaxed) & recorder) != recorder) {
        return false;
    }
    const std::uint32_t ticket =
        shared(region.snapshot_tickets).fetch_add(1, std::memory_order_relaxed) + 1;
    for (std::size_t i = 0; i < reason.size(); ++i) {
        store_word(region.snapshot_reason[i], reason[i], ticket);
    }
    // Release: whoever sees the request sees its reason, and all that this thread has recorded.
    shared(region.snapshots_wanted).fetch_add(1, std::memory_order_release);
    static_cast<void>(
        ::syscall(SYS_futex, &region.snapshots_wanted, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0));
    return true;
}

}  // namespace
}  // namespace eventlog::core

unsigned eventlog_snapshot(const char* reason) {
    using namespace eventlog::core;
    const int saved = errno;
    const reason_words words = pack(reason);
    unsigned asked = 0;
    for (subscription_slot& slot : subscription_slots) {
        const std::uint64_t serial = slot.serial.load(std::memory_order_acquire);
        if (serial == 0 || !slot.overwrites.load(std::memory_order_relaxed)) {
            continue;
        }
        const slot_user user(slot, serial);
        if (user.holds() && ask(*slot.region(), words)) {
            ++asked;
        }
    }
    errno = saved;
    return asked;
}
