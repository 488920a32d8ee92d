// SPDX-License-Identifier: MIT
//
// Converts a list of values to a payload on the stack, as detail/encode.hpp does for structs.
// Async-signal-safe.
#include "define/emit_values.hpp"

#include <array>
#include <cstring>
#include <span>

#include <eventlog/detail/field_location.hpp>
#include <eventlog/detail/var_fields.hpp>
#include <eventlog/eventlog.h>

#include "define/value_check.hpp"
#include "provider/definition.hpp"
#include "provider/registered_provider.hpp"
#include "provider/runtime_definition.hpp"

namespace eventlog::core {
namespace {

using detail::var_field;

/// Larger payloads are emitted in pieces, because the caller's stack may be small.
constexpr std::size_t inline_size = 512;

constexpr std::size_t padded_to_word(std::size_t size) noexcept {
    return (size + 7U) & ~std::size_t{7};
}

/// The content of an absent array. Most programs never touch it, and then it has no memory.
std::array<unsigned char, detail::fixed_size_max> zeros;

constexpr bool is_var_field(const defined_field& field) noexcept {
    return is_variable(field.type, field.count);
}

constexpr std::size_t size_in_fixed_part(const defined_field& field) noexcept {
    return fixed_size_of(field.type, field.count);
}

/// As in detail/var_fields.hpp. The only scan for the end of a text.
var_field measure(const defined_field& field, const eventlog_value& value) noexcept {
    switch (value.type) {
        case EVENTLOG_VALUE_TEXT:
            return value.count == EVENTLOG_NUL_TERMINATED
                       ? detail::measure(static_cast<const char*>(value.as.data))
                       : var_field{value.as.data, value.count + 1};
        case EVENTLOG_VALUE_BYTES:
            return {value.as.data, value.count};
        case EVENTLOG_VALUE_ARRAY:
            return {value.as.data, value.count * size_of(field.type)};
        default:
            return {nullptr, 0};
    }
}

template <class Number>
void put_as(unsigned char* target, Number number) noexcept {
    std::memcpy(target, &number, sizeof number);
}

void put_integer(unsigned char* target, std::size_t size, std::uint64_t number) noexcept {
    switch (size) {
        case 1:
            return put_as(target, static_cast<std::uint8_t>(number));
        case 2:
            return put_as(target, static_cast<std::uint16_t>(number));
        case 4:
            return put_as(target, static_cast<std::uint32_t>(number));
        default:
            return put_as(target, number);
    }
}

/// Stores the value of a field that is not variable.
void put_value(unsigned char* target, const defined_field& field,
               const eventlog_value& value) noexcept {
    switch (value.type) {
        case EVENTLOG_VALUE_BOOLEAN:
            return put_as(target, static_cast<std::uint8_t>(value.as.boolean ? 1 : 0));
        case EVENTLOG_VALUE_SIGNED:
            return put_integer(target, size_of(field.type),
                               static_cast<std::uint64_t>(value.as.signed_number));
        case EVENTLOG_VALUE_UNSIGNED:
            return put_integer(target, size_of(field.type), value.as.unsigned_number);
        case EVENTLOG_VALUE_REAL:
            if (field.type == field_type::float_32) {
                return put_as(target, static_cast<float>(value.as.real));
            }
            return put_as(target, value.as.real);
        case EVENTLOG_VALUE_ARRAY:
            std::memcpy(target, value.as.data, size_in_fixed_part(field));
            return;
        default:
            std::memset(target, 0, size_in_fixed_part(field));
    }
}

/// The values of one event, and the sizes of its variable fields.
struct outgoing_event {
    eventlog_provider* provider;
    std::uint32_t id;
    const defined_event& event;
    std::span<const eventlog_value> values;
    std::span<var_field> var_fields;
    std::span<std::uint8_t> units;  // in which the variable fields are cut

