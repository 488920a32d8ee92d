// SPDX-License-Identifier: MIT
//
// Records as lines of text, as elog(1) specifies them:
//
//     14:03:07.123456 [001] orders-4242 shop:order_placed order=17 customer="ann" items=3
#pragma once

#include <cstdint>
#include <ctime>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "clock_table.hpp"
#include "decode.hpp"
#include "file_format.hpp"
#include "output.hpp"
#include "provider_schema.hpp"
#include "record_writer.hpp"
#include "time_merger.hpp"
#include "value_text.hpp"

namespace elog {

class text_writer final : public record_writer {
  public:
    /// Writes to a descriptor that stays the caller's.
    explicit text_writer(int descriptor, give_up asked_to_end = {})
        : descriptor_(descriptor), asked_to_end_(std::move(asked_to_end)) {}

    /// A record that this version does not understand is only counted. `shared_ring` is the ring
    /// that belongs to no CPU.
    void write(const merged_record& record, const provider_map& providers, const clock_table& clock,
               std::uint32_t shared_ring) override;
    void write_loss(const loss_block& loss, const provider_map& providers,
                    std::uint32_t shared_ring) override;
    void flush() override;
    /// Tells how many were not understood, if any.
    void finish() override;

  private:
    void append_time(std::int64_t nanoseconds);
    void append_record(const eventlog_record& header, std::span<const std::uint8_t> payload,
                       const provider_map& providers);
    void append_cpu(std::uint32_t cpu);
    void append_gap(std::uint32_t ring, std::uint64_t lost, std::uint32_t shared_ring);

    /// What all records of an event have in common, ready to be copied.
    struct event_text {
        std::uint64_t schema = 0;         // its hash
        std::string name;                 // " PROVIDER:EVENT"
        std::vector<std::string> fields;  // " FIELD="
    };

    [[nodiscard]] const event_text& text_of(const provider_instance& provider, std::uint16_t event);

    int descriptor_;
    give_up asked_to_end_;
    std::unordered_map<std::uint32_t, event_text> texts_;  // by provider and event
    fmt::memory_buffer buffer_;
    std::uint64_t skipped_ = 0;
    std::int64_t second_ = INT64_MIN;  // whose text is clock_text_
    char clock_text_[16] = {};         // HH:MM:SS
};

}  // namespace elog
