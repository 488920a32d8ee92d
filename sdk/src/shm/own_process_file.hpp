// SPDX-License-Identifier: MIT
//
// The file in which this process publishes its providers: created with the first one, removed with
// the last. uapi/linux/eventlog.h describes its content, process_file.hpp is the reading side.
//
// All functions require the registry lock. None keeps a descriptor: the file is opened again by its
// name, and only used if it is still the same file.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "platform/error_text.hpp"
#include "platform/process.hpp"
#include "shm/directory.hpp"
#include "shm/process_file_layout.hpp"

namespace eventlog::core {

/// A provider to be published.
struct provider_content {
    std::span<const std::uint8_t> schema;
    const char* name;
    std::uint64_t schema_hash;
    std::uint32_t event_count;
    std::uint32_t* gate;  // with the counters behind it
    bool wants_notifications;
    bool wants_own_gate;  // from the beginning
};

/// The places of a published provider in the file of this process.
struct published_place {
    std::uint64_t entry_offset = 0;
    std::uint64_t gate_offset = 0;
    std::uint64_t inode = 0;  // of the file, which may have been removed and created again
    bool has_own_gate = false;
    eventlog_published_provider* entry = nullptr;  // mapped, readable for ever
};

enum class publish_result { published, no_directory, no_space, not_mapped, too_many };

/// Adds the provider to the file, which is created if there is none, with a gate of it mapped
/// over content.gate: its own if that is wanted, or if the shared one notifies other providers. On
/// failure `error` holds the message, and content.gate is unchanged.
[[nodiscard]] publish_result publish_provider(const directory& where,
                                              const provider_content& content,
                                              const process_identity& self, published_place& place,
                                              error_text& error) noexcept;

/// Maps the provider's own gate in place of the shared one. False if there is no memory or the file
/// cannot be opened; the shared gate stays then. Calls no function that a signal handler may not.
[[nodiscard]] bool map_own_gate(const directory& where, published_place& place,
                                std::uint32_t* gate) noexcept;

/// The header of the process file as mapped in this process; all 0 while there is no file. Any
/// thread, any signal handler.
[[nodiscard]] const eventlog_process_file& own_process_header() noexcept;

/// The serial that the process file has for a slot; 0: none. Any thread, any signal handler.
[[nodiscard]] std::uint64_t slot_serial(unsigned slot) noexcept;

/// Whether the process file has another serial for the slot than this one of an attachment or of a
/// mapped region. Any thread, any signal handler.
[[nodiscard]] inline bool is_slot_replaced(unsigned slot, std::uint64_t serial) noexcept {
    const std::uint64_t now = slot_serial(slot);
    return now != 0 && now != serial;
}

/// Stores the serial of the subscription in a slot, before bits of the slot are set. If the slot
/// does not have the serial `known` any more, a later subscription has stored its own, which stays.
void replace_slot_serial(unsigned slot, std::uint64_t known, std::uint64_t serial) noexcept;

/// Requests notifications for a published provider from now on.
void request_notifications(const published_place& place) noexcept;

/// Whether a consumer has requested the state of a published provider since the last call.
[[nodiscard]] bool take_state_request(const published_place& place) noexcept;

/// Marks the entry as removed and frees its gate; removes the file with the last provider. The
/// provider's gate is closed. `where` may be empty: then the entry alone changes.
void withdraw_provider(const directory& where, const published_place& place) noexcept;

/// Called in a forked child: the file is the parent's.
void forget_process_file() noexcept;

/// Whether there is a file of that process that is not the one of this object: of a copy of this
/// library, or of a program that this process ran before an exec.
[[nodiscard]] bool has_other_process_file(const directory& where,
                                          const process_identity& self) noexcept;

}  // namespace eventlog::core
