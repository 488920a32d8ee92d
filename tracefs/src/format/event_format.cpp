// SPDX-License-Identifier: MIT
#include "format/event_format.hpp"

#include <event-parse.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "format/format_text.hpp"
#include "kernel/error.hpp"

namespace eventlog::tracefs {
namespace {

// Larger than any format of the kernel; bounds texts from files.
constexpr std::size_t format_size_max = 1U << 20U;
// Largest record.
constexpr std::uint32_t record_size_max = 1U << 16U;

struct free_handle {
    void operator()(tep_handle* handle) const noexcept { tep_free(handle); }
};

struct element {
    field_type type{};
    std::uint16_t count = 1;
};

std::optional<field_type> integer_of(std::size_t size, bool is_signed) noexcept {
    for (const field_type type :
         {field_type::signed_8, field_type::signed_16, field_type::signed_32, field_type::signed_64,
          field_type::unsigned_8, field_type::unsigned_16, field_type::unsigned_32,
          field_type::unsigned_64}) {
        if (size_of(type) == size && (type <= field_type::signed_64) == is_signed) {
            return type;
        }
    }
    return std::nullopt;
}

/// The SDK's names of element types, in structs and sequences: u8 to s64, f32, f64.
std::optional<field_type> type_called(std::string_view word) noexcept {
    constexpr std::pair<std::string_view, field_type> names[] = {
        {"u8", field_type::unsigned_8},   {"u16", field_type::unsigned_16},
        {"u32", field_type::unsigned_32}, {"u64", field_type::unsigned_64},
        {"s8", field_type::signed_8},     {"s16", field_type::signed_16},
        {"s32", field_type::signed_32},   {"s64", field_type::signed_64},
        {"f32", field_type::float_32},    {"f64", field_type::float_64},
        {"char", field_type::character},
    };
    const auto* const found = std::find_if(std::begin(names), std::end(names),
                                           [&](const auto& each) { return each.first == word; });
    return found == std::end(names) ? std::nullopt : std::optional(found->second);
}

/// Parses "struct f32", "struct u16x8": see user_events_description.hpp.
std::optional<element> element_of_struct(std::string_view type, std::size_t size) noexcept {
    constexpr std::string_view prefix = "struct ";
    if (!type.starts_with(prefix)) {
        return std::nullopt;
    }
    type.remove_prefix(prefix.size());
    element found;
    const std::size_t sign = type.find('x');
    if (sign != std::string_view::npos) {
        const std::string_view count = type.substr(sign + 1);
        const auto [end, mistake] =
            std::from_chars(count.data(), count.data() + count.size(), found.count);
        if (mistake != std::errc{} || end != count.data() + count.size()) {
            return std::nullopt;
        }
        type = type.substr(0, sign);
    }
    const std::optional<field_type> known = type_called(type);
    if (!known || found.count == 0 || size_of(*known) * found.count != size) {
        return std::nullopt;
    }
    found.type = *known;
    return found;
}

/// The type of a field that is not an array in C.
element element_of_scalar(const tep_format_field& field, std::size_t size) noexcept {
    const std::string_view type = field.type;
    if (const std::optional<element> known = element_of_struct(type, size)) {
        return *known;
    }
    if (size == 1 && (type == "bool" || type == "_Bool")) {
        return {field_type::boolean, 1};
    }
    if (size == 1 && type == "char") {
        return {field_type::character, 1};
    }
    const bool is_signed = (field.flags & TEP_FIELD_IS_SIGNED) != 0;
    if (const std::optional<field_type> integer = integer_of(size, is_signed)) {
        return {*integer, 1};
    }
    return {field_type::unsigned_8, static_cast<std::uint16_t>(size)};
}

/// libtraceevent treats byte arrays as text as well, so the type's name decides.
bool is_text(const tep_format_field& field) noexcept {
    const std::string_view type = field.type;
    const std::size_t at = type.find("char");
    return at != std::string_view::npos && type.find("signed char") == std::string_view::npos;
}

element element_of_array(const tep_format_field& field, std::size_t size) noexcept {
    if (is_text(field)) {
        return {field_type::character, static_cast<std::uint16_t>(size)};
    }
    const std::size_t each = field.elementsize;
    const bool is_signed = (field.flags & TEP_FIELD_IS_SIGNED) != 0;
    const std::optional<field_type> integer = integer_of(each, is_signed);
    if (!integer || size % each != 0) {
        return {field_type::unsigned_8, static_cast<std::uint16_t>(size)};
    }
    return {*integer, static_cast<std::uint16_t>(size / each)};
}

/// Integers of C, by all their words.
std::optional<field_type> type_in_c(std::string_view text) noexcept {
    bool is_signed = true;
    std::size_t longs = 0;
    std::size_t size = 0;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        if (word == "unsigned") {
            is_signed = false;
        } else if (word == "char") {
            size = sizeof(char);
        } else if (word == "short") {
            size = sizeof(short);
        } else if (word == "long") {
            size = ++longs == 1 ? sizeof(long) : sizeof(long long);
        } else if (word != "int" && word != "signed") {
            return std::nullopt;
        }
        text.remove_prefix(std::min(word.size() + 1, text.size()));
        size = text.empty() && size == 0 ? sizeof(int) : size;
    }
    return integer_of(size, is_signed);
}

/// The elements of "__rel_loc u32[]" and "__data_loc unsigned long[]"; bytes: bytes, or elements of
/// another type. Their name decides: libtraceevent knows few sizes, and user_events calls all such
/// fields signed.
field_type element_of_dynamic(std::string_view type) noexcept {
    const auto remove = [&](std::string_view prefix) {
        type.remove_prefix(type.starts_with(prefix) ? prefix.size() : 0);
    };
    remove("__data_loc ");
    remove("__rel_loc ");
    remove("const ");
    type = type.substr(0, type.find('['));
    type = type.substr(0, type.find_last_not_of(' ') + 1);
    if (type == "bool" || type == "_Bool") {
        return field_type::boolean;
    }
    const std::optional<field_type> integer = type_in_c(type);
    remove("__");  // __u32 is u32 in headers for user space
    const field_type found = integer.value_or(type_called(type).value_or(field_type::bytes));
    return may_repeat(found) && found != field_type::unsigned_8 ? found : field_type::bytes;
}

location location_of(const tep_format_field& field) noexcept {
    if (field.size == 0) {
        return location::rest_of_record;
    }
    if ((field.flags & TEP_FIELD_IS_DYNAMIC) == 0) {
        return location::fixed;
    }
    return (field.flags & TEP_FIELD_IS_RELATIVE) != 0 ? location::rel_loc : location::data_loc;
}

format_field field_of(const tep_format_field& field, const std::string& event) {
    if (field.offset < 0 || field.size < 0 ||
        static_cast<std::uint32_t>(field.offset) > record_size_max ||
        static_cast<std::uint32_t>(field.size) > record_size_max - 1 ||
        static_cast<std::size_t>(field.offset) < common_size) {
        throw error("The kernel says of {} that its field {} is at {} and has {} bytes, which no "
                    "record has. Leave it out.",
                    event, field.name, field.offset, field.size);
    }
    format_field found;
    found.name = make_identifier(field.name);
    found.offset = static_cast<std::uint32_t>(field.offset);
    found.size = static_cast<std::uint32_t>(field.size);
    found.where = location_of(field);
    if (found.where != location::fixed) {
        if (found.where != location::rest_of_record && found.size != sizeof(std::uint32_t)) {
            throw error("The kernel's description of {} has the location of {} in {} bytes "
                        "instead of 4. Leave it out.",
                        event, field.name, found.size);
        }
        found.type = is_text(field) ? field_type::text
                     : found.where == location::rest_of_record
                         ? field_type::bytes  // may include the padding of the record
                         : element_of_dynamic(field.type);
        found.count = found.type < field_type::text ? 0 : 1;
        return found;
    }
    const bool is_array = (field.flags & TEP_FIELD_IS_ARRAY) != 0;
    const element known =
        is_array ? element_of_array(field, found.size) : element_of_scalar(field, found.size);
    found.type = known.type;
    found.count = known.count;
    if ((field.flags & TEP_FIELD_IS_POINTER) != 0 && is_integer(found.type)) {
        found.how = format::hexadecimal;
    }
    if (is_array && found.type == field_type::character) {
        found.how = format::characters;
    }
    return found;
}

constexpr std::string_view print_begin = "\nprint fmt:";

/// Removes the print format, which is not needed and which libtraceevent rejects where it calls
/// functions.
std::string_view without_print_format(std::string_view text) noexcept {
    return text.substr(0, text.find(print_begin));
}

[[noreturn]] void refuse_format(const std::string& system, const std::string& name) {
    throw error("What the kernel says about {}:{} cannot be understood. Leave it out.", system,
                name);
}

/// Removes the line "name: NAME" and returns the name. libtraceevent would not accept the dot that
/// the names of some events contain.
std::string take_name(std::string_view& text, const std::string& system) {
    constexpr std::string_view begin = "name: ";
    const std::size_t end = text.find('\n');
    if (!text.starts_with(begin) || end == std::string_view::npos || end == begin.size()) {
        throw error("What the kernel says about an event of {} does not begin with its name. Leave "
                    "it out.",
                    system);
    }
    std::string name(text.substr(begin.size(), end - begin.size()));
    text.remove_prefix(end + 1);
    return name;
}

/// libtraceevent uses only the last word of a field as its name, so two fields may have the same
/// one.
void check_names(event_format& found) {
    for (std::size_t i = 0; i < found.fields.size(); ++i) {
        const auto is_same = [&](const format_field& other) {
            return other.name == found.fields[i].name;
        };
        const auto end = found.fields.begin() + static_cast<std::ptrdiff_t>(i);
        while (std::any_of(found.fields.begin(), end, is_same)) {
            std::string& name = found.fields[i].name;
            if (name.size() == schema_format::name_length_max) {
                throw error("Two fields of {} have the same name, {}, and it is too long for a "
                            "suffix. Leave it out.",
                            found.name, name);
            }
            name += '_';
        }
    }
}

}  // namespace

