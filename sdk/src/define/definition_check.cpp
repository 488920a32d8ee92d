// SPDX-License-Identifier: MIT
//
// Checks a definition for all errors that the C++ templates reject at compile time. Each error has
// its message.
#include <cstring>

#include <eventlog/detail/field_location.hpp>

#include "provider/definition.hpp"

namespace eventlog::core {
namespace {

constexpr std::size_t text_length_max = 255;

/// Above the size of any future struct: a larger value is uninitialized memory, and would make the
/// checks read beyond the struct.
constexpr std::uint32_t struct_size_max = 4096;

#define EVENTLOG_NAME_RULE "a name has 1 to 63 letters, digits and _, and no digit first"

/// The name as shown in messages: at most one character more than a valid one.
std::string_view shown(const char* name) noexcept {
    return name == nullptr
               ? std::string_view()
               : std::string_view(name, ::strnlen(name, schema_format::name_length_max + 1));
}

bool is_name(const char* name) noexcept {
    const std::string_view text = shown(name);
    return schema_format::is_identifier(text.data(), text.size());
}

bool is_short(const char* text) noexcept {
    return text == nullptr || ::strnlen(text, text_length_max + 1) <= text_length_max;
}

/// Checks a struct's size: that of this library, or a larger one of a later version.
template <class Struct>
bool check_size(std::uint32_t size, const char* what, definition_error& error) noexcept {
    if (size < sizeof(Struct) || size > struct_size_max || size % alignof(Struct) != 0) {
        return error.set(EVENTLOG_ERROR_SIZE,
                         "The definition gives %u as the size of struct %s, which is %zu. Begin it "
                         "with EVENTLOG_DEFINITION_SIZES.",
                         size, what, sizeof(Struct));
    }
    return true;
}

template <class Struct>
bool says_more_than_we_know(const Struct& given, std::uint32_t size) noexcept {
    const auto* bytes = reinterpret_cast<const unsigned char*>(&given);
    for (std::size_t i = sizeof(Struct); i < size; ++i) {
        if (bytes[i] != 0) {
            return true;
        }
    }
    return false;
}

class checker {
  public:
    checker(const eventlog_definition& definition, definition_error& error) noexcept
        : definition_(definition), error_(error) {}

    [[nodiscard]] bool check() noexcept {
        return check_sizes() && check_provider() && check_keywords() && check_events();
    }

  private:
    bool check_sizes() noexcept;
    bool check_provider() noexcept;
    bool check_keywords() noexcept;
    bool check_events() noexcept;
    bool check_event(std::uint32_t index) noexcept;
    bool check_event_traits(const eventlog_event_definition& event) noexcept;
    bool check_fields(const eventlog_event_definition& event) noexcept;
    bool check_field(const eventlog_field_definition& field) noexcept;
    bool check_field_name(const eventlog_event_definition& event, std::uint32_t index) noexcept;
    bool check_enumeration(const eventlog_enumeration_definition& enumeration) noexcept;
    bool check_values(field_type type, const eventlog_enumeration_definition& enumeration) noexcept;

    template <class Struct>
    bool check_known(const Struct& given, std::uint32_t size) noexcept {
        return !says_more_than_we_know(given, size) ||
               error_.set(EVENTLOG_ERROR_SIZE,
                          "The struct has members that this libeventlog does not know yet. Update "
                          "libeventlog, or build with the eventlog.h that came with it.");
    }

    [[nodiscard]] const eventlog_event_definition& event_at(std::uint32_t index) const noexcept {
        return item(definition_.events, definition_.event_size, index);
    }
    [[nodiscard]] const eventlog_field_definition& field_at(const eventlog_event_definition& event,
                                                            std::uint32_t index) const noexcept {
        return item(event.fields, definition_.field_size, index);
    }

