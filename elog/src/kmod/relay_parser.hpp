// SPDX-License-Identifier: MIT
//
// What a buffer of a relay channel gives, see eventlog_relay(4): sub-buffers with headers in front.
#pragma once

#include <linux/eventlog_relay.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace elog {

class relay_parser {
  public:
    relay_parser(std::uint32_t cpu, std::uint32_t subbuf_size)
        : cpu_(cpu), subbuf_size_(subbuf_size) {}

    /// Makes what the device gives, see device_stream, of what a file has given, in place: a gap
    /// takes the place of each header. Takes bytes in their order; what is behind the last whole
    /// record has to be given again. Returns how many are in front of that. Throws failure if they
    /// cannot be of such a buffer.
    [[nodiscard]] std::size_t rewrite(std::span<std::uint8_t> bytes);

    // Told so far, in gaps and as records.
    [[nodiscard]] std::uint64_t recorded() const noexcept { return recorded_; }
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

  private:
    void check_header(const eventlog_relay_header& header) const;
    void take_header(std::span<std::uint8_t> bytes);
    [[nodiscard]] bool has_room_for(std::size_t size) const noexcept;
    [[nodiscard]] std::size_t take_record(std::span<const std::uint8_t> bytes);

    std::uint32_t cpu_;
    std::uint32_t subbuf_size_;
    eventlog_relay_header current_{};  // of the sub-buffer; without a magic: there is none yet
    std::uint32_t used_ = 0;           // bytes of it, its header with them
    std::uint32_t records_ = 0;        // of it
    std::uint64_t recorded_ = 0;
    std::uint64_t lost_ = 0;
};

}  // namespace elog
