// SPDX-License-Identifier: MIT
#include "shm/own_losses.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "ring/gate_layout.hpp"
#include "shm/exact_io.hpp"
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

/// In the counters behind the own gate, which is closed already. True also if they cannot be read.
bool has_counted_losses(const unique_fd& file, const published_place& place) noexcept {
    std::array<__u64, EVENTLOG_SUBSCRIPTIONS_MAX> words{};
    const std::uint64_t offset =
        place.gate_offset + EVENTLOG_GATE_SIZE + offsetof(eventlog_counters_page, unattached);
    return !file || !read_exactly(file, words.data(), sizeof words, offset) ||
           std::ranges::any_of(words, [](__u64 word) { return word != 0; });
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
    return has_slot_serials() &&
           (has_early_losses(*place.entry) ||
            (place.has_own_gate && has_counted_losses(file, place))) &&
           has_reader(where, name, place);
}

}  // namespace eventlog::core