    const eventlog_definition& definition_;
    definition_error& error_;
    std::uint64_t named_keywords_ = 0;
    /// Cache of the last validated enumeration: consecutive fields often have the same one.
    const eventlog_enumeration_definition* sound_ = nullptr;
    field_type fitting_{};  // a type that can hold all of its values, or 0
};

/// Whether an integer of this type can have this value. 64-bit types hold all values, because
/// unsigned ones are passed as signed.
bool holds(field_type type, std::int64_t value) noexcept {
    const auto bits = static_cast<unsigned>(8 * size_of(type));
    if (bits == 64) {
        return true;
    }
    if (type >= field_type::unsigned_8) {
        return value >= 0 && value < std::int64_t{1} << bits;
    }
    const std::int64_t end = std::int64_t{1} << (bits - 1);
    return value >= -end && value < end;
}

bool checker::check_sizes() noexcept {
    return check_size<eventlog_definition>(definition_.size, "eventlog_definition", error_) &&
           check_size<eventlog_keyword_definition>(definition_.keyword_size,
                                                   "eventlog_keyword_definition", error_) &&
           check_size<eventlog_value_definition>(definition_.value_size,
                                                 "eventlog_value_definition", error_) &&
           check_size<eventlog_enumeration_definition>(definition_.enumeration_size,
                                                       "eventlog_enumeration_definition", error_) &&
           check_size<eventlog_field_definition>(definition_.field_size,
                                                 "eventlog_field_definition", error_) &&
           check_size<eventlog_event_definition>(definition_.event_size,
                                                 "eventlog_event_definition", error_) &&
           check_known(definition_, definition_.size);
}

bool checker::check_provider() noexcept {
    if (!is_name(definition_.name)) {
        const std::string_view name = shown(definition_.name);
        return error_.set(EVENTLOG_ERROR_NAME,
                          "\"%.*s\" cannot be the name of a provider: " EVENTLOG_NAME_RULE
                          ". Rename it.",
                          static_cast<int>(name.size()), name.data());
    }
    if (!is_short(definition_.description)) {
        return error_.set(EVENTLOG_ERROR_TEXT,
                          "The description of provider %s is longer than 255 bytes. Shorten it.",
                          definition_.name);
    }
    if (definition_.event_count == 0 || definition_.event_count > schema_format::events_max) {
        return error_.set(EVENTLOG_ERROR_COUNT,
                          "Provider %s has %u events; a provider has 1 to 1024. Give it one, or "
                          "split it in two.",
                          definition_.name, definition_.event_count);
    }
    if (definition_.keyword_count > schema_format::keywords_max) {
        return error_.set(EVENTLOG_ERROR_COUNT,
                          "Provider %s has %u keywords; a provider has at most 64. Leave some out.",
                          definition_.name, definition_.keyword_count);
    }
    if (definition_.events == nullptr ||
        (definition_.keywords == nullptr && definition_.keyword_count != 0)) {
        return error_.set(EVENTLOG_ERROR_ARGUMENT,
                          "Provider %s counts events or keywords, but the pointer to them is NULL. "
                          "Set it.",
                          definition_.name);
    }
    return true;
}

bool checker::check_keywords() noexcept {
    for (std::uint32_t i = 0; i < definition_.keyword_count; ++i) {
        const eventlog_keyword_definition& word =
            item(definition_.keywords, definition_.keyword_size, i);
        if (!check_known(word, definition_.keyword_size)) {
            return false;
        }
        if (!is_name(word.name)) {
            const std::string_view name = shown(word.name);
            return error_.set(EVENTLOG_ERROR_NAME,
                              "Keyword %u (\"%.*s\") cannot be called that: " EVENTLOG_NAME_RULE
                              ". Rename it.",
                              i, static_cast<int>(name.size()), name.data());
        }
        if (word.bit >= schema_format::keywords_max) {
            return error_.set(EVENTLOG_ERROR_CHOICE,
                              "Keyword %u (%s) has bit %u; there are 0 to 63. Take one of these.",
                              i, word.name, word.bit);
        }
        for (std::uint32_t j = 0; j < i; ++j) {
            const eventlog_keyword_definition& other =
                item(definition_.keywords, definition_.keyword_size, j);
            if (other.bit == word.bit || std::strcmp(other.name, word.name) == 0) {
                return error_.set(
                    EVENTLOG_ERROR_DUPLICATE,
                    "Keywords %u (%s) and %u (%s) have the same name or the same bit, "
                    "%u. Give each its own.",
                    j, other.name, i, word.name, word.bit);
            }
        }
        named_keywords_ |= std::uint64_t{1} << word.bit;
    }
    return true;
}

bool checker::check_events() noexcept {
    for (std::uint32_t i = 0; i < definition_.event_count; ++i) {
        if (!check_event(i)) {
            return false;
        }
    }
    error_.in_provider();
    return true;
}

bool checker::check_event(std::uint32_t index) noexcept {
    const eventlog_event_definition& event = event_at(index);
    error_.in_event(index, shown(event.name));
    if (!check_known(event, definition_.event_size)) {
        return false;
    }
    if (!is_name(event.name)) {
        return error_.set(EVENTLOG_ERROR_NAME,
                          "It cannot be called that: " EVENTLOG_NAME_RULE ". Rename it.");
    }
    for (std::uint32_t i = 0; i < index; ++i) {
        if (std::strcmp(event_at(i).name, event.name) == 0) {
            return error_.set(EVENTLOG_ERROR_DUPLICATE,
                              "Event %u has the same name. Rename one of them.", i);
        }
    }
    return check_event_traits(event) && check_fields(event);
}

bool checker::check_event_traits(const eventlog_event_definition& event) noexcept {
    if (!is_short(event.description) || !is_short(event.when)) {
        return error_.set(EVENTLOG_ERROR_TEXT,
                          "Its description or meaning is longer than 255 bytes. Shorten it.");
    }
    if (event.level > EVENTLOG_LEVEL_TRACE) {
        return error_.set(EVENTLOG_ERROR_CHOICE,
                          "There is no level %u. Take one of enum eventlog_level.", event.level);
    }
    if (event.kind > schema_format::kind_last) {
        return error_.set(EVENTLOG_ERROR_CHOICE,
                          "There is no kind %u. Take one of enum eventlog_kind.", event.kind);
    }
    if ((event.keywords & ~named_keywords_) != 0) {
        return error_.set(EVENTLOG_ERROR_CHOICE,
                          "It has keywords that the provider does not name (0x%llx). List them in "
                          "the provider's keywords.",
                          static_cast<unsigned long long>(event.keywords & ~named_keywords_));
    }
    const bool about_session =
        event.kind == EVENTLOG_KIND_SESSION_BEGIN || event.kind == EVENTLOG_KIND_SESSION_END;
    if (about_session && !event.session_bound) {
        return error_.set(
            EVENTLOG_ERROR_MISMATCH,
            "It begins or ends a session, but does not say which. Set session_bound.");
    }
    return true;
}

bool checker::check_fields(const eventlog_event_definition& event) noexcept {
    const std::uint32_t own = event.session_bound ? 1 : 0;
    if (event.field_count > schema_format::fields_max - own) {
        return error_.set(EVENTLOG_ERROR_COUNT,
                          "It has %u fields; an event has at most %zu, and one less if it is "
                          "session-bound. Split it in two.",
                          event.field_count, schema_format::fields_max);
    }
    if (event.fields == nullptr && event.field_count != 0) {
        return error_.set(EVENTLOG_ERROR_ARGUMENT,
                          "It counts fields, but the pointer to them is NULL. Set it.");
    }
    std::uint64_t size = own * sizeof(std::uint64_t);
    for (std::uint32_t i = 0; i < event.field_count; ++i) {
        const eventlog_field_definition& field = field_at(event, i);
        error_.in_field(i + own, shown(field.name));
        if (!check_known(field, definition_.field_size) || !check_field_name(event, i) ||
            !check_field(field)) {
            return false;
        }
        size += fixed_size_of(static_cast<field_type>(field.type), count_of(field)) +
                (field.optional ? 1 : 0);
        if (size > detail::fixed_size_max) {
            return error_.set(EVENTLOG_ERROR_TOO_LARGE,
                              "With it the event takes more than a record can hold (%zu bytes). "
                              "Use smaller arrays, or bytes.",
                              detail::fixed_size_max);
        }
    }
    return true;
}

bool checker::check_field_name(const eventlog_event_definition& event,
                               std::uint32_t index) noexcept {
    const char* name = field_at(event, index).name;
    if (!is_name(name)) {
        return error_.set(EVENTLOG_ERROR_NAME,
                          "It cannot be called that: " EVENTLOG_NAME_RULE ". Rename it.");
    }
    if (event.session_bound && std::strcmp(name, "session") == 0) {
        return error_.set(EVENTLOG_ERROR_DUPLICATE,
                          "A session-bound event has a field of that name already, in front. Leave "
                          "this one out, or rename it.");
    }
    for (std::uint32_t i = 0; i < index; ++i) {
        if (std::strcmp(field_at(event, i).name, name) == 0) {
            return error_.set(EVENTLOG_ERROR_DUPLICATE,
                              "Another field of the event has the same name. Rename one of them.");
        }
    }
    return true;
}

bool checker::check_field(const eventlog_field_definition& field) noexcept {
    if (!is_short(field.unit) || !is_short(field.description)) {
        return error_.set(EVENTLOG_ERROR_TEXT,
                          "Its unit or description is longer than 255 bytes. Shorten it.");
    }
    if (field.type > EVENTLOG_TYPE_BYTES || field.type == 0) {
        return error_.set(EVENTLOG_ERROR_CHOICE,
                          "There is no type %u. Take one of enum eventlog_type.", field.type);
    }
    const auto type = static_cast<field_type>(field.type);
    const std::size_t count = count_of(field);
    if (field.is_sequence && (field.count != 0 || !may_repeat(type))) {
        return error_.set(EVENTLOG_ERROR_MISMATCH,
                          "A sequence has numbers or bools, and no count. Correct its type and "
                          "leave the count out.");
    }
    if (type >= field_type::text && count != 1) {
        return error_.set(EVENTLOG_ERROR_MISMATCH,
                          "Texts and bytes have no arrays. Use several fields.");
    }
    if (field.format > schema_format::format_last) {
        return error_.set(EVENTLOG_ERROR_CHOICE,
                          "There is no format %u. Take one of enum eventlog_format.", field.format);
    }
    if (!format_fits(static_cast<format>(field.format), type, count)) {
        return error_.set(
            EVENTLOG_ERROR_MISMATCH,
            "Its format does not go with its type: an IP address is 4 or 16 "
            "unsigned_8 or one unsigned_32, a MAC address 6 unsigned_8, durations and "
            "times are integers of 64 bits, characters are for characters, the others "
            "are for integers.");
    }
    if (!text_or_empty(field.unit).empty() && !takes_unit(type)) {
        return error_.set(EVENTLOG_ERROR_MISMATCH,
                          "It has a unit, and is no number. Leave the unit out, or say it in the "
                          "description.");
    }
    if (field.enumeration == nullptr) {
        return true;
    }
    if (!is_integer(type)) {
        return error_.set(EVENTLOG_ERROR_MISMATCH,
                          "Only integers have an enumeration. Take another type, or leave the "
                          "enumeration out.");
    }
    return check_enumeration(*field.enumeration) && check_values(type, *field.enumeration);
}

bool checker::check_enumeration(const eventlog_enumeration_definition& enumeration) noexcept {
    if (&enumeration == sound_) {
        return true;
    }
    if (!check_known(enumeration, definition_.enumeration_size)) {
        return false;
    }
    if (!is_name(enumeration.name)) {
        return error_.set(EVENTLOG_ERROR_NAME,
                          "Its enumeration has no name that it can have: " EVENTLOG_NAME_RULE
                          ". Rename it.");
    }
    if (enumeration.value_count > UINT16_MAX) {
        return error_.set(EVENTLOG_ERROR_COUNT,
                          "Its enumeration %s has %u values; there is room for 65535. Leave some "
                          "out.",
                          enumeration.name, enumeration.value_count);
    }
    if (enumeration.values == nullptr && enumeration.value_count != 0) {
        return error_.set(EVENTLOG_ERROR_ARGUMENT,
                          "Its enumeration %s counts values, but the pointer to them is NULL. Set "
                          "it.",
                          enumeration.name);
    }
    for (std::uint32_t i = 0; i < enumeration.value_count; ++i) {
        const eventlog_value_definition& value =
            item(enumeration.values, definition_.value_size, i);
        if (!check_known(value, definition_.value_size)) {
            return false;
        }
        if (!is_name(value.name)) {
            const std::string_view name = shown(value.name);
            return error_.set(EVENTLOG_ERROR_NAME,
                              "Value %u (\"%.*s\") of its enumeration %s cannot be called "
                              "that: " EVENTLOG_NAME_RULE ". Rename it.",
                              i, static_cast<int>(name.size()), name.data(), enumeration.name);
        }
    }
    sound_ = &enumeration;
    fitting_ = field_type{};
    return true;
}

/// Whether the type can hold each value of the enumeration: the name of another value could never
/// be shown.
bool checker::check_values(field_type type,
                           const eventlog_enumeration_definition& enumeration) noexcept {
    if (type == fitting_) {
        return true;
    }
    for (std::uint32_t i = 0; i < enumeration.value_count; ++i) {
        const eventlog_value_definition& value =
            item(enumeration.values, definition_.value_size, i);
        if (!holds(type, value.value)) {
            return error_.set(EVENTLOG_ERROR_MISMATCH,
                              "Its type cannot hold %lld, the value %s of its enumeration %s. Take "
                              "another type, or leave the value out.",
                              static_cast<long long>(value.value), value.name, enumeration.name);
        }
    }
    fitting_ = type;
    return true;
}

}  // namespace

eventlog_error check_definition(const eventlog_definition& definition,
                                definition_error& error) noexcept {
    return checker(definition, error).check() ? EVENTLOG_ERROR_NONE : error.code();
}

}  // namespace eventlog::core
