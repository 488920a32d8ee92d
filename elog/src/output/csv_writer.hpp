// SPDX-License-Identifier: MIT
//
// Writes records as a table in the format of RFC 4180 with \n, specified in elog-convert(1): a row
// for each record and each loss, a column for each field name of the selected events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "output/buffered_writer.hpp"
#include "record/display_clock.hpp"

namespace elog {

/// Texts that a spreadsheet would read as a formula, because of their first character.
enum class formula_texts : std::uint8_t {
    quoted,  // with an apostrophe in front
    as_they_are,
};

class csv_writer final : public buffered_writer {
  public:
    /// Writes to a descriptor that the caller owns.
    explicit csv_writer(int descriptor, display_clock clock = display_clock::realtime,
                        formula_texts formulas = formula_texts::quoted)
        : buffered_writer(descriptor), time_(clock), formulas_(formulas) {}

    /// Adds columns for an event's fields. Must precede the first write. Fields of other events are
    /// left out of the table.
    void add_columns(const provider_instance& provider, std::uint16_t event);

    void finish() override;

    /// Number of written events whose fields have no columns.
    [[nodiscard]] std::uint64_t without_columns() const noexcept { return without_columns_; }

  private:
    using field_indices = std::vector<std::size_t>;  // by column; no_field: not in the event

    void append_header();
    void append_record(const merged_record& record, const provider_instance* provider,
                       const clock_converter& clock) override;
    void append_ring_loss(std::uint32_t ring, bool is_shared, std::uint64_t lost,
                          std::string_view reason) override;
    void append_provider_loss(const provider_instance* provider, std::uint64_t lost,
                              std::string_view reason) override;
    bool append_fields(const record_view& record, const provider_instance& provider);
    void append_loss_row(std::string_view cpu, std::string_view provider, std::string_view counts);
    void append_cell(std::string_view text);

    fmt::memory_buffer scratch_;
    fmt::memory_buffer cells_;  // of a record's fields
    display_time time_;
    formula_texts formulas_;
    std::vector<std::string> columns_;  // of fields
    std::unordered_map<std::string, std::size_t> column_of_;
    std::unordered_map<std::uint64_t, field_indices> events_;  // by provider and event
    std::uint64_t without_columns_ = 0;
    bool has_header_ = false;
};

}  // namespace elog
