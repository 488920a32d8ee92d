// SPDX-License-Identifier: MIT
//
// A provider's file in the directory: identity, gate, counters, schema.
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

/// The content of a new provider file.
struct provider_content {
    std::span<const std::uint8_t> schema;
    const char* name;  // equal to the name in the schema
    std::uint64_t schema_hash;
    std::uint32_t event_count;
    std::uint32_t* gate;  // with the counters behind it
    std::size_t gate_size;
    bool wants_notifications;  // whether the process wants notifications about subscriptions
};

using provider_file_name = std::array<char, 96>;

/// The file name. Instances of one provider in a process differ in the last number.
[[nodiscard]] provider_file_name instance_file_name(const char* provider, std::uint32_t pid,
                                                    unsigned instance) noexcept;

enum class publish_result { published, no_directory, no_space, not_mapped };

/// Creates the file, maps its gate over content.gate and links it under a name, which is returned
/// in `name`. On failure `error` holds the message and the gate is unchanged.
[[nodiscard]] publish_result publish_provider(const directory& where,
                                              const provider_content& content,
                                              const process_identity& self,
                                              provider_file_name& name, error_text& error) noexcept;

/// Maps private zero pages over the gate: it has no listeners from then on, whatever other
/// processes set.
void close_gate(std::uint32_t* gate, std::size_t gate_size) noexcept;

/// Whether the library in the provider's process supports all these features of a region.
[[nodiscard]] inline bool supports_features(const eventlog_provider_file& provider,
                                            std::uint32_t features) noexcept {
    return (features & ~(provider.region_features | EVENTLOG_FEATURES_FIRST)) == 0;
}

/// A provider file of any process, opened and validated.
class provider_file {
  public:
    provider_file() noexcept = default;
    provider_file(const provider_file&) = delete;
    provider_file& operator=(const provider_file&) = delete;
    ~provider_file();

    /// Returns false and the message in `error` if the file is no valid provider file.
    [[nodiscard]] bool open(const directory& where, const char* name, error_text& error) noexcept;

    [[nodiscard]] const eventlog_provider_file& header() const noexcept { return header_; }

    /// Whether the publishing process still uses the file. One `mapped` may serve any number of
    /// files; consecutive files of one process are cheapest.
    [[nodiscard]] bool is_alive(mapped_files& mapped) const noexcept;

    /// Reads the schema. Precondition: `bytes` is header().schema_size long.
    [[nodiscard]] bool read_schema(std::span<std::uint8_t> bytes) const noexcept;

    /// Reads the gate words of the first events, without changing or mapping the file.
    [[nodiscard]] bool read_gate(std::span<std::uint32_t> words) const noexcept;

    /// Reads the current counters of the process.
    [[nodiscard]] bool read_counters(eventlog_counters_page& counters) const noexcept;

    /// Sets a subscription's bit in the gate word of an event. False if the event is not below
    /// header().event_count, or the gate cannot be mapped (at the first call).
    [[nodiscard]] bool set_bit(std::uint32_t event, unsigned slot) noexcept;

    /// Clears the bit of an ended subscription in all gate words. First sets the notification bits
    /// of an application that may have the region mapped, so that its next emit unmaps the region
    /// even if this process dies in between.
    void detach_slot(unsigned slot) noexcept;

    /// Notifies the application, if it wants that, that the bits of a subscription have been set or
    /// cleared.
    void notify_if_wanted() noexcept;

    /// For the process's own file: requests notifications from now on.
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
