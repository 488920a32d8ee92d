// SPDX-License-Identifier: MIT
//
// The message about an error in a definition or in values: see definition.hpp.
#include <cstdarg>
#include <cstdio>

#include "provider/definition.hpp"

namespace eventlog::core {
namespace {

/// Appends for example `Event 3 (order_placed): `; an invalid name may have any length.
std::size_t append_part(std::span<char> text, std::size_t at, const char* what,
                        std::uint32_t number, std::string_view name) noexcept {
    const int shown = static_cast<int>(name.size() < schema_format::name_length_max
                                           ? name.size()
                                           : schema_format::name_length_max);
    const int length =
        name.empty() ? std::snprintf(text.data() + at, text.size() - at, "%s %u", what, number)
                     : std::snprintf(text.data() + at, text.size() - at, "%s %u (%.*s)", what,
                                     number, shown, name.data());
    return length > 0 ? at + static_cast<std::size_t>(length) : at;
}

}  // namespace

void definition_error::in_provider() noexcept {
    event_ = schema_format::no_index;
    field_ = schema_format::no_index;
}

void definition_error::in_event(std::uint32_t event, std::string_view name) noexcept {
    event_ = event;
    event_name_ = name;
    field_ = schema_format::no_index;
}

void definition_error::in_field(std::uint32_t field, std::string_view name) noexcept {
    field_ = field;
    field_name_ = name;
}

bool definition_error::set(eventlog_error code, const char* format, ...) noexcept {
    code_ = code;
    std::size_t at = 0;
    if (event_ != schema_format::no_index) {
        at = append_part(text_, at, "Event", event_, event_name_);
        if (field_ != schema_format::no_index) {
            at = append_part(text_, at, ", field", field_, field_name_);
        }
        text_[at++] = ':';
        text_[at++] = ' ';
    }
    va_list arguments;
    va_start(arguments, format);
    static_cast<void>(std::vsnprintf(text_.data() + at, text_.size() - at, format, arguments));
    va_end(arguments);
    return false;
}

bool definition_error::set_no_memory(const char* provider) noexcept {
    return set(EVENTLOG_ERROR_NO_MEMORY,
               "There is no memory for provider %s. Free some, and define it again.", provider);
}

void definition_error::copy_to(char* text, std::size_t size) const noexcept {
    if (text != nullptr && size != 0) {
        static_cast<void>(std::snprintf(text, size, "%s", text_.data()));
    }
}

}  // namespace eventlog::core
