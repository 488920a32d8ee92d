// SPDX-License-Identifier: MIT
//
// Writes types of fields and enumerations in the language of elog-schema(5).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "schema/provider_schema.hpp"

namespace elog {

class type_text {
  public:
    /// The schema must outlive this.
    explicit type_text(const provider_schema& schema);

    /// Everything between the colon and the description: `u32`, `ip4`, `size[2]?`, `u8 as size`,
    /// `i64 format duration unit "!"`.
    [[nodiscard]] std::string of(const field_schema& field) const;

    /// The type without count, presence, format and unit: `u32`, `ip4`, `size`, `u8 as size`.
    [[nodiscard]] std::string bare(const field_schema& field) const;

    /// The type of the first field that holds the enumeration, or the smallest possible: the binary
    /// form does not contain the declared one. `index` is its position in the schema.
    [[nodiscard]] eventlog::field_type of_enumeration(std::size_t index) const {
        return enumeration_types_[index];
    }

    /// The enumeration's name in the text. Differs from its own name if several have the same.
    [[nodiscard]] const std::string& label(std::size_t index) const { return labels_[index]; }

  private:
    const provider_schema& schema_;
    std::vector<eventlog::field_type> enumeration_types_;
    std::vector<std::string> labels_;
};

}  // namespace elog
