// SPDX-License-Identifier: MIT
//
// One record of a source.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <elog/api.hpp>
#include <elog/event.hpp>
#include <elog/value.hpp>

namespace elog {

/// Nanoseconds since 1970.
using timestamp = std::chrono::sys_time<std::chrono::nanoseconds>;

namespace library {

/// The parts of a record. Internal to libelog.
struct record_parts {
    const event_info* event = nullptr;
    std::span<const std::uint8_t> payload{};
    std::uint64_t ticks = 0;  // time on the clock of the source
    std::uint64_t place = 0;  // for ordering, if the program has a custom clock
    std::uint64_t lost_before = 0;
    std::uint32_t thread = 0;
    std::uint32_t ring = 0;
    std::uint16_t cpu = 0;
    std::uint16_t flags = 0;
};

}  // namespace library

/// A view, valid until the source is asked for the next record. Nothing here allocates. Process and
/// event are valid as long as the source.
class ELOG_API record {
  public:
    /// Internal to libelog.
    explicit record(const library::record_parts& parts) noexcept : parts_(parts) {}

    [[nodiscard]] elog::event event() const noexcept { return elog::event(*parts_.event); }
    /// Names of the provider and the event.
    [[nodiscard]] std::string_view provider() const noexcept { return event().provider(); }
    [[nodiscard]] std::string_view name() const noexcept { return event().name(); }

    [[nodiscard]] timestamp time() const noexcept;
    [[nodiscard]] std::uint32_t cpu() const noexcept { return parts_.cpu; }
    [[nodiscard]] std::uint32_t thread() const noexcept { return parts_.thread; }
    /// The process that emitted the event.
    [[nodiscard]] std::uint32_t pid() const noexcept;
    [[nodiscard]] std::uint32_t uid() const noexcept;
    [[nodiscard]] std::string_view process() const noexcept;

    /// Whether long texts have been truncated.
    [[nodiscard]] bool is_truncated() const noexcept;
    /// The number of records known to be lost since the record before.
    [[nodiscard]] std::uint64_t lost_before() const noexcept { return parts_.lost_before; }

    /// The number of fields of event().
    [[nodiscard]] std::size_t size() const noexcept { return event().size(); }
    /// The value of a field, by its index in event().
    [[nodiscard]] value operator[](std::size_t index) const noexcept;
    /// The value of a field by name. An index is faster.
    [[nodiscard]] value operator[](std::string_view field) const noexcept;

    /// Copies the record into a buffer, from which source::view restores it. Returns the size of
    /// the copy; if the buffer is smaller, nothing is copied.
    [[nodiscard]] std::size_t copy_to(std::span<std::byte> buffer) const noexcept;

    /// Internal to libelog.
    [[nodiscard]] const library::record_parts& parts() const noexcept { return parts_; }

  private:
    library::record_parts parts_;
};

}  // namespace elog
