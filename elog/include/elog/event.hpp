// SPDX-License-Identifier: MIT
//
// The schema of an event, as it came with the records.
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
    /// Internal to libelog.
    explicit field(const library::field_info& known) noexcept : known_(&known) {}

    [[nodiscard]] std::string_view name() const noexcept;
    /// The type as in elog-schema(5): u32, f64, text, bytes, ...
    [[nodiscard]] std::string_view type() const noexcept;
    /// The unit of a number, for example ms; empty if it has none.
    [[nodiscard]] std::string_view unit() const noexcept;
    [[nodiscard]] std::string_view description() const noexcept;
    /// The number of elements of an array; 1 for other fields.
    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] bool is_optional() const noexcept;

  private:
    const library::field_info* known_;
};

/// A handle, valid as long as its source. Two events are equal if they are the same event of the
/// same provider in the same process; then an index means the same field.
class ELOG_API event {
  public:
    /// Internal to libelog.
    explicit event(const library::event_info& known) noexcept : known_(&known) {}

    [[nodiscard]] std::string_view provider() const noexcept;
    [[nodiscard]] std::string_view name() const noexcept;
    [[nodiscard]] std::string_view description() const noexcept;
    [[nodiscard]] std::string_view when() const noexcept;
    [[nodiscard]] elog::level level() const noexcept;
    [[nodiscard]] bool has_keyword(std::string_view name) const noexcept;

    /// The number of fields, limited to `fields` of the source's options.
    [[nodiscard]] std::size_t size() const noexcept;
    /// A field, in the order of declaration or of `fields`. Precondition: index < size().
    [[nodiscard]] elog::field operator[](std::size_t index) const noexcept;
    /// The index of the field with that name.
    [[nodiscard]] std::optional<std::size_t> find(std::string_view field) const noexcept;

    friend bool operator==(event, event) noexcept = default;

    /// Internal to libelog.
    [[nodiscard]] const library::event_info& known() const noexcept { return *known_; }

  private:
    const library::event_info* known_;
};

}  // namespace elog
