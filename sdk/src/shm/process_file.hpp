// SPDX-License-Identifier: MIT
//
// The file in which a process publishes its providers, as other processes read and change it.
//
// Its content is not trusted: each size and offset is checked against the file's size, the blocks
// of the directory are only followed forwards. Words are changed by futex(2), so a file that its
// owner truncates raises no SIGBUS here. own_process_file.hpp is the publishing side.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <span>

#include "platform/error_text.hpp"
#include "platform/process.hpp"
#include "shm/directory.hpp"
#include "shm/kernel_losses.hpp"
#include "shm/process_file_layout.hpp"

namespace eventlog::core {

/// Whether the library in that process supports all these features of a region.
[[nodiscard]] inline bool supports_features(const eventlog_process_file& process,
                                            std::uint32_t features) noexcept {
    return (features & ~(process.region_features | EVENTLOG_FEATURES_FIRST)) == 0;
}

/// A gate or another page of a process file, mapped here at the first use.
class mapped_page {
  public:
    mapped_page() noexcept = default;
    ~mapped_page() { unmap(); }
    mapped_page(const mapped_page&) = delete;
    mapped_page& operator=(const mapped_page&) = delete;

    /// The words; nullptr if they cannot be mapped. Precondition: a multiple of the page's size.
    [[nodiscard]] std::uint32_t* map(const unique_fd& file, std::uint64_t offset) noexcept;
    void unmap() noexcept;

  private:
    std::uint32_t* words_ = nullptr;
};

/// A process file, opened and validated.
class process_file {
  public:
    process_file() noexcept = default;
    process_file(const process_file&) = delete;
    process_file& operator=(const process_file&) = delete;
    ~process_file() = default;

    /// Returns false and the message in `error` if the file is no valid process file.
    [[nodiscard]] bool open(const directory& where, const char* name, error_text& error) noexcept;

    [[nodiscard]] const eventlog_process_file& header() const noexcept { return header_; }

    /// Which file it is, also after its name has been given to another one.
    [[nodiscard]] std::uint64_t inode() const noexcept { return inode_; }

    /// Stores the serial of the subscription in a slot, before bits of the slot are set. If it
    /// replaces another one, set_bit() also notifies the process, which may still write to the
    /// region of that one: if its file was removed by hand, it has not ended.
    void store_slot_serial(unsigned slot, std::uint64_t serial) noexcept;

    /// The serial that a slot has now, which the process may have changed since; 0: none.
    [[nodiscard]] std::uint64_t read_slot_serial(unsigned slot) const noexcept;

    /// Whether the publishing process still uses the file.
    [[nodiscard]] bool is_alive() const noexcept;

  private:
    friend class published_provider;

    /// Whether that part is in the file, which may have grown since the last look.
    [[nodiscard]] bool contains(std::uint64_t offset, std::uint64_t size) noexcept;
    /// Whether schemas of that size together can be in the file: each has memory of its own there.
    [[nodiscard]] bool may_have_schemas(std::uint64_t size) noexcept;
    [[nodiscard]] bool read_size() noexcept;

    unique_fd file_;
    std::uint64_t size_ = 0;
    std::uint64_t allocated_ = 0;
    std::uint64_t inode_ = 0;
    eventlog_process_file header_{};
    std::uint32_t new_slots_ = 0;       // whose subscription is another one than before
    std::uint32_t replaced_slots_ = 0;  // those of them that had a subscription before
    mapped_page shared_gate_;
};

/// The published providers of a process, one after the other:
///
///     for (published_provider provider(file); provider.next();) { ... }
class published_provider {
  public:
    enum class which { ready, with_counted };

    /// `file` outlives this object. `with_counted`: also withdrawn ones whose counters stay.
    explicit published_provider(process_file& file, which wanted = which::ready) noexcept;

    /// Moves to the next provider. False at the end. Damaged entries are skipped and counted.
    [[nodiscard]] bool next() noexcept;

    /// Instead of next(): moves to the entry at an offset of the file. False if it is not wanted.
    [[nodiscard]] bool move_to(std::uint64_t entry_offset) noexcept;

    [[nodiscard]] const eventlog_published_provider& entry() const noexcept { return entry_; }
    [[nodiscard]] const eventlog_process_file& process() const noexcept { return file_->header(); }
    /// See process_file::read_slot_serial().
    [[nodiscard]] std::uint64_t slot_serial(unsigned slot) const noexcept {
        return file_->read_slot_serial(slot);
    }
    /// Where the entry is in the file.
    [[nodiscard]] std::uint64_t entry_offset() const noexcept { return entry_offset_; }
    [[nodiscard]] std::uint32_t damaged() const noexcept { return damaged_; }

