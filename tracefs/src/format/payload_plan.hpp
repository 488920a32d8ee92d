// SPDX-License-Identifier: MIT
//
// Converts the kernel's record of a trace event into a payload (schema_format.hpp). For published
// events this is usually one copy, because both have the same layout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "format/event_format.hpp"

namespace eventlog::tracefs {

class payload_plan {
  public:
    payload_plan() = default;
    /// `offsets` has the offset of each field of the format in the payload, whose fixed part has
    /// `fixed_size` bytes.
    payload_plan(const event_format& format, std::span<const std::uint16_t> offsets,
                 std::uint16_t fixed_size);

    /// Appends the payload of a record to `out`. Returns false, with nothing appended, if the
    /// record is invalid or the payload exceeds `size_max`. Overlapping texts are invalid, because
    /// a small record could become a large payload.
    [[nodiscard]] bool append(std::span<const std::uint8_t> record, std::size_t size_max,
                              std::vector<std::uint8_t>& out) const;

  private:
    struct copy_range {
        std::uint32_t from = 0;
        std::uint32_t to = 0;
        std::uint32_t size = 0;
    };
    /// A text, bytes or sequence with a location word. Readers check that a sequence has whole
    /// elements.
    struct dynamic_field {
        std::uint32_t from = 0;
        std::uint32_t to = 0;
        location where = location::rel_loc;
        bool is_text = false;
    };

    [[nodiscard]] static bool append_dynamic_field(const dynamic_field& field,
                                                   std::span<const std::uint8_t> record,
                                                   std::size_t begin,
                                                   std::vector<std::uint8_t>& out);

    std::vector<copy_range> copy_ranges_;
    std::vector<dynamic_field> dynamic_fields_;
    std::uint16_t fixed_size_ = 0;
    std::size_t record_size_min_ = common_size;
};

}  // namespace eventlog::tracefs