    [[nodiscard]] bool is_text(std::size_t var_field) const noexcept {
        return units[var_field] == detail::unit_of_text;
    }
};

/// Writes the location of a variable field and advances `end` by its size. A size over 16 bits
/// is harmless, because the ring rejects such a payload.
void put_rel_loc(unsigned char* target, const defined_field& field, std::size_t size,
                 std::size_t& end) noexcept {
    const std::size_t distance = end - (std::size_t{field.offset} + 4);
    put_as(target, static_cast<std::uint32_t>(
                       size == 0 ? 0 : (size & 0xffffU) << 16U | (distance & 0xffffU)));
    end += size;
}

[[gnu::noinline]] void emit_contiguous(const outgoing_event& out, std::size_t size) noexcept {
    alignas(64) unsigned char payload[inline_size];
    if (size != 0) {
        // The padding is part of the record and must not expose old stack content.
        std::memset(payload + padded_to_word(size) - 8, 0, 8);
    }
    std::size_t end = out.event.fixed_size;
    std::size_t next = 0;
    for (std::size_t i = 0; i < out.values.size(); ++i) {
        const defined_field& field = out.event.fields[i];
        if (is_var_field(field)) {
            const var_field& part = out.var_fields[next];
            const std::size_t copied = part.size - (out.is_text(next) && part.size != 0 ? 1 : 0);
            if (copied != 0) {
                std::memcpy(payload + end, part.data, copied);
            }
            if (copied != part.size) {
                payload[end + copied] = 0;
            }
            put_rel_loc(payload + field.offset, field, part.size, end);
            ++next;
        } else {
            put_value(payload + field.offset, field, out.values[i]);
        }
        if (field.optional) {
            payload[field.presence] = out.values[i].type == EVENTLOG_VALUE_ABSENT ? 0 : 1;
        }
    }
    eventlog_emit_raw(out.provider, out.id, payload, size);
}

/// A payload as a list of pieces: single values are collected, arrays and texts are referenced.
template <std::size_t FieldsMax>
class segment_list {  // NOLINT(cppcoreguidelines-pro-type-member-init): see below
  public:
    /// Reserves `size` bytes for a value: at most 8 for a field and one for its presence.
    unsigned char* collect(std::size_t size) noexcept {
        unsigned char* place = collected_.data() + end_;
        end_ += size;
        return place;
    }
    void add(const void* data, std::size_t size) noexcept {
        flush();
        if (size != 0) {
            parts_[count_++] = {data, size};
        }
    }
    /// Ends the piece of collected values.
    void flush() noexcept {
        if (end_ != begin_) {
            parts_[count_++] = {collected_.data() + begin_, end_ - begin_};
            begin_ = end_;
        }
    }
    [[nodiscard]] std::span<const eventlog_part> parts() const noexcept {
        return {parts_.data(), count_};
    }

  private:
    // Not initialized, to keep the emit path short.
    std::array<unsigned char, 9 * FieldsMax> collected_;
    // Two for each array or text, and one for the values collected last.
    std::array<eventlog_part, 2 * FieldsMax + 1> parts_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
    std::size_t count_ = 0;
};

template <std::size_t FieldsMax>
void list_fixed_part(const outgoing_event& out, segment_list<FieldsMax>& list) noexcept {
    // The ends of variable fields depend on declared order, which equals their order in the
    // payload, because all their locations are four bytes wide.
    std::size_t end = out.event.fixed_size;
    std::size_t next = 0;
    for (std::size_t i = 0; i < out.values.size(); ++i) {
        const std::size_t index = out.event.fields[i].in_payload_order;
        const defined_field& field = out.event.fields[index];
        const eventlog_value& value = out.values[index];
        const std::size_t size = size_in_fixed_part(field);
        if (is_var_field(field)) {
            put_rel_loc(list.collect(size), field, out.var_fields[next++].size, end);
        } else if (size <= 8) {
            put_value(list.collect(size), field, value);
        } else {
            list.add(value.type == EVENTLOG_VALUE_ABSENT ? zeros.data() : value.as.data, size);
        }
    }
    for (std::size_t i = 0; i < out.values.size(); ++i) {
        if (out.event.fields[i].optional) {
            *list.collect(1) = out.values[i].type == EVENTLOG_VALUE_ABSENT ? 0 : 1;
        }
    }
    list.flush();
}

template <std::size_t FieldsMax>
[[gnu::noinline]] void emit_segments(const outgoing_event& out, std::size_t size) noexcept {
    std::uint32_t flags = 0;
    if (out.event.truncates && size > detail::payload_size_max && !out.var_fields.empty()) {
        detail::cut_longest(out.var_fields.data(), out.units.data(), out.var_fields.size(),
                            size - detail::payload_size_max);
        flags = EVENTLOG_EMIT_TRUNCATED;
    }
    segment_list<FieldsMax> list;
    list_fixed_part(out, list);
    for (std::size_t i = 0; i < out.var_fields.size(); ++i) {
        const var_field& part = out.var_fields[i];
        if (out.is_text(i) && part.size != 0) {
            list.add(part.data, part.size - 1);
            list.add("", 1);
        } else {
            list.add(part.data, part.size);
        }
    }
    eventlog_emit_raw_parts(out.provider, out.id, list.parts().data(), list.parts().size(), flags);
}

template <std::size_t FieldsMax>
[[gnu::noinline]] void emit_event(eventlog_provider* provider, std::uint32_t id,
                                  const defined_event& event,
                                  std::span<const eventlog_value> values) noexcept {
    var_field var_fields[FieldsMax];
    std::uint8_t units[FieldsMax];
    std::size_t size = event.fixed_size;
    std::size_t count = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (is_var_field(event.fields[i])) {
            units[count] = detail::unit_of(event.fields[i].type);
            var_fields[count] = measure(event.fields[i], values[i]);
            size += var_fields[count].size;
            ++count;
        }
    }
    const outgoing_event out{provider, id, event, values, {var_fields, count}, {units, count}};
    if (size <= inline_size) {
        emit_contiguous(out, size);
    } else {
        emit_segments<FieldsMax>(out, size);
    }
}

const defined_event* find_event(const definition_reader& reader, std::uint32_t event) noexcept {
    return event < reader.definition()->events.size() ? &reader.definition()->events[event]
                                                      : nullptr;
}

}  // namespace