std::optional<common_fields> parse_common_fields(std::span<const std::uint8_t> record) noexcept {
    constexpr std::size_t thread_offset = 4;
    if (record.size() < common_size) {
        return std::nullopt;
    }
    common_fields found;
    std::memcpy(&found.event, record.data(), sizeof found.event);
    std::memcpy(&found.thread, record.data() + thread_offset, sizeof found.thread);
    return found;
}

std::size_t event_format::fixed_size() const noexcept {
    std::size_t size = common_size;
    for (const format_field& field : fields) {
        size = std::max<std::size_t>(size, field.offset + field.size);
    }
    return size;
}

std::string make_identifier(std::string_view name) {
    std::string found(name.substr(0, schema_format::name_length_max));
    const auto is_strange = [](char c) {
        return !schema_format::is_identifier(&c, 1) && (c < '0' || c > '9');
    };
    std::replace_if(found.begin(), found.end(), is_strange, '_');
    if (found.empty() || !schema_format::is_identifier(found.data(), 1)) {
        found = '_' + found.substr(0, schema_format::name_length_max - 1);
    }
    return found;
}

event_format parse_format(std::string_view text, const std::string& system) {
    if (text.size() > format_size_max || text.find('\0') != std::string_view::npos) {
        throw error(
            "What the kernel says about an event of {} is no text of less than 1 MiB. Leave "
            "it out.",
            system);
    }
    const std::unique_ptr<tep_handle, free_handle> handle(tep_alloc());
    if (handle == nullptr) {
        throw error("There is no memory to read what the kernel says about events. Free some.");
    }
    tep_set_loglevel(TEP_LOG_NONE);
    tep_set_long_size(handle.get(), sizeof(long));
    const std::string name = take_name(text, system);
    const std::string_view sound = without_print_format(text);
    if (!is_format_text(sound)) {
        refuse_format(system, name);
    }
    const std::string known =
        "name: event\n" + std::string(sound) + std::string(print_begin) + " \"\"\n";
    static_cast<void>(tep_parse_event(handle.get(), known.data(), known.size(), system.c_str()));
    const tep_event* const event = tep_get_first_event(handle.get());
    if (event == nullptr || (static_cast<unsigned>(event->flags) & TEP_EVENT_FL_FAILED) != 0 ||
        event->id < 0 || event->id > UINT16_MAX) {
        refuse_format(system, name);
    }
    event_format found{system, name, static_cast<std::uint16_t>(event->id), {}};
    for (const tep_format_field* field = event->format.fields; field != nullptr;
         field = field->next) {
        if (found.fields.size() == schema_format::fields_max) {
            throw error("{}:{} has more than {} fields, which is all that a schema can say. Leave "
                        "it out.",
                        system, found.name, schema_format::fields_max);
        }
        // A field of size 0 is meaningful only as an array at the end of the record, like the text
        // of trace_marker.
        const bool is_array = (field->flags & TEP_FIELD_IS_ARRAY) != 0;
        if (field->size != 0 || (is_array && field->next == nullptr)) {
            found.fields.push_back(field_of(*field, found.name));
        }
    }
    check_names(found);
    return found;
}

}  // namespace eventlog::tracefs
