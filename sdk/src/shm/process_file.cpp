// SPDX-License-Identifier: MIT
#include "shm/process_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "shm/exact_io.hpp"
#include "shm/futex_atomic.hpp"
#include "shm/mapped_files.hpp"
#include "shm/process_file_layout.hpp"

namespace eventlog::core {
namespace {

constexpr unsigned notification_bit = std::countr_zero(EVENTLOG_GATE_NOTIFICATION);
constexpr unsigned early_listens_bit = std::countr_zero(EVENTLOG_EARLY_LISTENS);

constexpr std::uint64_t page_bytes = EVENTLOG_GATE_SIZE;  // of a gate, and of a directory block
constexpr std::uint64_t gate_bytes = EVENTLOG_GATE_SIZE + EVENTLOG_COUNTERS_SIZE;

bool is_gate_offset(std::uint64_t offset) noexcept {
    return offset >= EVENTLOG_PROCESS_HEADER_SIZE && offset % EVENTLOG_GATE_SIZE == 0;
}

}  // namespace

std::uint32_t* mapped_page::map(const unique_fd& file, std::uint64_t offset) noexcept {
    if (words_ == nullptr) {
        void* mapped = ::mmap(nullptr, EVENTLOG_GATE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
                              file.get(), static_cast<off_t>(offset));
        words_ = mapped == MAP_FAILED ? nullptr : static_cast<std::uint32_t*>(mapped);
    }
    return words_;
}

void mapped_page::unmap() noexcept {
    if (words_ != nullptr) {
        static_cast<void>(::munmap(words_, EVENTLOG_GATE_SIZE));
        words_ = nullptr;
    }
}

bool process_file::open(const directory& where, const char* name, error_text& error) noexcept {
    file_ = unique_fd(
        ::openat(where.processes.get(), name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file_) {
        error.set("The process file %s cannot be opened (%s).", name, system_error{errno});
        return false;
    }
    const bool readable = read_size() && read_exactly(file_, &header_, sizeof header_, 0);
    header_.process[sizeof header_.process - 1] = '\0';
    if (!readable || header_.magic != EVENTLOG_PROCESS_MAGIC ||
        header_.version != EVENTLOG_PROCESS_VERSION || size_ < EVENTLOG_PROCESS_HEADER_SIZE ||
        !is_gate_offset(header_.shared_gate_offset) ||
        !contains(header_.shared_gate_offset, gate_bytes)) {
        error.set("The process file %s is damaged or of another version of eventlog. Remove it "
                  "from %s/processes.",
                  name, where.name);
        return false;
    }
    return true;
}

bool process_file::read_size() noexcept {
    struct stat status {};
    if (::fstat(file_.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        return false;
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
    allocated_ = static_cast<std::uint64_t>(status.st_blocks) * 512;
    inode_ = status.st_ino;
    return true;
}

bool process_file::contains(std::uint64_t offset, std::uint64_t size) noexcept {
    const auto is_inside = [&] { return offset <= size_ && size_ - offset >= size; };
    return is_inside() || (read_size() && is_inside());
}

bool process_file::may_have_schemas(std::uint64_t size) noexcept {
    // Some file systems need less memory than the schemas have bytes.
    constexpr std::uint64_t always = EVENTLOG_SCHEMA_SIZE_MAX;
    const auto is_possible = [&] { return size <= always || size - always <= allocated_; };
    return is_possible() || (read_size() && is_possible());
}

void process_file::store_slot_serial(unsigned slot, std::uint64_t serial) noexcept {
    // The process may have found the subscription since the header was read.
    if (const std::uint64_t previous = read_slot_serial(slot); previous != serial) {
        new_slots_ |= 1U << slot;
        replaced_slots_ |= previous != 0 ? 1U << slot : 0;
    }
    write_exactly(file_, &serial, sizeof serial,
                  offsetof(eventlog_process_file, slot_serial) + slot * sizeof serial);
}

std::uint64_t process_file::read_slot_serial(unsigned slot) const noexcept {
    std::uint64_t serial = 0;
    return read_exactly(file_, &serial, sizeof serial,
                        offsetof(eventlog_process_file, slot_serial) + slot * sizeof serial)
               ? serial
               : 0;
}

bool process_file::is_alive() const noexcept {
    if (!core::is_alive(header_.pid, header_.start_time, header_.pid_namespace)) {
        return false;
    }
    // Other file systems may show mappings under device and inode numbers that differ from fstat's.
    struct statfs system {};
    struct stat status {};
    return ::fstatfs(file_.get(), &system) != 0 || system.f_type != TMPFS_MAGIC ||
           ::fstat(file_.get(), &status) != 0 || header_.pid_namespace != own_pid_namespace() ||
           may_map(header_.pid, status.st_dev, status.st_ino);
}

published_provider::published_provider(process_file& file, which wanted) noexcept
    : file_(&file), wanted_(wanted) {
    if (!read_block()) {
        ++damaged_;
        block_ = {};
    }
}

bool published_provider::read_block() noexcept {
    in_block_ = 0;
    return read_exactly(file_->file_, &block_, sizeof block_, block_offset_) &&
           block_.capacity != 0 && block_.used <= block_.capacity &&
           block_.capacity <= EVENTLOG_PROCESS_PROVIDERS_MAX &&
           file_->contains(block_offset_, sizeof block_ + std::uint64_t{block_.capacity} *
                                                              sizeof(eventlog_published_provider));
}

void published_provider::leave_entry() noexcept {
    gate_.unmap();
    entry_page_.unmap();
    listening_ = 0;
    misses_bits_ = false;
}

bool published_provider::next() noexcept {
    leave_entry();
    while (seen_ < EVENTLOG_PROCESS_PROVIDERS_MAX) {
        if (in_block_ == block_.used) {
            // Only forwards, so that a damaged chain ends.
            if (block_.next_offset <= block_offset_ || block_.used != block_.capacity) {
                return false;
            }
            block_offset_ = block_.next_offset;
            if (!read_block()) {
                ++damaged_;
                block_ = {};
                return false;
            }
            continue;
        }
        entry_offset_ = block_offset_ + sizeof block_ +
                        std::uint64_t{in_block_++} * sizeof(eventlog_published_provider);
        ++seen_;
        if (!read_entry(entry_)) {
            return false;
        }
        if (is_wanted()) {
            if (is_complete()) {
                return true;
            }
            damaged_ += is_wanted() ? 1 : 0;
        }
    }
    return false;
}

bool published_provider::move_to(std::uint64_t entry_offset) noexcept {
    leave_entry();
    entry_offset_ = entry_offset;
    return read_entry(entry_) && is_wanted() && is_complete();
}

/// Reads the entry again, after its state.
bool published_provider::is_complete() noexcept {
    std::atomic_thread_fence(std::memory_order_acquire);
    return read_entry(entry_) && is_wanted() && is_valid();
}

bool published_provider::is_wanted() const noexcept {
    return entry_.state == EVENTLOG_PUBLISHED_READY ||
           (entry_.state == EVENTLOG_PUBLISHED_COUNTED && wanted_ == which::with_counted);
}

bool published_provider::read_entry(eventlog_published_provider& entry) const noexcept {
    return read_exactly(file_->file_, &entry, sizeof entry, entry_offset_);
}

bool published_provider::is_valid() noexcept {
    return entry_.event_count != 0 && entry_.event_count <= EVENTLOG_EVENTS_MAX &&
           entry_.schema_size <= EVENTLOG_SCHEMA_SIZE_MAX &&
           file_->may_have_schemas(schema_bytes_ += entry_.schema_size) &&
           file_->contains(entry_.schema_offset, entry_.schema_size) &&
           is_gate_offset(entry_.gate_offset) && file_->contains(entry_.gate_offset, gate_bytes) &&
           entry_offset_ % page_bytes <= page_bytes - sizeof entry_;
}

bool published_provider::read_schema(std::span<std::uint8_t> bytes) const noexcept {
    eventlog_published_provider now{};
    return bytes.size() == entry_.schema_size &&
           read_exactly(file_->file_, bytes.data(), bytes.size(), entry_.schema_offset) &&
           read_entry(now) && now.state != EVENTLOG_PUBLISHED_EMPTY &&
           now.state != EVENTLOG_PUBLISHED_REMOVED && now.generation == entry_.generation;
}

bool published_provider::read_gate(std::span<std::uint32_t> words) const noexcept {
    return words.size() <= entry_.event_count &&
           read_exactly(file_->file_, words.data(), words.size_bytes(), entry_.gate_offset);
}

bool published_provider::read_early(unsigned slot, std::uint32_t& word) const noexcept {
    return read_exactly(file_->file_, &word, sizeof word,
                        entry_offset_ + offsetof(eventlog_published_provider, early) +
                            slot * sizeof word);
}

std::uint64_t published_provider::read_unattached(unsigned slot,
                                                  std::uint64_t serial) const noexcept {
    constexpr int tries_max = 100;
    std::uint32_t early = entry_.early[slot];
    for (int tries = 0; tries < tries_max; ++tries) {
        eventlog_counters_page page{};
        if (!read_counters(page)) {
            return 0;
        }
        const std::uint64_t word = page.unattached[slot];
        const bool is_tagged =
            word >> EVENTLOG_UNATTACHED_COUNT_BITS == EVENTLOG_UNATTACHED_TAG(serial);
        const std::uint64_t count = is_tagged ? word & EVENTLOG_UNATTACHED_COUNT_MASK : 0;
        // The process moves the early ones to the word above when it has mapped the gate.
        std::uint32_t now = 0;
        if (read_early(slot, now) && now == early) {
            early &= ~EVENTLOG_EARLY_LISTENS;
            return early != 0 && file_->read_slot_serial(slot) == serial ? count + early : count;
        }
        early = now;
    }
    return 0;
}

void published_provider::keep_counters() noexcept {
    const std::uint32_t state = EVENTLOG_PUBLISHED_COUNTED;
    write_exactly(file_->file_, &state, sizeof state,
                  entry_offset_ + offsetof(eventlog_published_provider, state));
}

bool published_provider::read_counters(eventlog_counters_page& counters) const noexcept {
    return read_exactly(file_->file_, &counters, sizeof counters,
                        entry_.gate_offset + EVENTLOG_GATE_SIZE);
}

std::uint32_t* published_provider::gate() noexcept {
    return gate_.map(file_->file_, entry_.gate_offset);
}

/// The member at that offset; nullptr if it cannot be mapped.
std::uint32_t* published_provider::entry_word(std::size_t member) noexcept {
    const std::uint64_t in_page = entry_offset_ % page_bytes;
    std::uint32_t* const page = entry_page_.map(file_->file_, entry_offset_ - in_page);
    return page == nullptr ? nullptr : &page[(in_page + member) / sizeof *page];
}

/// Nullptr if it cannot be mapped.
std::uint32_t* published_provider::early_word(unsigned slot) noexcept {
    return entry_word(offsetof(eventlog_published_provider, early) + slot * sizeof(std::uint32_t));
}

void published_provider::forget_predecessor(unsigned slot) noexcept {
    if ((file_->new_slots_ & 1U << slot) != 0 && entry_.early[slot] != 0) {
        const std::uint32_t none = 0;
        write_exactly(file_->file_, &none, sizeof none,
                      entry_offset_ + offsetof(eventlog_published_provider, early) +
                          slot * sizeof none);
    }
}

/// Before the first bit of the slot is set, so that the process counts the events for it that it
/// loses after it has seen the notification.
void published_provider::set_listening(unsigned slot) noexcept {
    if ((listening_ & 1U << slot) != 0) {
        return;
    }
    listening_ |= 1U << slot;
    if (std::uint32_t* const word = early_word(slot)) {
        static_cast<void>(futex_set_bit(word, early_listens_bit));
    }
}

void published_provider::clear_listening(unsigned slot) noexcept {
    if ((entry_.early[slot] & EVENTLOG_EARLY_LISTENS) != 0) {
        if (std::uint32_t* const word = early_word(slot)) {
            static_cast<void>(futex_clear_bit(word, early_listens_bit));
        }
    }
}

bool published_provider::set_bit(std::uint32_t event, unsigned slot) noexcept {
    set_listening(slot);
    const bool has_word = event < entry_.event_count && gate() != nullptr;
    // A provider attaches with its own gate only. After the serial, which the process compares when
    // it has cleared the notification; before the bit, because the fast path does not compare it.
    if (has_word && (file_->replaced_slots_ & 1U << slot) != 0 && entry_.gate_mapped != 0) {
        static_cast<void>(futex_set_bit(&gate()[event], notification_bit));
    }
    // Full fence: the application that sees the bit also sees everything stored before.
    const bool is_set = has_word && futex_set_bit(&gate()[event], slot);
    misses_bits_ = misses_bits_ || !is_set;
    return is_set;
}

void published_provider::clear_unwanted_bits(
    unsigned slot, const std::bitset<EVENTLOG_EVENTS_MAX>& wanted) noexcept {
    std::array<std::uint32_t, EVENTLOG_EVENTS_MAX> words{};
    const std::span first = std::span(words).first(entry_.event_count);
    if (!read_gate(first)) {
        return;
    }
    bool is_notified = false;
    for (std::uint32_t event = 0; event < first.size(); ++event) {
        if ((first[event] & 1U << slot) == 0 || wanted[event]) {
            continue;
        }
        if (gate() == nullptr) {
            return;
        }
        // The process may have the old region mapped, and may find no other notification.
        if (!std::exchange(is_notified, true) && entry_.gate_mapped != 0) {
            raise_notification();
        }
        if (!futex_clear_bit(&gate()[event], slot)) {
            return;
        }
    }
}

bool published_provider::has_bit(unsigned slot) const noexcept {
    std::array<std::uint32_t, EVENTLOG_EVENTS_MAX> words{};
    const std::span first = std::span(words).first(entry_.event_count);
    return read_gate(first) && std::ranges::any_of(first, [slot](std::uint32_t word) {
               return (word & 1U << slot) != 0;
           });
}

void published_provider::raise_notification() noexcept {
    for (std::uint32_t event = 0; event < entry_.event_count; ++event) {
        // Full fence: the application that sees the bit also sees everything stored before.
        if (!futex_set_bit(&gate()[event], notification_bit)) {
            return;
        }
    }
}

/// Of the events with listeners, which the process does not know yet. Of all events if bits could
/// not be set, for example because tmpfs is full: the process then scans for the subscription.
void published_provider::raise_in_shared_gate() noexcept {
    std::array<std::uint32_t, EVENTLOG_EVENTS_MAX> words{};
    const std::span own = std::span(words).first(entry_.event_count);
    std::uint32_t* const shared =
        file_->shared_gate_.map(file_->file_, file_->header_.shared_gate_offset);
    if (shared == nullptr || !read_gate(own)) {
        return;
    }
    for (std::uint32_t event = 0; event < own.size(); ++event) {
        if ((misses_bits_ || (own[event] & ~EVENTLOG_GATE_NOTIFICATION) != 0) &&
            !futex_set_bit(&shared[event], notification_bit)) {
            return;
        }
    }
}

void published_provider::detach_slot(unsigned slot) noexcept {
    clear_listening(slot);
    // Applications that set bits later check the subscription's state themselves. A gate without
    // the bit is not mapped, because that would give it memory.
    if (!has_bit(slot) || gate() == nullptr) {
        return;
    }
    raise_notification();
    for (std::uint32_t event = 0; event < entry_.event_count; ++event) {
        if (!futex_clear_bit(&gate()[event], slot)) {
            return;
        }
    }
}

void published_provider::request_unmapping() noexcept {
    // A provider attaches with its own gate only. Other gates are not mapped, as in detach_slot().
    if (entry_.gate_mapped != 0 && gate() != nullptr) {
        raise_notification();
    }
}

bool published_provider::request_state() noexcept {
    // A provider with listeners in the kernel has its own gate, which the kernel writes to.
    if (entry_.wants_notifications == 0 || entry_.gate_mapped == 0 || gate() == nullptr) {
        return false;
    }
    std::uint32_t* const word = entry_word(offsetof(eventlog_published_provider, state_requested));
    if (word == nullptr || !futex_set_bit(word, 0)) {
        return false;
    }
    raise_notification();
    return true;
}

void published_provider::notify() noexcept {
    // Read again: the application stores these members, then looks at its gate or scans; the
    // consumer sets bits, then reads the members. So at least one of them sees the other.
    eventlog_published_provider now{};
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (!read_entry(now) || now.generation != entry_.generation) {
        return;
    }
    if (now.gate_mapped == 0) {
        raise_in_shared_gate();
    } else if (now.wants_notifications != 0 && gate() != nullptr) {
        raise_notification();
    }
}

}  // namespace eventlog::core
