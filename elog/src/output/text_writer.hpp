// SPDX-License-Identifier: MIT
//
// Writes records as lines of text, specified in elog(1):
//
//     14:03:07.123456 [001] orders-4242 shop:order_placed order=17 customer="ann" items=3
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/output_buffer.hpp"
#include "file/file_format.hpp"
#include "output/template_steps.hpp"
#include "output/text_options.hpp"
#include "record/clock_converter.hpp"
#include "record/record_writer.hpp"
#include "record/time_merger.hpp"
#include "schema/decode.hpp"
#include "schema/provider_schema.hpp"
#include "text/time_of_day.hpp"

namespace elog {

class text_writer final : public record_writer {
  public:
    /// Writes to a descriptor that the caller owns.
    explicit text_writer(int descriptor, abort_check should_abort = {})
        : descriptor_(descriptor), should_abort_(std::move(should_abort)) {}
    text_writer(int descriptor, text_options options)
        : descriptor_(descriptor),
          options_(std::move(options)),
          shows_delta_(options_.delta ||
                       (options_.line && options_.line->has(line_part_kind::delta))),
          time_(zone_of(options_)) {}

    /// Records that this version does not support are only counted. `shared_ring` is the ring that
    /// belongs to no CPU.
    void write(const merged_record& record, const provider_map& providers,
               const clock_converter& clock, std::uint32_t shared_ring) override;
    void write_gap(const merged_record& record, std::uint32_t shared_ring) override;
    void write_loss(const loss_block& loss, const provider_map& providers,
                    std::uint32_t shared_ring) override;
    void flush() override;
    /// Reports the number of unsupported records, if any.
    void finish() override;

  private:
    /// Text that all records of an event share.
    struct event_text {
        std::uint64_t schema = 0;  // its hash
        std::size_t field_count = 0;
        std::string name;                    // " PROVIDER:EVENT"
        std::vector<selected_field> fields;  // the selected ones
        std::vector<template_step> line;     // of a template
    };

    [[nodiscard]] static time_of_day::zone zone_of(const text_options& options) noexcept;
    void append_clock(const eventlog_record& header, const clock_converter& clock);
    void append_date(const eventlog_record& header, const clock_converter& clock);
    void append_time(const eventlog_record& header, const clock_converter& clock);
    void append_record(const eventlog_record& header, std::span<const std::uint8_t> payload,
                       const provider_instance& provider);
    void append_line(const merged_record& record, const provider_instance& provider,
                     const clock_converter& clock);
    void append_step(const template_step& step, const record_view& record,
                     const provider_instance& provider, const clock_converter& clock);
    void append_unknown(const eventlog_record& header, std::size_t size,
                        const clock_converter& clock);
    void append_cpu(std::uint32_t cpu);
    void append_gap(const char* what, std::uint64_t lost, std::uint32_t ring,
                    std::uint32_t shared_ring);

    [[nodiscard]] const event_text& text_of(const provider_instance& provider, std::uint16_t event);

    int descriptor_;
    abort_check should_abort_;
    text_options options_;
    bool shows_delta_ = false;
    time_of_day time_;
    std::unordered_map<std::uint32_t, event_text> texts_;  // by provider and event
    fmt::memory_buffer buffer_;
    std::uint64_t skipped_ = 0;
    std::optional<std::int64_t> before_;  // CLOCK_MONOTONIC of the previous event, if needed
    std::int64_t delta_ = 0;              // time since then
};

}  // namespace elog
