// SPDX-License-Identifier: MIT
//
// Records as lines of text, as elog(1) specifies them:
//
//     14:03:07.123456 [001] orders-4242 shop:order_placed order=17 customer="ann" items=3
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "clock_table.hpp"
#include "decode.hpp"
#include "file_format.hpp"
#include "provider_schema.hpp"
#include "time_merger.hpp"
#include "value_text.hpp"

namespace elog {

using provider_map = std::unordered_map<std::uint16_t, provider_instance>;

/// The reader of our output has gone (EPIPE): no failure, but there is no more to do.
struct output_closed {};

/// Asked while the output takes nothing: whether to wait no longer.
using give_up = std::function<bool()>;

/// Writes all of it. Throws output_closed or failure; the latter also if the output takes nothing
/// for a second although `asked_to_end` says that it is time to end.
void write_all(int descriptor, std::string_view text, const give_up& asked_to_end = {});

class text_writer {
  public:
    /// Writes to a descriptor that stays the caller's.
    explicit text_writer(int descriptor, give_up asked_to_end = {})
        : descriptor_(descriptor), asked_to_end_(std::move(asked_to_end)) {}

    /// A record that this version does not understand is only counted. `shared_ring` is the ring
    /// that belongs to no CPU.
    void write(const merged_record& record, const provider_map& providers, const clock_table& clock,
               std::uint32_t shared_ring);
    void write_loss(const loss_block& loss, const provider_map& providers,
                    std::uint32_t shared_ring);
    /// Behind all records: tells how many were not understood, if any.
    void write_skipped();

    /// Call it when there is nothing more to write for now. Throws output_closed or failure.
    void flush();

  private:
    void append_time(std::int64_t nanoseconds);
    void append_record(const eventlog_record& header, std::span<const std::uint8_t> payload,
                       const provider_map& providers);
    void append_gap(std::uint32_t ring, std::uint64_t lost, std::uint32_t shared_ring);

    int descriptor_;
    give_up asked_to_end_;
    fmt::memory_buffer buffer_;
    std::uint64_t skipped_ = 0;
    std::int64_t second_ = INT64_MIN;  // whose text is clock_text_
    char clock_text_[16] = {};         // HH:MM:SS
};

}  // namespace elog
