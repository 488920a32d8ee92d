// SPDX-License-Identifier: MIT
#include "ring/snapshot_reason.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstddef>
#include <cstring>

#include "ring/region.hpp"

namespace eventlog::core {
namespace {

constexpr std::size_t bytes_of_word = EVENTLOG_SNAPSHOT_TICKET_SHIFT / 8;

// Limits the compare-exchange attempts, because a hostile process could change the word for ever.
constexpr int swaps_max = 16;

bool continues_character(char c) noexcept {
    return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

/// The number of bytes that fit, cut at a character boundary.
std::size_t kept_size(const char* reason) noexcept {
    const std::size_t size = ::strnlen(reason, EVENTLOG_SNAPSHOT_REASON_SIZE + 1);
    if (size <= EVENTLOG_SNAPSHOT_REASON_SIZE) {
        return size;
    }
    // A UTF-8 character has at most four bytes; text that is not UTF-8 is cut anywhere.
    for (std::size_t cut = 0; cut < 4; ++cut) {
        if (!continues_character(reason[EVENTLOG_SNAPSHOT_REASON_SIZE - cut])) {
            return EVENTLOG_SNAPSHOT_REASON_SIZE - cut;
        }
    }
    return EVENTLOG_SNAPSHOT_REASON_SIZE;
}

/// Whether so many newer requests exist that 16 ticket bits cannot order them any more.
/// Precondition: behind an acquire load of a word, so the count includes the ticket of every word.
bool is_late(eventlog_region& region, std::uint32_t ticket) noexcept {
    return shared(region.snapshot_tickets).load(std::memory_order_relaxed) - ticket > INT16_MAX;
}

/// Stores the word unless it has a later ticket.
void store_word(eventlog_region& region, std::size_t index, std::uint64_t bytes,
                std::uint32_t ticket) noexcept {
    const std::uint64_t wanted = bytes | std::uint64_t{ticket & 0xffffU}
                                             << EVENTLOG_SNAPSHOT_TICKET_SHIFT;
    auto place = shared(region.snapshot_reason[index]);
    __u64 found = place.load(std::memory_order_acquire);
    for (int swap = 0; swap < swaps_max; ++swap) {
        const auto ahead =
            static_cast<std::uint16_t>(ticket - (found >> EVENTLOG_SNAPSHOT_TICKET_SHIFT));
        if (is_late(region, ticket) || ahead == 0 || ahead > INT16_MAX ||
            place.compare_exchange_strong(found, wanted, std::memory_order_acq_rel,
                                          std::memory_order_acquire)) {
            return;
        }
    }
}

}  // namespace

reason_words pack_reason(const char* reason) noexcept {
    reason_words words{};
    const std::size_t size = reason == nullptr ? 0 : kept_size(reason);
    for (std::size_t i = 0; i < size; ++i) {
        words[i / bytes_of_word] |= std::uint64_t{static_cast<unsigned char>(reason[i])}
                                    << (i % bytes_of_word * 8);
    }
    return words;
}

void store_reason(eventlog_region& region, const reason_words& reason,
                  std::uint32_t ticket) noexcept {
    for (std::size_t i = 0; i < reason.size(); ++i) {
        store_word(region, i, reason[i], ticket);
    }
}

bool request_snapshot(eventlog_region& region, const reason_words& reason) noexcept {
    constexpr std::uint32_t recorder = EVENTLOG_FEATURE_OVERWRITE | EVENTLOG_FEATURE_DETACHED;
    // A paused flight recorder still has the events from before.
    if (is_end_state(shared(region.state).load(std::memory_order_relaxed)) ||
        (shared(region.features).load(std::memory_order_relaxed) & recorder) != recorder) {
        return false;
    }
    const std::uint32_t ticket =
        shared(region.snapshot_tickets).fetch_add(1, std::memory_order_relaxed) + 1;
    store_reason(region, reason, ticket);
    // Release: a reader that sees the request also sees its reason and all records of this thread.
    shared(region.snapshots_requested).fetch_add(1, std::memory_order_release);
    static_cast<void>(::syscall(SYS_futex, &region.snapshots_requested, FUTEX_WAKE, INT_MAX,
                                nullptr, nullptr, 0));
    return true;
}

}  // namespace eventlog::core
