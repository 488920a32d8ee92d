// SPDX-License-Identifier: MIT
//
// Writes records as JSON Lines, specified in elog-output(7): an object for each record, and one for
// each loss and for each begin or end of a pause at its position.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "output/buffered_writer.hpp"
#include "record/display_clock.hpp"

namespace elog {

class json_lines_writer final : public buffered_writer {
  public:
    /// Writes to a descriptor that the caller owns.
    explicit json_lines_writer(int descriptor, display_clock clock = display_clock::realtime)
        : buffered_writer(descriptor), time_(clock) {}
    json_lines_writer(int descriptor, abort_check should_abort)
        : buffered_writer(descriptor, std::move(should_abort)), time_(display_clock::realtime) {}

    void write_mark(const recording_mark& mark, const clock_converter& clock) override;
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
    void append_record(const merged_record& record, const provider_instance* provider,
                       const clock_converter& clock) override;
    void append_ring_loss(std::uint32_t ring, bool is_shared, std::uint64_t lost,
                          std::string_view reason) override;
    void append_provider_loss(const provider_instance* provider, std::uint64_t lost,
                              std::string_view reason) override;
    void append_known(const record_view& record, const provider_instance& provider);

    fmt::memory_buffer scratch_;
    display_time time_;
    std::unordered_map<std::uint64_t, event_text> texts_;  // by provider and event
};

}  // namespace elog
