// SPDX-License-Identifier: MIT
#include "shm/own_losses.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "ring/gate_layout.hpp"
#include "shm/exact_io.hpp"
#include "shm/kernel_losses.hpp"
#include "shm/mapped_directory.hpp"
#include "shm/process_file.hpp"
#include "shm/subscription_file.hpp"

namespace eventlog::core {
namespace {

bool has_early_losses(eventlog_published_provider& entry) noexcept {
    return std::ranges::any_of(entry.early, [](const __u32& word) {
        return (__atomic_load_n(&word, __ATOMIC_ACQUIRE) & ~EVENTLOG_EARLY_LISTENS) != 0;
    });
}

/// The losses in a struct eventlog_counters_page, which is read up to there.
struct loss_counters {
    std::array<eventlog_route_counters, EVENTLOG_ROUTES_MAX> routes;
    std::array<__u64, EVENTLOG_SUBSCRIPTIONS_MAX> unattached;
};
static_assert(offsetof(loss_counters, unattached) == offsetof(eventlog_counters_page, unattached));

/// Behind the own gate, which is closed already. True also if they cannot be read.
bool has_counted_losses(const unique_fd& file, const published_place& place) noexcept {
    loss_counters found{};
    return !file ||
           !read_exactly(file, &found, sizeof found, place.gate_offset + EVENTLOG_GATE_SIZE) ||
           has_losses(found.routes[EVENTLOG_COUNTERS_USER_EVENTS]) ||
           (has_slot_serials() &&
            std::ranges::any_of(found.unattached, [](__u64 word) { return word != 0; }));
}

/// Of a subscription that exists.
bool has_reader(const directory& where, const char* name, const published_place& place) noexcept {
    process_file file;
    error_text ignored;
    if (!where.processes || !file.open(where, name, ignored)) {
        return true;
    }
    published_provider provider(file);
    return file.inode() == place.inode && provider.move_to(place.entry_offset) &&
           may_have_unread_losses(where, provider);
}

}  // namespace

bool may_have_unread_losses(const directory& where, const unique_fd& file, const char* name,
                            const published_place& place) noexcept {
    // A provider that reads the shared gate counts in its entry only.
    return ((has_slot_serials() && has_early_losses(*place.entry)) ||
            (place.has_own_gate && has_counted_losses(file, place))) &&
           has_reader(where, name, place);
}

}  // namespace eventlog::core
