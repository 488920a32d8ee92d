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

/// What a record is made of.
struct record_parts {
    const event_info* event = nullptr;
    std::span<const std::uint8_t> payload{};
    std::uint64_t ticks = 0;  // of the clock that the source has
    std::uint64_t place =
        0;  // the same: where among others it belongs, if its own clock is not that
    std::uint64_t lost_before = 0;
    std::uint32_t thread = 0;
    std::uint32_t ring = 0;
    std::uint16_t cpu = 0;
    std::uint16_t flags = 0;
};

}  // namespace library

/// A view: valid until its source is asked for the next one. Nothing here allocates. What it says
/// of its process and its event is valid as long as the source.
class ELOG_API record {
  public:
    /// Of libelog itself.
    explicit record(const library::record_parts& parts) noexcept : parts_(parts) {}

    [[nodiscard]] elog::event event() const noexcept { return elog::event(*parts_.event); }
    /// The provider's name, and the event's.
    [[nodiscard]] std::string_view provider() const noexcept { return event().provider(); }
    [[nodiscard]] std::string_view name() const noexcept { return event().name(); }

    [[nodiscard]] timestamp time() const noexcept;
    [[nodiscard]] std::uint32_t cpu() const noexcept { return parts_.cpu; }
    [[nodiscard]] std::uint32_t thread() const noexcept { return parts_.thread; }
    /// Of the process that emitted it.
    [[nodiscard]] std::uint32_t pid() const noexcept;
    [[nodiscard]] std::uint32_t uid() const noexcept;
    [[nodiscard]] std::string_view process() const noexcept;

    /// Texts were too long and have been cut.
    [[nodiscard]] bool is_cut() const noexcept;
    /// How many records are known to be missing since the one that the source gave out before.
    [[nodiscard]] std::uint64_t lost_before() const noexcept { return parts_.lost_before; }

    /// How many fields it has: those of event().
    [[nodiscard]] std::size_t size() const noexcept { return event().size(); }
    /// The value of a field, by its index in event().
    [[nodiscard]] value operator[](std::size_t index) const noexcept;
    /// The same by name, which is looked for: an index is faster.
    [[nodiscard]] value operator[](std::string_view field) const noexcept;

    /// Copies the record into a buffer of the caller's, where source::view finds it again. Returns
    /// the bytes that this takes; if the buffer has less, nothing is copied.
    [[nodiscard]] std::size_t copy_to(std::span<std::byte> buffer) const noexcept;

    /// Of libelog itself.
    [[nodiscard]] const library::record_parts& parts() const noexcept { return parts_; }

  private:
    library::record_parts parts_;
};

}  // namespace elog
