// SPDX-License-Identifier: MIT
#include "codegen/cpp_model.hpp"

#include <algorithm>
#include <cstdint>
#include <set>

#include <eventlog/metadata.hpp>

#include "codegen/macro_names.hpp"
#include "codegen/source_text.hpp"

namespace elog {
namespace {

using eventlog::field_type;
using eventlog::format;

constexpr std::string_view cpp_reserved_words =
    " alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t "
    "char32_t class compl concept const consteval constexpr constinit const_cast continue "
    "co_await co_return co_yield decltype default delete do double dynamic_cast else enum "
    "explicit export extern false float for friend goto if inline int long mutable namespace new "
    "noexcept not not_eq nullptr operator or or_eq private protected public register "
    "reinterpret_cast requires return short signed sizeof static static_assert static_cast struct "
    "switch template this thread_local throw true try typedef typeid typename union unsigned "
    "using virtual void volatile wchar_t while xor xor_eq NULL errno stdin stdout stderr linux "
    "unix std eventlog provider keywords environ ";

/// Whether enum_names.hpp finds the values itself: it tries -1 to 126, then powers of two, and
/// lists them in this order.
bool are_values_deducible(const enumeration_schema& enumeration, field_type type) {
    std::vector<std::uint64_t> in_order;
    for (int value = -1; value <= 126; ++value) {
        in_order.push_back(static_cast<std::uint64_t>(std::int64_t{value}));
    }
    for (unsigned bit = 7; bit < 64; ++bit) {
        in_order.push_back(std::uint64_t{1} << bit);
    }
    // It does not try -1 for this type.
    if (type == field_type::unsigned_64) {
        in_order.erase(in_order.begin());
    }
    auto next = in_order.begin();
    for (const auto& [value, name] : enumeration.values) {
        next = std::find(next, in_order.end(), value);
        if (next == in_order.end()) {
            return false;
        }
        ++next;
    }
    return true;
}

cpp_type scalar_type(const field_schema& field) {
    if (field.type == field_type::text) {
        return {"std::string_view"};
    }
    if (field.type == field_type::bytes) {
        return {"std::span<const std::byte>"};
    }
    if (field.type == field_type::character && field.count != 1) {
        return {"char", format::characters};
    }
    if (field.type == field_type::signed_64 && !is_sequence(field)) {
        switch (field.format) {
            case format::duration:
                return {"std::chrono::nanoseconds", format::duration};
            case format::realtime:
                return {"std::chrono::sys_time<std::chrono::nanoseconds>", format::realtime};
            case format::monotonic:
                return {"std::chrono::time_point<std::chrono::steady_clock, "
                        "std::chrono::nanoseconds>",
                        format::monotonic};
            default:
                break;
        }
    }
    return {eventlog::is_integer(field.type) ? cpp_integer(field.type)
                                             : std::string(spelling_of(field.type).c)};
}

bool is_implicit_session_event(const event_schema& event, bool begin) {
    return event.name == (begin ? "session_begin" : "session_end") &&
           event.kind == (begin ? eventlog::kind::session_begin : eventlog::kind::session_end) &&
           event.severity == eventlog::level::info && event.session_bound && !event.truncates &&
           event.keywords == 0 && event.fields.size() == 1 &&
           event.description == (begin ? "A session begins" : "A session ends") &&
           event.when ==
               (begin ? "the application opens a session" : "the application closes a session");
}

bool is_implicit_dump_event(const event_schema& event) {
    return event.name == "state_complete" && event.kind == eventlog::kind::state_complete &&
           event.severity == eventlog::level::error && !event.session_bound && !event.truncates &&
           event.keywords == 0 && event.fields.empty() &&
           event.description == "The current state is complete" &&
           event.when == "a listener came late and all of the state has been emitted to it alone";
}

/// Whether the field equals the one that eventlog::timed adds.
bool is_timed_duration(const field_schema& field) {
    return field.name == "duration" && field.type == field_type::signed_64 &&
           field.format == format::duration && field.count == 1 && !is_optional(field) &&
           field.enumeration == schema_format::no_index && field.unit.empty() &&
           field.description.empty();
}

}  // namespace

std::string cpp_integer(field_type type) {
    return fmt::format("std::{}", spelling_of(type).c);
}

std::string cpp_literal(std::string_view text) {
    std::string made = "\"";
    bool was_escape = false;
    for (const char c : text) {
        const bool hexadecimal =
            (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
        const auto byte = static_cast<unsigned char>(c);
        if (was_escape && hexadecimal) {
            made += "\" \"";  // separates the digit from the escape
        }
        was_escape = false;
        if (c == '"' || c == '\\') {
            made += '\\';
            made += c;
        } else if (byte < 0x20 || byte == 0x7f || byte >= 0x80) {
            made += fmt::format("\\x{:02x}", byte);
            was_escape = true;
        } else {
            made += c;
        }
    }
    return made + "\"";
}

cpp_model::cpp_model(const located_schema& source) : source_(source), schema_(source.schema) {
    drop_implicit_events();
    check_name(schema_.name, source_.provider);
    check_text(schema_.description, source_.provider);
    assign_names();
    check_enumerations();
    for (std::size_t id = 0; id < schema_.events.size(); ++id) {
        check_event(id);
    }
}

/// Removes the events that the library appends: see with_builtin_events in event_list.hpp.
void cpp_model::drop_implicit_events() {
    auto& events = schema_.events;
    if (is_implicit_dump_event(events.back())) {
        replays_state_ = true;
        events.pop_back();
    }
    if (events.size() >= 2 && is_implicit_session_event(events[events.size() - 2], true) &&
        is_implicit_session_event(events.back(), false)) {
        events.resize(events.size() - 2);
        if (std::none_of(events.begin(), events.end(),
                         [](const event_schema& event) { return event.session_bound; })) {
            source_.reject(source_.events[events.size()],
                           "A provider in C++ has session_begin and session_end only if another "
                           "of its events belongs to a session.");
        }
    } else {
        for (std::size_t id = 0; id < events.size(); ++id) {
            if (events[id].session_bound) {
                source_.reject(
                    source_.events[id],
                    "A provider in C++ that has events of sessions ends with these two: event "
                    "session_begin info session_begin session \"A session begins\" when \"the "
                    "application opens a session\" { session: u64 } and event session_end info "
                    "session_end session \"A session ends\" when \"the application closes a "
                    "session\" { session: u64 }.");
            }
        }
    }
    if (events.empty()) {
        source_.reject(source_.provider,
                       "A provider in C++ needs an event besides state_complete.");
    }
}

void cpp_model::check_name(std::string_view name, text_position where) const {
    if (is_macro(name) || contains_word(cpp_reserved_words, name)) {
        source_.reject(where, fmt::format("{} means something else in C++, where this cannot be "
                                          "called otherwise. Rename it.",
                                          name));
    }
}

void cpp_model::check_text(std::string_view text, text_position where) const {
    if (text.find('\0') != std::string_view::npos) {
        source_.reject(where, "A description in C++ cannot contain \\x00. Remove it.");
    }
}

/// The library lists the enumerations of fields in the order of the fields, so the schema must have
/// the same order.
void cpp_model::check_enumerations() const {
    std::vector<std::size_t> found;
    for (std::size_t id = 0; id < schema_.events.size(); ++id) {
        const event_schema& event = schema_.events[id];
        for (std::size_t i = 0; i < event.fields.size(); ++i) {
            const std::size_t index = event.fields[i].enumeration;
            if (index == schema_format::no_index) {
                continue;
            }
            if (!type_of_enumeration(schema_, index)) {
                source_.reject(
                    source_.fields[id][i],
                    fmt::format("In C++ the enumeration {} has one type, and here fields "
                                "of several types hold it.",
                                schema_.enumerations[index].name));
            }
            if (std::find(found.begin(), found.end(), index) == found.end()) {
                found.push_back(index);
            }
        }
    }
    for (std::size_t index = 0; index < schema_.enumerations.size(); ++index) {
        if (index >= found.size() || found[index] != index) {
            source_.reject(source_.enumerations[index],
                           "In C++ enumerations stand in the order in which fields first hold "
                           "them, and each is held by a field. Move or remove this one.");
        }
        const enumeration_schema& enumeration = schema_.enumerations[index];
        check_name(enumeration.name, source_.enumerations[index]);
        if (enumeration.name == "describe") {
            source_.reject(source_.enumerations[index],
                           "In C++ describe is the function that describes an enumeration. Rename "
                           "this one.");
        }
        if (enumeration.values.size() > eventlog::enum_values_max && !has_deducible_names(index)) {
            source_.reject(source_.enumerations[index],
                           "In C++ an enumeration has up to 256 values.");
        }
    }
}

void cpp_model::check_event(std::size_t id) const {
    const event_schema& event = schema_.events[id];
    const text_position where = source_.events[id];
    check_text(event.description, where);
    check_text(event.when, where);
    std::size_t described = wrapper_of(id) == cpp_wrapper::timed ? 1 : 0;  // its duration
    for (std::size_t i = 0; i < event.fields.size(); ++i) {
        const field_schema& field = event.fields[i];
        const text_position place = source_.fields[id][i];
        check_text(field.unit, place);
        check_text(field.description, place);
        if (event.session_bound && i == 0) {
            if (field.name != "session" || !field.unit.empty() || !field.description.empty() ||
                field.format != format::plain || field.enumeration != schema_format::no_index) {
                source_.reject(place, "In C++ the session of an event is session: u64, without "
                                      "format, unit and description.");
            }
            continue;
        }
        if (i < first_field(id)) {
            continue;
        }
        if (is_sequence(field) && field.type == field_type::unsigned_8 &&
            field.enumeration == schema_format::no_index) {
            source_.reject(place, fmt::format("A sequence of u8 is a byte string in C++, and {} is "
                                              "none. Make it bytes, or a sequence of u16.",
                                              field.name));
        }
        if (field.format == format::plain && type_of(field).format != format::plain) {
            source_.reject(place, "An array of char is shown as a text in C++: write format "
                                  "characters, or use u8.");
        }
        described += field_info(field, fields_[id][i]).empty() ? 0 : 1;
        if (described > eventlog::described_fields_max) {
            source_.reject(place, "In C++ up to 32 fields of an event have unit, description, a "
                                  "format that their type does not suggest, or a name that means "
                                  "something else in C++.");
        }
    }
}

void cpp_model::assign_names() {
    unique_names keywords(cpp_reserved_words, macro_policy::avoided);
    for (const auto& [bit, name] : schema_.keywords) {
        keywords_.push_back(keywords.make(name));
    }
    unique_names scope(cpp_reserved_words, macro_policy::avoided);
    for (const enumeration_schema& enumeration : schema_.enumerations) {
        scope.reserve(enumeration.name);
    }
    scope.reserve("describe");
    // A struct cannot have the name of its static member.
    scope.reserve("info");
    std::set<std::string_view> taken;
    for (const enumeration_schema& enumeration : schema_.enumerations) {
        const bool is_first = taken.insert(enumeration.name).second;
        enumeration_namespaces_.push_back(is_first ? std::string()
                                                   : scope.make(enumeration.name + "_2"));
        unique_names names(cpp_reserved_words, macro_policy::avoided);
        values_.emplace_back();
        for (const auto& [value, name] : enumeration.values) {
            values_.back().push_back(names.make(name));
        }
    }
    for (const event_schema& event : schema_.events) {
        events_.push_back(scope.make(event.name));
        unique_names members(cpp_reserved_words, macro_policy::avoided);
        members.reserve("info");
        fields_.emplace_back();
        for (const field_schema& field : event.fields) {
            fields_.back().push_back(members.make(field.name));
        }
    }
}

cpp_wrapper cpp_model::wrapper_of(std::size_t id) const {
    const event_schema& event = schema_.events[id];
    const std::size_t first = event.session_bound ? 1 : 0;
    if (event.fields.size() <= first) {
        return cpp_wrapper::none;
    }
    if (event.kind == eventlog::kind::end && is_timed_duration(event.fields[first])) {
        return cpp_wrapper::timed;
    }
    return event.kind == eventlog::kind::gauge ? cpp_wrapper::gauge : cpp_wrapper::none;
}

std::string cpp_model::name_of_enumeration(std::size_t index) const {
    const std::string& home = enumeration_namespaces_[index];
    return fmt::format("::{}::{}{}{}", schema_.name, home,
                       home.empty() ? "" : "::", schema_.enumerations[index].name);
}

bool cpp_model::has_deducible_names(std::size_t index) const {
    const enumeration_schema& enumeration = schema_.enumerations[index];
    return are_values_deducible(enumeration, *type_of_enumeration(schema_, index)) &&
           std::equal(
               enumeration.values.begin(), enumeration.values.end(), values_[index].begin(),
               [](const auto& value, const std::string& name) { return value.second == name; });
}

cpp_type cpp_model::type_of(const field_schema& field) const {
    cpp_type made = scalar_type(field);
    const bool is_byte = field.type == field_type::unsigned_8;
    if (field.enumeration != schema_format::no_index) {
        made = {name_of_enumeration(field.enumeration)};
    }
    if (field.enumeration == schema_format::no_index && is_byte &&
        field.format == format::ip_address) {
        made = {field.count == 4 ? "eventlog::ipv4_address" : "eventlog::ipv6_address",
                format::ip_address};
    } else if (field.enumeration == schema_format::no_index && is_byte &&
               field.format == format::mac_address) {
        made = {"eventlog::mac_address", format::mac_address};
    } else if (is_sequence(field)) {
        made.name = fmt::format("std::span<const {}>", made.name);
    } else if (field.count != 1) {
        made.name = fmt::format("std::array<{}, {}>", made.name, field.count);
    }
    if (is_optional(field)) {
        made.name = fmt::format("std::optional<{}>", made.name);
    }
    return made;
}

std::string cpp_model::field_info(const field_schema& field, const std::string& member) const {
    std::string made;
    if (member != field.name) {
        made += fmt::format(", .name = \"{}\"", field.name);
    }
    if (!field.unit.empty()) {
        made += ", .unit = " + cpp_literal(field.unit);
    }
    if (!field.description.empty()) {
        made += ", .description = " + cpp_literal(field.description);
    }
    if (field.format != type_of(field).format) {
        made += fmt::format(", .format = eventlog::format::{}", name_of(field.format));
    }
    return made.empty() ? made : fmt::format("{{.member = \"{}\"{}}}", member, made);
}

}  // namespace elog