eventlog_error emit_defined(eventlog_provider& provider, std::uint32_t id,
                            const defined_event& event,
                            std::span<const eventlog_value> values) noexcept {
    std::size_t wrong = 0;
    const eventlog_error found = check_values(event, values, wrong);
    if (found != EVENTLOG_ERROR_NONE || !eventlog_enabled(&provider, id)) {
        return found;
    }
    // Most events are small and need little stack.
    if (values.size() <= 16) {
        emit_event<16>(&provider, id, event, values);
    } else {
        emit_event<schema_format::fields_max>(&provider, id, event, values);
    }
    return EVENTLOG_ERROR_NONE;
}

}  // namespace eventlog::core

eventlog_error eventlog_emit(eventlog_provider* provider, std::uint32_t event,
                             const eventlog_value* values, std::size_t count) {
    using namespace eventlog::core;
    if (provider == nullptr) {
        return EVENTLOG_ERROR_NOT_DEFINED;
    }
    const definition_reader reader(*provider);
    if (reader.definition() == nullptr) {
        return EVENTLOG_ERROR_NOT_DEFINED;
    }
    const defined_event* defined = find_event(reader, event);
    if (defined == nullptr) {
        return EVENTLOG_ERROR_EVENT;
    }
    return emit_defined(*provider, event, *defined, {values, count});
}

eventlog_error eventlog_check_values(eventlog_provider* provider, std::uint32_t event,
                                     const eventlog_value* values, std::size_t count, char* text,
                                     std::size_t text_size) {
    using namespace eventlog::core;
    definition_error error;
    if (provider == nullptr) {
        error.set(EVENTLOG_ERROR_NOT_DEFINED, "There is no provider. Define one first.");
    } else if (const definition_reader reader(*provider); reader.definition() == nullptr) {
        error.set(EVENTLOG_ERROR_NOT_DEFINED,
                  "The provider was not defined at run time, or is withdrawn. Define it first.");
    } else if (const defined_event* defined = find_event(reader, event); defined == nullptr) {
        error.set(EVENTLOG_ERROR_EVENT,
                  "The provider has no event %u, but 0 to %zu. Hand over its position in the "
                  "definition.",
                  event, reader.definition()->events.size() - 1);
    } else {
        const std::span given(values, count);
        std::size_t wrong = 0;
        const eventlog_error found = check_values(*defined, given, wrong);
        if (found != EVENTLOG_ERROR_NONE) {
            describe_value_error(*defined, event, given, found, wrong, error);
        }
    }
    error.copy_to(text, text_size);
    return error.code();
}
