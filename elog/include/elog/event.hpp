// SPDX-License-Identifier: MIT
//
// What is known of an event: its schema, as it came with the records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <elog/api.hpp>

namespace elog {

namespace library {
struct event_info;
struct field_info;
}  // namespace library

enum class level : std::uint8_t { error = 1, warn, info, verbose, trace };

/// A handle, valid as long as its source.
class ELOG_API field {
  public:
    /// Of libelog itself.
    explicit field(const library::field_info& known) noexcept : known_(&known) {}

    [[nodiscard]] std::string_view name() const noexcept;
    /// u32, f64, text, bytes, ...: see elog-schema(5).
    [[nodiscard]] std::string_view type() const noexcept;
    /// What stands behind a number, for example ms; empty: nothing.
    [[nodiscard]] std::string_view unit() const noexcept;
    [[nodiscard]] std::string_view description() const noexcept;
    /// How many elements it has: 1, but for arrays.
    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] bool is_optional() const noexcept;

  private:
    const library::field_info* known_;
};

/// A handle, valid as long as its source. Two are equal if they are the same event of the same
/// provider in the same process: then the same index means the same field.
class ELOG_API event {
  public:
    /// Of libelog itself.
    explicit event(const library::event_info& known) noexcept : known_(&known) {}

    [[nodiscard]] std::string_view provider() const noexcept;
    [[nodiscard]] std::string_view name() const noexcept;
    [[nodiscard]] std::string_view description() const noexcept;
    [[nodiscard]] std::string_view meaning() const noexcept;
    [[nodiscard]] elog::level level() const noexcept;
    [[nodiscard]] bool has_keyword(std::string_view name) const noexcept;

    /// How many fields it has; of those that the source was asked for, if it was.
    [[nodiscard]] std::size_t size() const noexcept;
    /// In the order in which they were declared or asked for. The index is below size().
    [[nodiscard]] elog::field operator[](std::size_t index) const noexcept;
    /// The index of the field of that name.
    [[nodiscard]] std::optional<std::size_t> find(std::string_view field) const noexcept;

    friend bool operator==(event, event) noexcept = default;

    /// Of libelog itself.
    [[nodiscard]] const library::event_info& known() const noexcept { return *known_; }

  private:
    const library::event_info* known_;
};

}  // namespace elog
