// SPDX-License-Identifier: MIT
#include "memory/snapshot_requests.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cstring>

#include "memory/region_accessor.hpp"
#include "ring/snapshot_reason.hpp"

namespace elog {
namespace {

using eventlog::core::shared;

constexpr std::uint32_t bytes_of_word = EVENTLOG_SNAPSHOT_TICKET_SHIFT / 8;

/// Whether `further` is equal to `there` or follows it. Both counters wrap around.
bool is_at_least(std::uint32_t further, std::uint32_t there) noexcept {
    return further - there <= UINT32_MAX / 2;
}

}  // namespace

snapshot_requests::snapshot_requests(const region_view& source)
    : region_(static_cast<eventlog_region*>(map_region(source.file, sizeof(eventlog_region)))) {}

snapshot_requests::~snapshot_requests() {
    static_cast<void>(::munmap(region_, sizeof(eventlog_region)));
}

std::uint32_t snapshot_requests::wanted() const noexcept {
    // Acquire: pairs with the request's store, before which the application has recorded its events
    // and reason.
    return shared(region_->snapshots_requested).load(std::memory_order_acquire);
}

request_counts snapshot_requests::counts() const noexcept {
    // In this order: a request is counted as wanted before it is answered. If more are answered
    // than wanted, another process has overwritten the counter, which is then ignored.
    const std::uint32_t answered =
        shared(region_->snapshots_completed).load(std::memory_order_acquire);
    const std::uint32_t all = wanted();
    return {all, is_at_least(all, answered) ? answered : 0};
}

std::optional<std::string> snapshot_requests::reason() const {
    std::string text;
    std::uint64_t first = 0;
    for (std::uint32_t i = 0; i < EVENTLOG_SNAPSHOT_REASON_WORDS; ++i) {
        const std::uint64_t word =
            shared(region_->snapshot_reason[i]).load(std::memory_order_relaxed);
        first = i == 0 ? word : first;
        if (((word ^ first) >> EVENTLOG_SNAPSHOT_TICKET_SHIFT) != 0) {
            return std::nullopt;
        }
        for (std::uint32_t byte = 0; byte < bytes_of_word; ++byte) {
            text.push_back(static_cast<char>(word >> (byte * 8) & 0xffU));
        }
    }
    text.resize(::strnlen(text.data(), text.size()));
    return text;
}

bool snapshot_requests::request(const std::string& reason) noexcept {
    return eventlog::core::request_snapshot(*region_, eventlog::core::pack_reason(reason.c_str()));
}

void snapshot_requests::answer(std::uint32_t wanted) noexcept {
    auto place = shared(region_->snapshots_completed);
    std::uint32_t there = place.load(std::memory_order_relaxed);
    // Other processes that answer only advance the counter, and are few. The bound keeps one that
    // overwrites it from holding this process here.
    for (int swap = 0; swap < 100; ++swap) {
        const bool is_further = is_at_least(wanted, there) || !is_at_least(this->wanted(), there);
        if (!is_further || place.compare_exchange_strong(there, wanted, std::memory_order_release,
                                                         std::memory_order_relaxed)) {
            return;
        }
    }
}

void snapshot_requests::wait(std::uint32_t seen, std::chrono::nanoseconds at_most) const noexcept {
    futex_wait(&region_->snapshots_requested, seen, at_most);
}

bool snapshot_requests::accepts_requests() const noexcept {
    return !eventlog::core::is_end_state(shared(region_->state).load(std::memory_order_relaxed));
}

}  // namespace elog
