// SPDX-License-Identifier: MIT
//
// How a payload of ours (schema_format.hpp) is made of the kernel's record of a trace event. For
// events of our own that is one copy as a rule, because they are laid out alike.
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
    /// `offsets` says of each field of the format where it is in the payload's `fixed_size` bytes.
    payload_plan(const event_format& format, std::span<const std::uint16_t> offsets,
                 std::uint16_t fixed_size);

    /// Appends the payload of a record, as the ring buffer has it, to `out`. False if the record
    /// makes no sense, or its payload has over `size_max` bytes; then nothing is appended. It makes
    /// none if its texts stand in one another: a small one would become a large one.
    [[nodiscard]] bool append(std::span<const std::uint8_t> record, std::size_t size_max,
                              std::vector<std::uint8_t>& out) const;

  private:
    struct copy_range {
        std::uint32_t from = 0;
        std::uint32_t to = 0;
        std::uint32_t size = 0;
    };
    /// A text, or bytes, whose place says where they are.
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
