// SPDX-License-Identifier: MIT
//
// What `elog print --format` is asked to make of an event: text, and names in braces for which
// values are put in. elog-print(1) says what the names are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace elog {

enum class line_part_kind : std::uint8_t {
    text,  // as it is
    time,
    date,
    delta,  // since the event before
    cpu,
    pid,
    tid,
    uid,
    comm,
    level,
    event,
    provider,
    session,
    fields,  // those that a line has without a template
    field,   // the one of that name
};

/// A field that a command line names. Where it stands in there is counted in characters from 1.
struct named_field {
    std::string name;
    std::size_t column = 1;
};

struct line_part {
    line_part_kind kind = line_part_kind::text;
    named_field field{};  // of a text, and of all else but fields, only the name and column
};

class line_template {
  public:
    /// Throws failure, which names the column, if the text is no template.
    explicit line_template(std::string_view text);

    [[nodiscard]] const std::vector<line_part>& parts() const noexcept { return parts_; }
    [[nodiscard]] bool has(line_part_kind kind) const noexcept;

    /// What a name in braces means without being a field.
    [[nodiscard]] static std::vector<std::string_view> variable_names();

  private:
    std::vector<line_part> parts_;
};

/// "order,items": at least one, each once. Throws failure, which names the column.
[[nodiscard]] std::vector<named_field> parse_field_list(std::string_view text);

}  // namespace elog
