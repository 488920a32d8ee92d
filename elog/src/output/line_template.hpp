// SPDX-License-Identifier: MIT
//
// A template for `elog print --format`: text, and names in braces that are replaced with values.
// elog-print(1) lists the names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace elog {

enum class line_part_kind : std::uint8_t {
    text,  // literal
    time,
    date,
    delta,    // since the previous event
    elapsed,  // since the first event
    number,   // of the line, from 1
    cpu,
    pid,
    tid,
    uid,
    comm,
    level,
    event,
    provider,
    session,
    fields,  // the fields of a line without a template
    field,   // the field with this name
};

/// A field named on the command line. `column` counts characters from 1.
struct named_field {
    std::string name;
    std::size_t column = 1;
};

struct line_part {
    line_part_kind kind = line_part_kind::text;
    named_field field{};  // the text or name, and its column
};

class line_template {
  public:
    /// Throws user_error with the column if the text is no valid template.
    explicit line_template(std::string_view text);

    [[nodiscard]] const std::vector<line_part>& parts() const noexcept { return parts_; }
    [[nodiscard]] bool has(line_part_kind kind) const noexcept;

    /// The names that are no fields.
    [[nodiscard]] static std::vector<std::string_view> variable_names();

  private:
    std::vector<line_part> parts_;
};

/// "order,items": at least one name, each once. Throws user_error with the column.
[[nodiscard]] std::vector<named_field> parse_field_list(std::string_view text);

}  // namespace elog
