// SPDX-License-Identifier: MIT
#include "compact/compact_shape.hpp"

namespace elog {

compact_shape compact_shape_of(const event_schema& event) noexcept {
    const field_schema* only = nullptr;
    for (const field_schema& field : event.fields) {
        if (!eventlog::is_variable(field.type, field.count)) {
            continue;
        }
        if (only != nullptr) {
            return {};
        }
        only = &field;
    }
    if (event.fixed_size > UINT8_MAX) {
        return {};
    }
    const auto fixed = static_cast<std::uint8_t>(event.fixed_size);
    if (only == nullptr) {
        return {compact_mode::fixed, fixed, 0};
    }
    // The mode does not store the last byte of the payload, which only a text determines: NUL.
    if (only->type != eventlog::field_type::text || only->count != 1 ||
        only->offset + compact_word_size > fixed) {
        return {};
    }
    return {compact_mode::text, fixed, static_cast<std::uint8_t>(only->offset)};
}

}  // namespace elog
