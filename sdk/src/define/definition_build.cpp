// SPDX-License-Identifier: MIT
//
// Writes a definition as a schema and as the layout of its payloads. The bytes equal those that
// detail/schema_writer.hpp writes for the same provider in C++.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include <eventlog/detail/field_location.hpp>
#include <eventlog/detail/schema_sink.hpp>
#include <eventlog/detail/source_name.hpp>

#include "provider/definition.hpp"

namespace eventlog::core {
namespace {

using detail::field_location;
using detail::schema_sink;

using enumeration_pointer = const eventlog_enumeration_definition*;

/// Working memory of the passes over a definition, too large for a small stack.
struct workspace {
    std::array<enumeration_pointer, schema_format::enumerations_max> enumerations{};
    std::array<field_location, schema_format::fields_max> locations{};
};

/// Output positions of the second pass, in the memory block that starts with `built`.
struct block {
    built_definition* built = nullptr;
    defined_event* events = nullptr;
    defined_field* fields = nullptr;
    std::uint8_t* schema = nullptr;
};

class builder {
  public:
    builder(const eventlog_definition& definition, workspace& space,
            definition_error& error) noexcept
        : definition_(definition), space_(space), error_(error) {}

    [[nodiscard]] bool build(const built_definition*& built) noexcept;

  private:
    [[nodiscard]] bool list_enumerations() noexcept;
    [[nodiscard]] std::uint16_t index_of(enumeration_pointer wanted) const noexcept;
    void write(schema_sink& sink, std::size_t size, block* target) noexcept;
    void write_keywords(schema_sink& sink) const noexcept;
    void write_enumeration(schema_sink& sink,
                           const eventlog_enumeration_definition& described) const noexcept;
    void write_event(schema_sink& sink, const eventlog_event_definition& event,
                     block* target) noexcept;
    void write_field(schema_sink& sink, const eventlog_field_definition& field,
                     const field_location& place, defined_field* target) const noexcept;
    [[nodiscard]] block allocate(std::size_t schema_size) const noexcept;
    [[nodiscard]] std::size_t count_fields() const noexcept;
    [[nodiscard]] std::uint32_t find(eventlog_kind kind) const noexcept;

    [[nodiscard]] const eventlog_event_definition& event_at(std::uint32_t index) const noexcept {
        return item(definition_.events, definition_.event_size, index);
    }

