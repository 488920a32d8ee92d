// SPDX-License-Identifier: MIT
//
// The types of a schema's fields and enumerations in the words of elog-schema(5).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "schema/provider_schema.hpp"

namespace elog {

class type_text {
  public:
    /// The schema must outlive it.
    explicit type_text(const provider_schema& schema);

    /// All that stands behind the colon but the description: `u32`, `ip4`, `size[2]?`,
    /// `u8 as size`, `i64 format duration unit "!"`.
    [[nodiscard]] std::string of(const field_schema& field) const;

    /// The type without count, presence, format and unit: `u32`, `ip4`, `size`, `u8 as size`.
    [[nodiscard]] std::string bare(const field_schema& field) const;

    /// The type of the first field that holds the enumeration, or the smallest that can: the binary
    /// form does not say which was declared. `index` is its position in the schema.
    [[nodiscard]] eventlog::field_type of_enumeration(std::size_t index) const {
        return enumeration_types_[index];
    }

    /// What the text calls that enumeration, which need not be its name: several may have the same.
    [[nodiscard]] const std::string& label(std::size_t index) const { return labels_[index]; }

  private:
    const provider_schema& schema_;
    std::vector<eventlog::field_type> enumeration_types_;
    std::vector<std::string> labels_;
};

}  // namespace elog
