// SPDX-License-Identifier: MIT
//
// printf("FORMAT", FIELD, ...) of a script: text and conversions, each of which shows a field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "predicate/predicate.hpp"
#include "predicate/value_location.hpp"
#include "record/clock_converter.hpp"
#include "record/records.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

inline constexpr std::size_t printf_fields_max = 32;
inline constexpr std::size_t printf_width_max = 256;

/// Text, followed by a conversion or the end.
struct printf_piece {
    std::string text{};
    char conversion = '\0';  // s, d or x; NUL: the end
    bool left = false;
    bool zeros = false;
    std::size_t width = 0;
    field_reference field{};
};

struct printf_format {
    std::vector<printf_piece> pieces{};

    [[nodiscard]] bool has_fields() const noexcept;
    /// Parses the arguments of printf(), without parentheses. `column` is their position in the
    /// script. Throws user_error: script, column N: reason.
    [[nodiscard]] static printf_format parse(std::string_view text, std::size_t column);
};

/// A format whose fields are resolved for the events of one schema.
struct printf_plan {
    /// By piece; those of fields that the event does not have are empty.
    std::vector<std::optional<value_location>> places{};

    /// Throws user_error: script, column N: reason, for a conversion that does not suit a field.
    /// The provider has to outlive the plan.
    printf_plan(const printf_format& format, const provider_instance& provider,
                const event_schema& event);
};

/// Appends a line; its end does not depend on a \n at the end of the format.
void append_line(fmt::memory_buffer& out, const printf_format& format, const printf_plan& plan,
                 const provider_schema& provider, const record_view& record,
                 const clock_converter& clock);
/// The same for a format without fields.
void append_line(fmt::memory_buffer& out, const printf_format& format);

}  // namespace elog
