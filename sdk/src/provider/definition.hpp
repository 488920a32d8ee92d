// SPDX-License-Identifier: MIT
//
// Providers defined at run time: from the structs of eventlog.h to a schema and to the layout that
// emitting needs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include <eventlog/eventlog.h>
#include <eventlog/schema_format.hpp>

namespace eventlog::core {

struct malloc_deleter {
    void operator()(void* memory) const noexcept { std::free(memory); }
};

/// The message about an error in a definition or in values. Holds one error.
class definition_error {
  public:
    /// Set the event and field that the next messages refer to. The names must outlive this object.
    void in_event(std::uint32_t event, std::string_view name) noexcept;
    void in_field(std::uint32_t field, std::string_view name) noexcept;
    void in_provider() noexcept;

    /// Returns false, for a tail call.
    [[gnu::format(printf, 3, 4)]] bool set(eventlog_error code, const char* format, ...) noexcept;
    /// Sets the error for a lack of memory. Returns false.
    bool set_no_memory(const char* provider) noexcept;

    /// EVENTLOG_ERROR_NONE until an error is set.
    [[nodiscard]] eventlog_error code() const noexcept { return code_; }

    /// Copies the message, cut to `size` bytes with its NUL; does nothing if `size` is 0.
    void copy_to(char* text, std::size_t size) const noexcept;

  private:
    std::array<char, EVENTLOG_TEXT_SIZE> text_{};
    eventlog_error code_ = EVENTLOG_ERROR_NONE;
    std::string_view event_name_;
    std::string_view field_name_;
    std::uint32_t event_ = schema_format::no_index;
    std::uint32_t field_ = schema_format::no_index;
};

/// Checks everything except what build_definition checks.
[[nodiscard]] eventlog_error check_definition(const eventlog_definition& definition,
                                              definition_error& error) noexcept;

/// Checks that the values and the names of a validated enumeration are unique. False: `error` is
/// set.
[[nodiscard]] bool check_distinct_values(const eventlog_definition& definition,
                                         const eventlog_enumeration_definition& enumeration,
                                         definition_error& error) noexcept;

/// An item of an array of structs, which may be larger than this library's version of the struct.
template <class Struct>
[[nodiscard]] const Struct& item(const Struct* items, std::uint32_t size,
                                 std::uint32_t index) noexcept {
    const auto* bytes = reinterpret_cast<const unsigned char*>(items);
    return *reinterpret_cast<const Struct*>(bytes + std::size_t{size} * index);
}

/// The number of elements in the schema; 0: a sequence.
[[nodiscard]] constexpr std::size_t count_of(const eventlog_field_definition& field) noexcept {
    return field.is_sequence ? 0 : field.count == 0 ? 1 : field.count;
}

[[nodiscard]] inline std::string_view text_or_empty(const char* text) noexcept {
    return text == nullptr ? std::string_view() : std::string_view(text);
}

/// The parts of a field that emitting needs.
struct defined_field {
    field_type type{};
    bool optional = false;
    std::uint8_t in_payload_order =
        0;  // the i-th field in payload order is fields[fields[i].in_payload_order]
    std::uint16_t count = 1;
    std::uint16_t offset = 0;
    std::uint16_t presence = schema_format::no_index;
    std::string_view name{};  // points into the schema
};

struct defined_event {
    std::span<const defined_field> fields{};  // in declared order; the session comes first
    std::uint16_t fixed_size = 0;
    bool truncates = false;
    bool session_bound = false;
    std::string_view name{};
};

/// A validated definition in one block of memory with everything that it points to.
struct built_definition {
    std::span<const std::uint8_t> schema{};
    std::span<const defined_event> events{};
    // The first events of these kinds; no_index: none.
    std::uint32_t session_begin = schema_format::no_index;
    std::uint32_t session_end = schema_format::no_index;
};

/// Writes schema and layout of a checked definition. Checks the number of enumerations, the
/// uniqueness of their values, and the size of the schema. On an error `built` is nullptr. The
/// caller frees it with std::free.
[[nodiscard]] eventlog_error build_definition(const eventlog_definition& definition,
                                              const built_definition*& built,
                                              definition_error& error) noexcept;

}  // namespace eventlog::core
