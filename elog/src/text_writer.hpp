// SPDX-License-Identifier: MIT
//
// Records as lines of text, as elog(1) specifies them:
//
//     14:03:07.123456 [001] orders-4242 shop:order_placed order=17 customer="ann" items=3
#pragma once

#include <cstdint>
#include <ctime>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include "clock_table.hpp"
#include "decode.hpp"
#include "provider_schema.hpp"
#include "time_merger.hpp"

namespace elog {

using provider_map = std::unordered_map<std::uint16_t, provider_instance>;

/// The reader of our output has gone (EPIPE): no failure, but there is no more to do.
struct output_closed {};

/// Writes all of it. Throws output_closed or failure.
void write_all(int descriptor, std::string_view text);

class text_writer {
  public:
    /// Writes to a descriptor that stays the caller's.
    explicit text_writer(int descriptor) noexcept : descriptor_(descriptor) {}

    /// `shared_ring` is the ring that belongs to no CPU.
    void write(const merged_record& record, const provider_map& providers, const clock_table& clock,
               std::uint32_t shared_ring);
    void write_loss(std::uint32_t ring, std::uint64_t lost, std::uint32_t shared_ring);

    /// Call it when there is nothing more to write for now. Throws output_closed or failure.
    void flush();

  private:
    void append_time(std::int64_t nanoseconds);

    int descriptor_;
    fmt::memory_buffer buffer_;
    std::int64_t second_ = -1;  // whose text is clock_text_
    char clock_text_[16] = {};  // HH:MM:SS
};

/// Text from anywhere as it may be shown on a terminal: printable characters as they are, quotes
/// and backslashes behind a backslash, everything else as \xHH, \n, \t or \r.
void append_printable(fmt::memory_buffer& out, std::string_view text);

/// The same in double quotes.
void append_quoted(fmt::memory_buffer& out, std::string_view text);

void append_value(fmt::memory_buffer& out, const field_value& value);

}  // namespace elog
