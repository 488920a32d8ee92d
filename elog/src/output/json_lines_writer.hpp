// SPDX-License-Identifier: MIT
//
// Writes records as JSON Lines, specified in elog(1): an object for each record, and one for each
// loss at its position.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/output_buffer.hpp"
#include "record/display_clock.hpp"
#include "record/record_writer.hpp"

namespace elog {

class json_lines_writer final : public record_writer {
  public:
    /// Writes to a descriptor that the caller owns.
    explicit json_lines_writer(int descriptor, display_clock clock = display_clock::realtime)
        : descriptor_(descriptor), time_(clock) {}
    /// `should_abort`: see write_all.
    json_lines_writer(int descriptor, abort_check should_abort)
        : descriptor_(descriptor),
          should_abort_(std::move(should_abort)),
          time_(display_clock::realtime) {}

    void write(const merged_record& record, const provider_map& providers,
               const clock_converter& clock, std::uint32_t shared_ring) override;
    void write_gap(const merged_record& record, std::uint32_t shared_ring) override;
    void write_loss(const loss_block& loss, const provider_map& providers,
                    std::uint32_t shared_ring) override;
    void flush() override;
    void finish() override;

  private:
    /// Text that all records of an event share.
    struct event_text {
        std::uint64_t schema = 0;  // its hash
        std::uint32_t pid = 0;
        std::string name;                 // of the process
        std::string process;              // "process":"orders","pid":4242,
        std::string event;                // "provider":"shop",... "fields":{
        std::vector<std::string> fields;  // "order":
    };

    [[nodiscard]] const event_text& text_of(const provider_instance& provider, std::uint16_t event);
    void append_record(const eventlog_record& header, std::span<const std::uint8_t> payload,
                       const provider_map& providers);
    void append_unknown(const eventlog_record& header, std::size_t size);
    void append_gap(std::uint32_t ring, std::uint64_t lost, const char* reason,
                    std::uint32_t shared_ring);

    int descriptor_;
    abort_check should_abort_;
    fmt::memory_buffer buffer_;
    fmt::memory_buffer scratch_;
    display_time time_;
    std::unordered_map<std::uint32_t, event_text> texts_;  // by provider and event
    std::uint64_t skipped_ = 0;
};

}  // namespace elog
