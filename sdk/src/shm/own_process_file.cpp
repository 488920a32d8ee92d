// SPDX-License-Identifier: MIT
#include "shm/own_process_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "platform/short_text.hpp"
#include "platform/startup_section.hpp"
#include "shm/exact_io.hpp"
#include "shm/gate_mapping.hpp"
#include "shm/mapped_directory.hpp"
#include "shm/own_losses.hpp"
#include "shm/process_file_layout.hpp"
#include "shm/process_file_room.hpp"

namespace eventlog::core {
namespace {

// Withdrawn entries that are not reused yet: a consumer may be about to set bits for them.
constexpr std::uint32_t quarantined = 64;
constexpr unsigned copies_max = 64;        // of the library in one process, each with a file
constexpr std::uint32_t counted_max = 64;  // withdrawn providers whose counters stay

using process_file_name = short_text<48>;

struct file_state {
    process_file_name name{};
    dev_t device = 0;
    ino_t inode = 0;  // 0: there is no file
    process_file_room room{};
    std::uint64_t shared_gate = 0;
    std::uint64_t block = 0;  // the last block of the directory
    std::uint32_t block_number = 0;
    eventlog_directory_block head{};
    std::uint32_t generation = 0;
    std::uint32_t entries = 0;  // of all blocks
    std::uint32_t published = 0;
    std::uint32_t removed = 0;   // not reused yet
    std::uint32_t removals = 0;  // ever
    std::uint32_t counted = 0;   // withdrawn ones whose counters stay
};
[[EVENTLOG_STARTUP_SECTION]] constinit file_state own_file{};

/// For how many providers room is set aside at once: for more in programs with more of them.
std::uint64_t providers_ahead() noexcept {
    constexpr std::uint64_t ahead_max = 16;
    return std::clamp<std::uint64_t>(own_file.entries, 1, ahead_max);
}

process_file_name file_name_of(const process_identity& self, unsigned copy) noexcept {
    process_file_name name;
    name.put_number(self.pid).put('.').put_number(self.start_time);
    if (copy != 0) {
        name.put('.').put_number(copy);
    }
    return name;
}

/// Links the file under the first free name.
int link_under_own_name(const unique_fd& file, const directory& where,
                        const process_identity& self) noexcept {
    for (unsigned copy = 0; copy < copies_max; ++copy) {
        own_file.name = file_name_of(self, copy);
        const int result = link_file(file, where.processes, own_file.name.c_str());
        if (result != EEXIST) {
            return result;
        }
    }
    return EEXIST;
}

/// An empty descriptor if the file was removed or replaced. `inode` is the file's of a place.
unique_fd open_again(const directory& where, std::uint64_t inode) noexcept {
    unique_fd file;
    if (own_file.inode != 0 && own_file.inode == inode) {
        file = unique_fd(::openat(where.processes.get(), own_file.name.c_str(),
                                  O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
        struct stat status {};
        if (file && (::fstat(file.get(), &status) != 0 || status.st_dev != own_file.device ||
                     status.st_ino != own_file.inode)) {
            file = unique_fd{};
        }
    }
    return file;
}

/// Removes the file's name unless it belongs to another file.
void remove_name(const directory& where) noexcept {
    struct stat status {};
    if (::fstatat(where.processes.get(), own_file.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) ==
            0 &&
        status.st_dev == own_file.device && status.st_ino == own_file.inode) {
        static_cast<void>(::unlinkat(where.processes.get(), own_file.name.c_str(), 0));
    }
}

void forget_file() noexcept {
    if (own_file.inode != 0) {
        unmap_directory();
    }
    own_file = {};
}

bool write_header(const unique_fd& file, const process_identity& self) noexcept {
    eventlog_process_file header{};
    header.magic = EVENTLOG_PROCESS_MAGIC;
    header.version = EVENTLOG_PROCESS_VERSION;
    header.region_features = EVENTLOG_FEATURES;
    header.pid = self.pid;
    header.uid = self.uid;
    header.start_time = self.start_time;
    header.pid_namespace = self.pid_namespace;
    header.parent = static_cast<std::uint32_t>(::getppid());
    std::memcpy(header.process, self.name.data(), sizeof header.process);
    header.shared_gate_offset = own_file.shared_gate;
    return write_exactly(file, &header, sizeof header, 0);
}

bool write_block_head(const unique_fd& file) noexcept {
    return write_exactly(file, &own_file.head, sizeof own_file.head, own_file.block);
}

/// Creates the file without a name and without providers.
unique_fd create_file(const directory& where, const process_identity& self, publish_result& result,
                      error_text& error) noexcept {
    forget_file();
    result = publish_result::no_directory;
    unique_fd file = create_unnamed_file(where.processes, where.name, error);
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0) {
        return unique_fd{};
    }
    own_file.block = EVENTLOG_PROCESS_DIRECTORY_OFFSET;
    own_file.head.capacity = directory_capacity(0);
    result = publish_result::no_space;
    own_file.room.end = EVENTLOG_PROCESS_HEADER_SIZE;
    own_file.shared_gate = own_file.room.take(file, gate_room());
    if (own_file.shared_gate == 0 || !reserve_room(file, 0, EVENTLOG_PROCESS_HEADER_SIZE) ||
        !reserve_gate(file, own_file.shared_gate) || !write_header(file, self) ||
        !write_block_head(file)) {
        return unique_fd{};
    }
    if (!map_directory_block(file, 0, 0)) {
        result = publish_result::not_mapped;
        return unique_fd{};
    }
    own_file.device = status.st_dev;
    own_file.inode = status.st_ino;
    return file;
}

/// Appends a block when the last one is full.
bool add_block(const unique_fd& file) noexcept {
    const std::uint64_t block = own_file.room.take(file, directory_block_size);
    if (block == 0 || !reserve_room(file, block, directory_block_size)) {
        return false;
    }
    const eventlog_directory_block next{0, directory_capacity(own_file.block_number + 1), 0, {}};
    eventlog_directory_block previous = own_file.head;
    previous.next_offset = block;
    if (!map_directory_block(file, own_file.block_number + 1, block) ||
        !write_exactly(file, &next, sizeof next, block) ||
        !write_exactly(file, &previous, sizeof previous, own_file.block)) {
        return false;
    }
    own_file.block = block;
    ++own_file.block_number;
    own_file.head = next;
    return true;
}

/// A new entry; the directory includes it when the block's head is written.
publish_result take_new_entry(const unique_fd& file, published_place& place) noexcept {
    if (own_file.entries == EVENTLOG_PROCESS_PROVIDERS_MAX) {
        return publish_result::too_many;
    }
    if (own_file.head.used == own_file.head.capacity && !add_block(file)) {
        return publish_result::no_space;
    }
    place.gate_offset = own_file.room.take_gate(file, providers_ahead());
    if (place.gate_offset == 0) {
        return publish_result::no_space;
    }
    place.entry_offset = own_file.block + sizeof own_file.head +
                         std::uint64_t{own_file.head.used} * sizeof(eventlog_published_provider);
    place.inode = own_file.inode;
    place.has_own_gate = false;
    place.entry = mapped_entry(own_file.block_number, own_file.head.used);
    return publish_result::published;
}

/// Fills in an entry with the schema behind it, but for its state.
publish_result fill_entry(const unique_fd& file, const provider_content& content,
                          published_place& place, bool& is_reused) noexcept {
    eventlog_published_provider entry{};
    const bool may_reuse =
        (own_file.removed > quarantined || own_file.entries == EVENTLOG_PROCESS_PROVIDERS_MAX) &&
        own_file.removed != 0;
    const removed_entry removed =
        may_reuse ? find_oldest_removed(own_file.block_number) : removed_entry{};
    is_reused = removed.entry != nullptr;
    if (is_reused) {
        entry.generation = removed.entry->generation;
        entry.schema_offset = removed.entry->schema_offset;
        entry.schema_room = removed.entry->schema_room;
        place = {removed.offset, removed.entry->gate_offset, own_file.inode, false, removed.entry};
        // A consumer may have set bits since the gate was freed.
        free_gate(file, place.gate_offset);
    } else if (const publish_result result = take_new_entry(file, place);
               result != publish_result::published) {
        return result;
    }
    entry.state = EVENTLOG_PUBLISHED_EMPTY;
    ++entry.generation;
    entry.event_count = content.event_count;
    entry.schema_size = static_cast<std::uint32_t>(content.schema.size());
    entry.schema_hash = content.schema_hash;
    entry.gate_offset = place.gate_offset;
    entry.gate_mapped = entry.state_requested = 0;
    std::ranges::fill(entry.early, 0);
    entry.wants_notifications = content.wants_notifications ? 1 : 0;
    if (entry.schema_room < entry.schema_size) {
        entry.schema_offset = own_file.room.take_schema(file, entry.schema_size, providers_ahead());
        entry.schema_room = static_cast<std::uint32_t>(round_up_to(entry.schema_size, 8));
    }
    // The entry first: its state is 0 before the schema changes.
    return entry.schema_offset != 0 &&
                   write_exactly(file, &entry, sizeof entry, place.entry_offset) &&
                   write_exactly(file, content.schema.data(), content.schema.size(),
                                 entry.schema_offset)
               ? publish_result::published
               : publish_result::no_space;
}

// The members below change in an emit, or when a provider is withdrawn. They are stored through the
// mapping, because write(2) ends a program that has lowered its limit of file sizes meanwhile.

/// Whether the file of that place is the present one, so that its entry is the mapped one.
bool is_present(const published_place& place) noexcept {
    return own_file.inode != 0 && own_file.inode == place.inode;
}

void store_state(const published_place& place, std::uint32_t value) noexcept {
    std::atomic_ref(place.entry->state).store(value, std::memory_order_release);
    std::atomic_ref(mapped_header().generation)
        .store(++own_file.generation, std::memory_order_release);
}

/// Before the process looks at its gate or scans for subscriptions.
void store_before_scan(__u32& member) noexcept {
    std::atomic_ref(member).store(1, std::memory_order_release);
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

void count_entry(const unique_fd& file, bool is_reused) noexcept {
    ++own_file.published;
    if (is_reused) {
        --own_file.removed;
    } else {
        ++own_file.entries;
        ++own_file.head.used;
        static_cast<void>(write_block_head(file));
    }
}

void explain(publish_result result, const directory& where, const char* provider,
             error_text& error) noexcept {
    switch (result) {
        case publish_result::no_space:
            error.set(
                "No space for provider %s in %s. Free some there, set EVENTLOG_DIR to another "
                "tmpfs, or raise the limit of file sizes (ulimit -f).",
                provider, where.name);
            break;
        case publish_result::too_many:
            error.set("Provider %s is not published: this process has published %u already. "
                      "Withdraw some, or combine them.",
                      provider, unsigned{EVENTLOG_PROCESS_PROVIDERS_MAX});
            break;
        case publish_result::not_mapped:
            error.set("The gate of provider %s cannot be mapped (%s). Raise vm.max_map_count or "
                      "the memory limit.",
                      provider, system_error{errno});
            break;
        case publish_result::published:
        case publish_result::no_directory:
            break;
    }
}

/// Maps the provider's own gate. On failure `result` has the reason.
bool use_own_gate(const unique_fd& file, published_place& place, std::uint32_t* gate,
                  publish_result& result) noexcept {
    if (!reserve_gate(file, place.gate_offset)) {
        result = publish_result::no_space;
        return false;
    }
    if (!map_gate(gate, file, place.gate_offset)) {
        result = publish_result::not_mapped;
        return false;
    }
    store_before_scan(place.entry->gate_mapped);
    place.has_own_gate = true;
    return true;
}

/// The shared gate, or the own one: for a provider that wants it, and where notifications of other
/// providers are left in the shared gate, because this one's events would not be disabled there.
publish_result map_first_gate(const unique_fd& file, const provider_content& content,
                              published_place& place) noexcept {
    publish_result result = publish_result::published;
    if (!content.wants_own_gate) {
        if (!map_gate(content.gate, file, own_file.shared_gate)) {
            return publish_result::not_mapped;
        }
        const std::span words(content.gate, content.event_count);
        if (std::ranges::all_of(words, [](const std::uint32_t& word) {
                return __atomic_load_n(&word, __ATOMIC_RELAXED) == 0;
            })) {
            return result;
        }
    }
    if (!use_own_gate(file, place, content.gate, result) && !content.wants_own_gate) {
        return publish_result::published;  // the first emits try again
    }
    return result;
}

publish_result add_to(const unique_fd& file, const directory& where,
                      const provider_content& content, published_place& place,
                      error_text& error) noexcept {
    bool is_reused = false;
    // The limit may be lower than it was when the file became that large.
    publish_result result = is_size_allowed(own_file.room.end)
                                ? fill_entry(file, content, place, is_reused)
                                : publish_result::no_space;
    if (result == publish_result::published) {
        result = map_first_gate(file, content, place);
    }
    if (result != publish_result::published) {
        explain(result, where, content.name, error);
        if (is_reused) {
            store_state(place, EVENTLOG_PUBLISHED_REMOVED);  // it can be used again
        }
        place = {};
        return result;
    }
    // Ready after it is mapped, so that the process sees the bits of each consumer that finds it.
    store_state(place, EVENTLOG_PUBLISHED_READY);
    count_entry(file, is_reused);
    return publish_result::published;
}

}  // namespace

publish_result publish_provider(const directory& where, const provider_content& content,
                                const process_identity& self, published_place& place,
                                error_text& error) noexcept {
    if (const unique_fd file = open_again(where, own_file.inode)) {
        return add_to(file, where, content, place, error);
    }
    publish_result result = publish_result::published;
    const unique_fd file = create_file(where, self, result, error);
    if (!file) {
        explain(result, where, content.name, error);
        forget_file();
        return result;
    }
    // The first provider is mapped before the file has a name: a file that no process maps is
    // removed as that of a dead one.
    result = add_to(file, where, content, place, error);
    if (result == publish_result::published) {
        if (const int failure = link_under_own_name(file, where, self); failure != 0) {
            static_cast<void>(close_gate(content.gate));
            error.set("Provider %s cannot be published in %s (%s). Check that /proc is mounted and "
                      "that you may write there.",
                      content.name, where.name, system_error{failure});
            result = publish_result::no_directory;
        }
    }
    if (result != publish_result::published) {
        forget_file();
        place = {};
    }
    return result;
}

bool map_own_gate(const directory& where, published_place& place, std::uint32_t* gate) noexcept {
    const unique_fd file = open_again(where, place.inode);
    publish_result ignored = publish_result::published;
    return file && use_own_gate(file, place, gate, ignored);
}

void request_notifications(const published_place& place) noexcept {
    if (is_present(place)) {
        store_before_scan(place.entry->wants_notifications);
    }
}

bool take_state_request(const published_place& place) noexcept {
    return is_present(place) && std::atomic_ref(place.entry->state_requested).exchange(0) != 0;
}

void withdraw_provider(const directory& where, const published_place& place) noexcept {
    if (!is_present(place)) {
        return;
    }
    const bool is_last = --own_file.published == 0;
    const unique_fd file = open_again(where, place.inode);
    if (own_file.counted < counted_max &&
        may_have_unread_losses(where, file, own_file.name.c_str(), place)) {
        ++own_file.counted;
        store_state(place, EVENTLOG_PUBLISHED_COUNTED);
    } else {
        std::atomic_ref(place.entry->removal).store(++own_file.removals, std::memory_order_relaxed);
        store_state(place, EVENTLOG_PUBLISHED_REMOVED);
        ++own_file.removed;
        if (is_last && own_file.counted == 0) {
            remove_name(where);
        } else if (file) {
            free_gate(file, place.gate_offset);  // otherwise when the entry is used again
        }
    }
    if (is_last && own_file.counted == 0) {
        forget_file();
    }
}

void forget_process_file() noexcept {
    forget_file();
}

const eventlog_process_file& own_process_header() noexcept {
    return mapped_header();
}

std::uint64_t slot_serial(unsigned slot) noexcept {
    return __atomic_load_n(&own_process_header().slot_serial[slot], __ATOMIC_ACQUIRE);
}

void replace_slot_serial(unsigned slot, std::uint64_t known, std::uint64_t serial) noexcept {
    if (own_file.inode != 0) {
        __u64 expected = known;
        std::atomic_ref(mapped_header().slot_serial[slot])
            .compare_exchange_strong(expected, serial, std::memory_order_release,
                                     std::memory_order_relaxed);
    }
}

bool has_other_process_file(const directory& where, const process_identity& self) noexcept {
    return own_file.inode == 0 &&
           ::faccessat(where.processes.get(), file_name_of(self, 0).c_str(), F_OK, 0) == 0;
}

}  // namespace eventlog::core
