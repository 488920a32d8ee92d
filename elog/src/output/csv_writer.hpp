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

#include "base/output_buffer.hpp"
#include "record/display_clock.hpp"
#include "record/record_writer.hpp"

namespace elog {

class csv_writer final : public record_writer {
  public:
    /// Writes to a descriptor that the caller owns.
    explicit csv_writer(int descriptor, display_clock clock = display_clock::realtime);

    /// Adds columns for an event's fields. Must precede the first write. Fields of other events are
    /// left out of the table.
    void add_columns(const provider_instance& provider, std::uint16_t event);

    void write(const merged_record& record, const provider_map& providers,
               const clock_converter& clock, std::uint32_t shared_ring) override;
    void write_gap(const merged_record& record, std::uint32_t shared_ring) override;
    void write_loss(const loss_block& loss, const provider_map& providers,
                    std::uint32_t shared_ring) override;
    void flush() override;
    void finish() override;

  private:
    using field_indices = std::vector<std::size_t>;  // by column; no_field: not in the event

    void append_header();
    void append_record(const eventlog_record& header, std::span<const std::uint8_t> payload,
                       const provider_map& providers);
    bool append_fields(const eventlog_record& header, std::span<const std::uint8_t> payload,
                       const provider_instance& provider);
    void append_loss(std::string_view cpu, std::string_view provider, std::uint64_t lost,
                     std::string_view reason);
    void append_gap(std::uint32_t ring, std::uint64_t lost, std::string_view reason,
                    std::uint32_t shared_ring);
    void append_cell(std::string_view text);

    int descriptor_;
    fmt::memory_buffer buffer_;
    fmt::memory_buffer scratch_;
    fmt::memory_buffer cells_;  // of a record's fields
    display_time time_;
    std::vector<std::string> columns_;  // of fields
    std::unordered_map<std::string, std::size_t> column_of_;
    std::unordered_map<std::uint32_t, field_indices> events_;  // by provider and event
    bool has_header_ = false;
    std::uint64_t skipped_ = 0;
};

}  // namespace elog
