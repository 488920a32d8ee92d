// SPDX-License-Identifier: MIT
//
// Writes records as lines of text, specified in elog-output(7):
//
//     14:03:07.123456 [001] orders-4242 shop:order_placed order=17 customer="ann" items=3
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "output/buffered_writer.hpp"
#include "output/template_steps.hpp"
#include "output/text_options.hpp"
#include "record/clock_converter.hpp"
#include "schema/provider_schema.hpp"
#include "text/time_of_day.hpp"

namespace elog {

class text_writer final : public buffered_writer {
  public:
    /// Writes to a descriptor that the caller owns.
    /// `should_abort`: see write_all.
    explicit text_writer(int descriptor, text_options options = {}, abort_check should_abort = {})
        : buffered_writer(descriptor, std::move(should_abort)),
          options_(std::move(options)),
          shows_times_between_(options_.delta || options_.elapsed ||
                               (options_.line && (options_.line->has(line_part_kind::delta) ||
                                                  options_.line->has(line_part_kind::elapsed)))),
          time_(zone_of(options_), options_.today) {}

    void write_mark(const recording_mark& mark, const clock_converter& clock) override;
    /// Reports the number of unsupported records, if any.
    void finish() override;

  private:
    /// Text that all records of an event share.
    struct event_text {
        std::uint64_t schema = 0;  // its hash
        std::size_t field_count = 0;
        std::string name;                    // " PROVIDER:EVENT", colored if the output has colors
        std::vector<selected_field> fields;  // the selected ones
        std::vector<template_step> line;     // of a template
    };

    [[nodiscard]] static time_of_day::zone zone_of(const text_options& options) noexcept;
    void append_clock(std::uint64_t time, const clock_converter& clock);
    void append_date(const record_view& record, const clock_converter& clock);
    void append_dated(std::uint64_t time, const clock_converter& clock);
    void append_time(const record_view& record, const clock_converter& clock);
    void measure(const record_view& record, const clock_converter& clock);
    void append_record(const merged_record& record, const provider_instance* provider,
                       const clock_converter& clock) override;
    void append_ring_loss(std::uint32_t ring, bool is_shared, std::uint64_t lost,
                          std::string_view reason) override;
    void append_provider_loss(const provider_instance* provider, std::uint64_t lost,
                              std::string_view reason) override;
    void append_usual_line(const record_view& record, const provider_instance& provider);
    void append_step(const template_step& step, const record_view& record,
                     const provider_instance& provider, const clock_converter& clock);
    void append_unknown(const record_view& record, const clock_converter& clock);
    void append_cpu(std::uint32_t cpu);
    void append_loss(std::string_view line);
    [[nodiscard]] std::string name_of(const provider_schema& provider,
                                      const event_schema& event) const;

    [[nodiscard]] const event_text& text_of(const provider_instance& provider, std::uint16_t event);

    text_options options_;
    bool shows_times_between_ = false;
    time_of_day time_;
    std::unordered_map<std::uint64_t, event_text> texts_;  // by provider and event
    // CLOCK_MONOTONIC of the first and the previous event, if needed, and the times since then.
    std::optional<std::int64_t> first_;
    std::optional<std::int64_t> before_;
    std::int64_t elapsed_ = 0;
    std::int64_t delta_ = 0;
    std::uint64_t number_ = 0;  // of the last line
};

}  // namespace elog
