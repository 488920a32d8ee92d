// SPDX-License-Identifier: MIT
#include "define/value_check.hpp"

#include <cfloat>
#include <cmath>
#include <iterator>

namespace eventlog::core {
namespace {

// Larger lengths are errors of the caller, and their sum could overflow.
constexpr std::size_t length_max = std::size_t{1} << 48U;

constexpr unsigned bits_of(field_type type) noexcept {
    return static_cast<unsigned>(8 * size_of(type));
}

constexpr bool is_signed(field_type type) noexcept {
    return type >= field_type::signed_8 && type <= field_type::signed_64;
}

bool fits_integer(field_type type, const eventlog_value& value) noexcept {
    const bool negative = value.type == EVENTLOG_VALUE_SIGNED && value.as.signed_number < 0;
    if (type == field_type::character) {
        // The sign of char depends on the machine.
        return negative ? value.as.signed_number >= INT8_MIN
                        : value.as.unsigned_number <= UINT8_MAX;
    }
    if (negative) {
        return is_signed(type) && value.as.signed_number >= INT64_MIN >> (64 - bits_of(type));
    }
    const unsigned bits = bits_of(type) - (is_signed(type) ? 1 : 0);
    return value.as.unsigned_number <= UINT64_MAX >> (64 - bits);
}

bool fits_real(field_type type, double number) noexcept {
    return type == field_type::float_64 || !std::isfinite(number) || std::fabs(number) <= FLT_MAX;
}

eventlog_error error_unless(bool fine, eventlog_error otherwise) noexcept {
    return fine ? EVENTLOG_ERROR_NONE : otherwise;
}

eventlog_error check_array(const defined_field& field, const eventlog_value& value) noexcept {
    if (value.element != static_cast<std::uint32_t>(field.type) || field.type >= field_type::text) {
        return EVENTLOG_ERROR_VALUE_TYPE;
    }
    const bool is_sequence = field.count == 0;
    if (!is_sequence && value.count != field.count) {
        return EVENTLOG_ERROR_VALUE_COUNT;
    }
    if (value.count > length_max) {
        return EVENTLOG_ERROR_VALUE_RANGE;
    }
    return error_unless(value.count == 0 || value.as.data != nullptr, EVENTLOG_ERROR_ARGUMENT);
}

/// Checks a text or byte string.
eventlog_error check_var_field(const eventlog_value& value) noexcept {
    const bool ends_itself =
        value.type == EVENTLOG_VALUE_TEXT && value.count == EVENTLOG_NUL_TERMINATED;
    if (!ends_itself && value.count > length_max) {
        return EVENTLOG_ERROR_VALUE_RANGE;
    }
    return error_unless(ends_itself || value.count == 0 || value.as.data != nullptr,
                        EVENTLOG_ERROR_ARGUMENT);
}

/// Checks the value of a field that is no array.
eventlog_error check_single(const defined_field& field, const eventlog_value& value) noexcept {
    switch (value.type) {
        case EVENTLOG_VALUE_BOOLEAN:
            return error_unless(field.type == field_type::boolean, EVENTLOG_ERROR_VALUE_TYPE);
        case EVENTLOG_VALUE_SIGNED:
        case EVENTLOG_VALUE_UNSIGNED:
            if (!is_integer(field.type) && field.type != field_type::character) {
                return EVENTLOG_ERROR_VALUE_TYPE;
            }
            return error_unless(fits_integer(field.type, value), EVENTLOG_ERROR_VALUE_RANGE);
        case EVENTLOG_VALUE_REAL:
            if (field.type != field_type::float_32 && field.type != field_type::float_64) {
                return EVENTLOG_ERROR_VALUE_TYPE;
            }
            return error_unless(fits_real(field.type, value.as.real), EVENTLOG_ERROR_VALUE_RANGE);
        case EVENTLOG_VALUE_TEXT:
            return field.type == field_type::text ? check_var_field(value)
                                                  : EVENTLOG_ERROR_VALUE_TYPE;
        case EVENTLOG_VALUE_BYTES:
            return field.type == field_type::bytes ? check_var_field(value)
                                                   : EVENTLOG_ERROR_VALUE_TYPE;
        default:
            return EVENTLOG_ERROR_VALUE_TYPE;
    }
}

const char* name_of(field_type type) noexcept {
    static constexpr const char* names[] = {
        "unknown",     "boolean",   "character",  "signed_8",    "signed_16",
        "signed_32",   "signed_64", "unsigned_8", "unsigned_16", "unsigned_32",
        "unsigned_64", "float_32",  "float_64",   "text",        "bytes"};
    static_assert(std::size(names) == static_cast<std::size_t>(field_type::bytes) + 1);
    return names[static_cast<std::size_t>(type)];
}

const char* name_of_value(std::uint32_t type) noexcept {
    static constexpr const char* names[] = {
        "nothing",       "a boolean", "a signed number", "an unsigned number",
        "a real number", "a text",    "bytes",           "an array of another type"};
    static_assert(std::size(names) == EVENTLOG_VALUE_ARRAY + 1);
    return type < std::size(names) ? names[type] : "a value of an unknown type";
}

void describe_range(const defined_field& field, const eventlog_value& value,
                    definition_error& error) noexcept {
    switch (value.type) {
        case EVENTLOG_VALUE_SIGNED: {
            const bool lacks_sign = value.as.signed_number < 0 && !is_signed(field.type);
            error.set(EVENTLOG_ERROR_VALUE_RANGE,
                      "The number %lld does not fit into %s. Define a %s field.",
                      static_cast<long long>(value.as.signed_number), name_of(field.type),
                      lacks_sign ? "signed" : "wider");
            break;
        }
        case EVENTLOG_VALUE_UNSIGNED:
            error.set(EVENTLOG_ERROR_VALUE_RANGE,
                      "The number %llu does not fit into %s. Define a wider field.",
                      static_cast<unsigned long long>(value.as.unsigned_number),
                      name_of(field.type));
            break;
        case EVENTLOG_VALUE_REAL:
            error.set(EVENTLOG_ERROR_VALUE_RANGE,
                      "The number %g does not fit into %s. Define a wider field.", value.as.real,
                      name_of(field.type));
            break;
        default:
            error.set(EVENTLOG_ERROR_VALUE_RANGE,
                      "Its length, %zu, cannot be right. Compute it anew.", value.count);
    }
}

}  // namespace

eventlog_error check_value(const defined_field& field, const eventlog_value& value) noexcept {
    if (value.type == EVENTLOG_VALUE_ABSENT) {
        return error_unless(field.optional, EVENTLOG_ERROR_VALUE_ABSENT);
    }
    if (value.type == EVENTLOG_VALUE_ARRAY) {
        return check_array(field, value);
    }
    return field.count == 1 ? check_single(field, value) : EVENTLOG_ERROR_VALUE_TYPE;
}

eventlog_error check_values(const defined_event& event, std::span<const eventlog_value> values,
                            std::size_t& wrong) noexcept {
    wrong = values.size();
    if (values.size() != event.fields.size()) {
        return EVENTLOG_ERROR_VALUE_COUNT;
    }
    if (values.data() == nullptr && !values.empty()) {
        return EVENTLOG_ERROR_ARGUMENT;
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (const eventlog_error found = check_value(event.fields[i], values[i]);
            found != EVENTLOG_ERROR_NONE) {
            wrong = i;
            return found;
        }
    }
    return EVENTLOG_ERROR_NONE;
}

void describe_value_error(const defined_event& event, std::uint32_t id,
                          std::span<const eventlog_value> values, eventlog_error found,
                          std::size_t wrong, definition_error& error) noexcept {
    error.in_event(id, event.name);
    if (wrong >= event.fields.size() || wrong >= values.size()) {
        if (found == EVENTLOG_ERROR_ARGUMENT) {
            error.set(found, "The pointer to its values is NULL. Set it.");
        } else {
            error.set(found, "It has %zu fields%s, not %zu. Hand over one value for each%s.",
                      event.fields.size(), event.session_bound ? " with the session" : "",
                      values.size(),
                      event.session_bound ? ", or emit it with eventlog_session_emit" : "");
        }
        return;
    }
    const defined_field& field = event.fields[wrong];
    const eventlog_value& value = values[wrong];
    error.in_field(static_cast<std::uint32_t>(wrong), field.name);
    switch (found) {
        case EVENTLOG_ERROR_VALUE_ABSENT:
            error.set(found, "It is not optional. Hand over a value.");
            break;
        case EVENTLOG_ERROR_VALUE_COUNT:
            error.set(found, "It has %u elements, not %zu. Hand over an array of these.",
                      unsigned{field.count}, value.count);
            break;
        case EVENTLOG_ERROR_VALUE_RANGE:
            describe_range(field, value, error);
            break;
        case EVENTLOG_ERROR_ARGUMENT:
            error.set(found, "The pointer to its %zu bytes or elements is NULL. Set it.",
                      value.count);
            break;
        default:
            if (field.count > 1) {
                error.set(found, "It takes an array of %u %s, not %s. Hand over one.",
                          unsigned{field.count}, name_of(field.type), name_of_value(value.type));
            } else if (field.count == 0) {
                error.set(found, "It takes an array of any number of %s, not %s. Hand over one.",
                          name_of(field.type), name_of_value(value.type));
            } else {
                error.set(found, "It takes %s, not %s. Hand over a value of its type.",
                          name_of(field.type), name_of_value(value.type));
            }
    }
}

}  // namespace eventlog::core
