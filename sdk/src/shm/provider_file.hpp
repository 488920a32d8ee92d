// SPDX-License-Identifier: MIT
//
// A provider's file in the directory: identity, gate, schema.
#pragma once

#include <linux/eventlog.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "platform/error_text.hpp"
#include "platform/process.hpp"
#include "shm/directory.hpp"
#include "shm/mapped_files.hpp"

namespace eventlog::core {

/// What a process publishes.
struct provider_content {
    std::span<const std::uint8_t> schema;
    const char* name;  // as in the schema
    std::uint64_t schema_hash;
    std::uint32_t event_count;
    std::uint32_t* gate;  // and the counters behind it
    std::size_t gate_size;
    bool wants_notifications;  // whether it wants to know when subscriptions come and go
};

using provider_file_name = std::array<char, 96>;

/// Several instances of a provider in one process differ by their last number.
[[nodiscard]] provider_file_name instance_file_name(const char* provider, std::uint32_t pid,
                                                    unsigned instance) noexcept;

enum class publish_result { published, no_directory, no_space, not_mapped };

/// Makes the file, maps its gate over content.gate and gives it a name, which is returned in
/// `name`. On failure `error` says why and the gate is as it was.
[[nodiscard]] publish_result publish_provider(const directory& where,
                                              const provider_content& content,
                                              const process_identity& self,
                                              provider_file_name& name, error_text& error) noexcept;

/// Puts private zero pages over the gate: nobody listens any more, whatever others set.
void close_gate(std::uint32_t* gate, std::size_t gate_size) noexcept;

/// Whether the library of that provider's process knows all these features of a region.
[[nodiscard]] inline bool supports_features(const eventlog_provider_file& provider,
                                            std::uint32_t features) noexcept {
    return (features & ~(provider.region_features | EVENTLOG_FEATURES_FIRST)) == 0;
}

/// Somebody's provider file, opened and checked.
class provider_file {
  public:
    provider_file() noexcept = default;
    provider_file(const provider_file&) = delete;
    provider_file& operator=(const provider_file&) = delete;
    ~provider_file();

    /// Returns false, with a sentence, if the file is not a whole provider file.
    [[nodiscard]] bool open(const directory& where, const char* name, error_text& error) noexcept;

    [[nodiscard]] const eventlog_provider_file& header() const noexcept { return header_; }

    /// Whether the process that published it still has it. `mapped` may be the same for any number
    /// of files: those of one process that follow each other cost least.
    [[nodiscard]] bool is_alive(mapped_files& mapped) const noexcept;

    /// Reads the schema; `bytes` must be header().schema_size long.
    [[nodiscard]] bool read_schema(std::span<std::uint8_t> bytes) const noexcept;

    /// Reads the gate words of the first events, without changing or mapping anything.
    [[nodiscard]] bool read_gate(std::span<std::uint32_t> words) const noexcept;

    /// What the process has counted so far.
    [[nodiscard]] bool read_counters(eventlog_counters_page& counters) const noexcept;

    /// Sets a subscription's bit in the gate word of an event below header().event_count. Maps the
    /// gate at the first call; false if that fails.
    [[nodiscard]] bool set_bit(std::uint32_t event, unsigned slot) noexcept;

    /// Of a subscription that has been marked as ended: clears its bit in all gate words. An
    /// application that may have its region mapped is called to attention before, so that its next
    /// emit leaves it, whoever dies over this.
    void detach_slot(unsigned slot) noexcept;

    /// Tells the application, if it wants to know, that a subscription has come or gone: when its
    /// bits have been set or cleared.
    void notify_if_wanted() noexcept;

    /// Our own file: from now on we want to know.
    void request_notifications() noexcept;

  private:
    [[nodiscard]] bool map_gate() noexcept;
    [[nodiscard]] bool has_bit(unsigned slot) const noexcept;
    void raise_notification() noexcept;

    unique_fd file_;
    eventlog_provider_file header_{};
    std::uint32_t* gate_ = nullptr;
};

}  // namespace eventlog::core
