// SPDX-License-Identifier: MIT
//
// Providers that are defined at run time: from the structs of eventlog.h to a schema, and to what
// emitting needs to know of it.
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

/// What is wrong with a definition or with values, in words. All there is to a mistake.
class definition_error {
  public:
    /// Of which event and field the next mistakes will be. Names are views of somebody else's.
    void in_event(std::uint32_t event, std::string_view name) noexcept;
    void in_field(std::uint32_t field, std::string_view name) noexcept;
    void in_provider() noexcept;

    /// Returns the code, for a tail call.
    [[gnu::format(printf, 3, 4)]] eventlog_error set(eventlog_error code, const char* format,
                                                     ...) noexcept;

    /// Copies the sentence, cut to `size` bytes with its NUL; nothing if there is no room at all.
    void copy_to(char* text, std::size_t size) const noexcept;

  private:
    std::array<char, EVENTLOG_TEXT_SIZE> text_{};
    std::string_view event_name_;
    std::string_view field_name_;
    std::uint32_t event_ = no_index;
    std::uint32_t field_ = no_index;
};

/// Checks everything that a definition can have wrong but what build_definition finds.
[[nodiscard]] eventlog_error check_definition(const eventlog_definition& definition,
                                              definition_error& error) noexcept;

/// Whether each value and each name of an enumeration, which has been checked, is there once.
[[nodiscard]] eventlog_error check_distinct_values(
    const eventlog_definition& definition, const eventlog_enumeration_definition& enumeration,
    definition_error& error) noexcept;

/// An item of an array of structs that may be larger than we know them.
template <class Struct>
[[nodiscard]] const Struct& item(const Struct* items, std::uint32_t size,
                                 std::uint32_t index) noexcept {
    const auto* bytes = reinterpret_cast<const unsigned char*>(items);
    return *reinterpret_cast<const Struct*>(bytes + std::size_t{size} * index);
}

[[nodiscard]] inline std::string_view text_or_empty(const char* text) noexcept {
    return text == nullptr ? std::string_view() : std::string_view(text);
}

/// What emitting needs to know of a field.
struct defined_field {
    field_type type{};
    bool optional = false;
    std::uint8_t in_payload_order = 0;  // the number of the field that is the so many-th there
    std::uint16_t count = 1;
    std::uint16_t offset = 0;
    std::uint16_t presence = no_index;
    std::string_view name{};  // in the schema
};

struct defined_event {
    std::span<const defined_field> fields{};  // in declared order, the session first
    std::uint16_t fixed_size = 0;
    bool cuts_texts = false;
    bool session_bound = false;
    std::string_view name{};
};

/// A definition that has been understood: one block of memory with all that it points to.
struct built_definition {
    std::span<const std::uint8_t> schema{};
    std::span<const defined_event> events{};
    std::uint32_t session_begin = no_index;  // the first event of this kind, if there is one
    std::uint32_t session_end = no_index;
};

/// Writes schema and layout of a definition that has been checked, and finds what takes a look at
/// all of it: the number of its enumerations, whether their values are distinct, and its size. On
/// an error, `built` is NULL. The caller frees it with std::free.
[[nodiscard]] eventlog_error build_definition(const eventlog_definition& definition,
                                              const built_definition*& built,
                                              definition_error& error) noexcept;

}  // namespace eventlog::core