    const eventlog_definition& definition_;
    workspace& space_;
    definition_error& error_;
    std::size_t enumeration_count_ = 0;
    const std::uint8_t* schema_ = nullptr;  // of the second pass
};

/// Lists each enumeration once, in the order of the fields.
bool builder::list_enumerations() noexcept {
    for (std::uint32_t i = 0; i < definition_.event_count; ++i) {
        const eventlog_event_definition& event = event_at(i);
        for (std::uint32_t j = 0; j < event.field_count; ++j) {
            enumeration_pointer found = item(event.fields, definition_.field_size, j).enumeration;
            if (found == nullptr || index_of(found) != schema_format::no_index) {
                continue;
            }
            if (enumeration_count_ == schema_format::enumerations_max) {
                return false;
            }
            space_.enumerations[enumeration_count_++] = found;
        }
    }
    return true;
}

std::uint16_t builder::index_of(enumeration_pointer wanted) const noexcept {
    for (std::size_t i = 0; wanted != nullptr && i < enumeration_count_; ++i) {
        if (space_.enumerations[i] == wanted) {
            return static_cast<std::uint16_t>(i);
        }
    }
    return schema_format::no_index;
}

std::size_t builder::count_fields() const noexcept {
    std::size_t count = 0;
    for (std::uint32_t i = 0; i < definition_.event_count; ++i) {
        count += event_at(i).field_count + (event_at(i).session_bound ? 1U : 0U);
    }
    return count;
}

/// Allocates the block; its `built` is nullptr if there is no memory. The parts are in the order of
/// their alignment.
block builder::allocate(std::size_t schema_size) const noexcept {
    const std::size_t events = definition_.event_count * sizeof(defined_event);
    const std::size_t fields = count_fields() * sizeof(defined_field);
    static_assert(alignof(built_definition) == alignof(defined_event) &&
                  alignof(defined_event) == alignof(defined_field));
    auto* memory = static_cast<std::uint8_t*>(
        std::malloc(sizeof(built_definition) + events + fields + schema_size));
    if (memory == nullptr) {
        return {};
    }
    block made;
    made.built = new (memory) built_definition;
    made.events = reinterpret_cast<defined_event*>(memory + sizeof(built_definition));
    made.fields = reinterpret_cast<defined_field*>(memory + sizeof(built_definition) + events);
    made.schema = memory + sizeof(built_definition) + events + fields;
    std::uninitialized_default_construct_n(made.events, definition_.event_count);
    std::uninitialized_default_construct_n(made.fields, count_fields());
    made.built->schema = {made.schema, schema_size};
    made.built->events = {made.events, definition_.event_count};
    return made;
}

void builder::write_keywords(schema_sink& sink) const noexcept {
    for (std::uint32_t bit = 0; bit < schema_format::keywords_max; ++bit) {
        for (std::uint32_t i = 0; i < definition_.keyword_count; ++i) {
            const eventlog_keyword_definition& word =
                item(definition_.keywords, definition_.keyword_size, i);
            if (word.bit == bit) {
                sink.number(bit, 1);
                sink.text(word.name);
            }
        }
    }
}

void builder::write_enumeration(schema_sink& sink,
                                const eventlog_enumeration_definition& described) const noexcept {
    sink.number(described.is_bitmask ? schema_format::enumeration_combines : 0, 1);
    sink.number(described.value_count, 2);
    sink.text(described.name);
    for (std::uint32_t i = 0; i < described.value_count; ++i) {
        const eventlog_value_definition& value = item(described.values, definition_.value_size, i);
        sink.number(static_cast<std::uint64_t>(value.value), 8);
        sink.text(value.name);
    }
}

void builder::write_field(schema_sink& sink, const eventlog_field_definition& field,
                          const field_location& place, defined_field* target) const noexcept {
    sink.number(field.type, 1);
    sink.number(field.format, 1);
    sink.number(place.count, 2);
    sink.number(place.offset, 2);
    sink.number(place.presence, 2);
    sink.number(index_of(field.enumeration), 2);
    const std::size_t name_at = sink.size() + 1;
    const std::string_view name = field.name;
    sink.text(name);
    sink.text(text_or_empty(field.unit));
    sink.text(text_or_empty(field.description));
    if (target != nullptr) {
        target->type = place.type;
        target->optional = place.optional;
        target->count = static_cast<std::uint16_t>(place.count);
        target->offset = static_cast<std::uint16_t>(place.offset);
        target->presence = static_cast<std::uint16_t>(place.presence);
        target->name = {reinterpret_cast<const char*>(schema_ + name_at), name.size()};
    }
}

/// Offsets are unique.
void order_as_in_payload(std::span<defined_field> fields) noexcept {
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const auto before = static_cast<std::size_t>(
            std::count_if(fields.begin(), fields.end(), [&](const defined_field& other) {
                return other.offset < fields[i].offset;
            }));
        fields[before].in_payload_order = static_cast<std::uint8_t>(i);
    }
}

/// The name of a source file without its directories; empty if it or the line is unknown.
std::string_view source_file(const char* file, std::uint32_t line) noexcept {
    return file == nullptr || line == 0 ? std::string_view() : detail::source_name(file);
}

void builder::write_event(schema_sink& sink, const eventlog_event_definition& event,
                          block* target) noexcept {
    static constexpr eventlog_field_definition session{
        "session", EVENTLOG_TYPE_UNSIGNED_64, 1, 0, false, false, nullptr, nullptr, nullptr};
    const std::size_t own = event.session_bound ? 1 : 0;
    const std::size_t count = own + event.field_count;
    const auto field_at = [&](std::size_t index) -> const eventlog_field_definition& {
        return index < own ? session
                           : item(event.fields, definition_.field_size,
                                  static_cast<std::uint32_t>(index - own));
    };
    const std::span locations(space_.locations.data(), count);
    for (std::size_t i = 0; i < count; ++i) {
        const eventlog_field_definition& field = field_at(i);
        const auto type = static_cast<field_type>(field.type);
        locations[i] = {type, count_of(field), field.optional, 0, schema_format::no_index};
    }
    const std::size_t fixed_size =
        detail::lay_out(locations.data() + own, count - own, own * sizeof(std::uint64_t));

    constexpr std::uint32_t usual_level = EVENTLOG_LEVEL_INFO;
    sink.number(event.level == 0 ? usual_level : event.level, 1);
    sink.number(event.kind, 1);
    sink.number((event.session_bound ? schema_format::event_session_bound : 0U) |
                    (event.truncates ? schema_format::event_truncates : 0U),
                1);
    const std::string_view file = source_file(event.file, event.line);
    sink.number(file.empty() ? 0 : 1, 1);  // attributes
    sink.number(fixed_size, 2);
    sink.number(count, 2);
    sink.number(event.keywords, 8);
    const std::size_t name_at = sink.size() + 1;
    const std::string_view name = event.name;
    sink.text(name);
    sink.text(text_or_empty(event.description));
    sink.text(text_or_empty(event.when));
    if (!file.empty()) {
        detail::write_source(sink, file, event.line);
    }
    for (std::size_t i = 0; i < count; ++i) {
        write_field(sink, field_at(i), locations[i],
                    target == nullptr ? nullptr : target->fields + i);
    }
    if (target != nullptr) {
        const std::span fields(target->fields, count);
        order_as_in_payload(fields);
        *target->events++ = {fields,
                             static_cast<std::uint16_t>(fixed_size),
                             event.truncates,
                             event.session_bound,
                             {reinterpret_cast<const char*>(schema_ + name_at), name.size()}};
        target->fields += count;
    }
}

/// The index of the first event of the kind; schema_format::no_index if there is none.
std::uint32_t builder::find(eventlog_kind kind) const noexcept {
    for (std::uint32_t i = 0; i < definition_.event_count; ++i) {
        if (event_at(i).kind == static_cast<std::uint32_t>(kind)) {
            return i;
        }
    }
    return schema_format::no_index;
}

/// The first pass only counts; the second one has a target.
void builder::write(schema_sink& sink, std::size_t size, block* target) noexcept {
    sink.number(schema_format::magic, 4);
    sink.number(schema_format::version, 2);
    sink.number(definition_.event_count, 2);
    sink.number(size, 4);
    sink.number(enumeration_count_, 2);
    sink.number(definition_.keyword_count, 1);
    const std::string_view file = source_file(definition_.file, definition_.line);
    sink.number(file.empty() ? 0 : 1, 1);  // attributes
    sink.number(0, 8);                     // the hash
    sink.text(definition_.name);
    sink.text(text_or_empty(definition_.description));
    if (!file.empty()) {
        detail::write_source(sink, file, definition_.line);
    }
    write_keywords(sink);
    for (std::size_t i = 0; i < enumeration_count_; ++i) {
        write_enumeration(sink, *space_.enumerations[i]);
    }
    for (std::uint32_t i = 0; i < definition_.event_count; ++i) {
        write_event(sink, event_at(i), target);
    }
}

bool builder::build(const built_definition*& built) noexcept {
    if (!list_enumerations()) {
        return error_.set(EVENTLOG_ERROR_COUNT,
                          "Provider %s has more than %zu enumerations; the same one is to have the "
                          "same address everywhere. Split the provider in two.",
                          definition_.name, schema_format::enumerations_max);
    }
    for (std::size_t i = 0; i < enumeration_count_; ++i) {
        if (!check_distinct_values(definition_, *space_.enumerations[i], error_)) {
            return false;
        }
    }
    schema_sink counter;
    write(counter, 0, nullptr);
    const std::size_t size = counter.size();
    if (size > schema_format::size_max) {
        return error_.set(EVENTLOG_ERROR_TOO_LARGE,
                          "The schema of provider %s is %zu bytes, over 1 MiB. Split the provider "
                          "in two.",
                          definition_.name, size);
    }
    block target = allocate(size);
    if (target.built == nullptr) {
        return error_.set_no_memory(definition_.name);
    }
    schema_ = target.schema;
    schema_sink writer(target.schema);
    write(writer, size, &target);
    detail::put_hash(target.schema, size);
    target.built->session_begin = find(EVENTLOG_KIND_SESSION_BEGIN);
    target.built->session_end = find(EVENTLOG_KIND_SESSION_END);
    built = target.built;
    return true;
}

}  // namespace

eventlog_error build_definition(const eventlog_definition& definition,
                                const built_definition*& built, definition_error& error) noexcept {
    built = nullptr;
    const std::unique_ptr<void, malloc_deleter> memory(std::malloc(sizeof(workspace)));
    const bool is_built =
        memory == nullptr ? error.set_no_memory(definition.name)
                          : builder(definition, *new (memory.get()) workspace, error).build(built);
    return is_built ? EVENTLOG_ERROR_NONE : error.code();
}

}  // namespace eventlog::core