    /// Reads the schema. Precondition: `bytes` is entry().schema_size long. False also if the
    /// provider was withdrawn meanwhile.
    [[nodiscard]] bool read_schema(std::span<std::uint8_t> bytes) const noexcept;

    /// Reads the words of the first events of the provider's own gate, without changing or mapping
    /// the file.
    [[nodiscard]] bool read_gate(std::span<std::uint32_t> words) const noexcept;

    /// Reads the word of a slot in entry().early again.
    [[nodiscard]] bool read_early(unsigned slot, std::uint32_t& word) const noexcept;

    /// Reads the number of events that the provider has lost for a subscription because it was not
    /// attached. 0 also if it cannot be read, or changes all the time.
    [[nodiscard]] std::uint64_t read_unattached(unsigned slot, std::uint64_t serial) const noexcept;

    /// Whether it has lost events on their way to the kernel.
    [[nodiscard]] bool has_kernel_losses() const noexcept {
        return core::has_kernel_losses(file_->file_, entry_.gate_offset);
    }

    /// Of the provider of a process that has died: its state becomes EVENTLOG_PUBLISHED_COUNTED.
    void keep_counters() noexcept;

    /// Reads the current counters of the provider.
    [[nodiscard]] bool read_counters(eventlog_counters_page& counters) const noexcept;

    /// After process_file::store_slot_serial, before the first set_bit: events that were lost early
    /// for an ended subscription of the slot do not count for this one.
    void forget_predecessor(unsigned slot) noexcept;

    /// After process_file::store_slot_serial, before the first set_bit: clears the bits that a
    /// subscription has left which has not ended, because its file was removed by hand. If there
    /// are any, first sets the notification bits, so that the process unmaps the region of that
    /// one. The bits of `wanted` events stay, because the process may have found the new
    /// subscription and attached.
    void clear_unwanted_bits(unsigned slot,
                             const std::bitset<EVENTLOG_EVENTS_MAX>& wanted) noexcept;

    /// Sets a subscription's bit in the gate word of an event; notify() is called when all are set.
    /// False if the event is not below entry().event_count, or the gate cannot be mapped (at the
    /// first call) or has no memory; notify() then makes the process look for the subscription.
    [[nodiscard]] bool set_bit(std::uint32_t event, unsigned slot) noexcept;

    /// Clears the bit of an ended or paused subscription in all gate words. First sets the
    /// notification bits of an application that may have the region mapped, so that its next emit
    /// unmaps an ended region even if this process dies in between.
    void detach_slot(unsigned slot) noexcept;

    /// After the end of a subscription that was paused, whose bit is in no gate: makes an
    /// application that may have its region mapped unmap it at the next emit.
    void request_unmapping() noexcept;

    /// Requests the provider's state for all listeners in the kernel. Returns whether the
    /// application has callbacks, one of which may emit it at the next emit.
    [[nodiscard]] bool request_state() noexcept;

    /// The last step after bits have been set or cleared: makes a process that still reads its
    /// shared gate look at the provider's own one, and notifies the application if it wants that.
    void notify() noexcept;

  private:
    [[nodiscard]] bool read_block() noexcept;
    [[nodiscard]] bool read_entry(eventlog_published_provider& entry) const noexcept;
    [[nodiscard]] bool is_wanted() const noexcept;
    [[nodiscard]] bool is_complete() noexcept;
    [[nodiscard]] bool is_valid() noexcept;
    [[nodiscard]] std::uint32_t* gate() noexcept;
    [[nodiscard]] bool has_bit(unsigned slot) const noexcept;
    [[nodiscard]] std::uint32_t* entry_word(std::size_t member) noexcept;
    [[nodiscard]] std::uint32_t* early_word(unsigned slot) noexcept;
    void leave_entry() noexcept;
    void set_listening(unsigned slot) noexcept;
    void clear_listening(unsigned slot) noexcept;
    void raise_notification() noexcept;
    void raise_in_shared_gate() noexcept;

    process_file* file_;
    which wanted_;
    std::uint64_t block_offset_ = EVENTLOG_PROCESS_DIRECTORY_OFFSET;
    eventlog_directory_block block_{};
    std::uint32_t seen_ = 0;      // entries of all blocks
    std::uint32_t in_block_ = 0;  // the next entry of this block
    std::uint64_t entry_offset_ = 0;
    std::uint64_t schema_bytes_ = 0;  // of the entries until now
    eventlog_published_provider entry_{};
    mapped_page gate_;
    mapped_page entry_page_;
    std::uint32_t listening_ = 0;  // slots whose bits were set
    bool misses_bits_ = false;     // a bit of this provider could not be set
    std::uint32_t damaged_ = 0;
};

}  // namespace eventlog::core
