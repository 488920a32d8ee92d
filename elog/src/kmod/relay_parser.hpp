// SPDX-License-Identifier: MIT
//
// Parser for the bytes of one relay buffer, see eventlog_relay(4): sub-buffers, each with a header.
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

    /// Turns bytes of a buffer into the device's format (see device_stream) in place: a marker
    /// replaces each header. Bytes must be passed in order; those behind the last whole record must
    /// be passed again. Returns the number of bytes in front of them. Throws user_error if the
    /// bytes are not those of such a buffer. Records that a read has in front of its first header
    /// need a marker with context().
    [[nodiscard]] std::size_t rewrite(std::span<std::uint8_t> bytes);

    /// The context behind the last record; 0: none.
    [[nodiscard]] std::uint64_t context() const noexcept { return context_; }

    // Reported so far, in gaps and as records.
    [[nodiscard]] std::uint64_t recorded() const noexcept { return recorded_; }
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

  private:
    void check_header(const eventlog_relay_header& header) const;
    void take_header(std::span<std::uint8_t> bytes);
    [[nodiscard]] bool has_room_for(std::size_t size) const noexcept;
    [[nodiscard]] std::size_t take_record(std::span<const std::uint8_t> bytes);

    std::uint32_t cpu_;
    std::uint32_t subbuf_size_;
    eventlog_relay_header current_{};  // of the current sub-buffer; magic is 0 before the first
    std::uint32_t used_ = 0;           // bytes of it, including the header
    std::uint32_t records_ = 0;        // in it
    std::uint64_t context_ = 0;        // behind the last record in it
    std::uint64_t recorded_ = 0;
    std::uint64_t lost_ = 0;
};

}  // namespace elog
