// SPDX-License-Identifier: MIT
//
// Decodes the records of untrusted blocks, in any encoding, into the layout of a ring, so that all
// users of runs are independent of the encoding.
//
// - The size is bounded by the head and by records_size_max, and memory also by the size of the
//   body, before a record is decoded.
// - Providers are added before the records that name their events by number.
#pragma once

#include <bitset>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "file/file_format.hpp"
#include "record/event_numbers.hpp"
#include "record/ring_records.hpp"

namespace elog {

/// The records of a block in the layout of a ring.
struct decoded_records {
    std::span<const std::uint8_t> bytes{};  // as check_records passes them with this context
    std::uint64_t count = 0;
    bool is_whole = false;  // the block has no other bytes, and its head states this count and size
    std::uint64_t context = 0;

    /// Reads the records of a ring; `events` are those of the decoder.
    [[nodiscard]] run_reader records(std::uint32_t ring, const event_numbers& events) const {
        return run_reader(bytes, ring, context, &events);
    }
};

/// What the block of these records "holds" or "has", for a message about it. To be called if they
/// are not whole, or none.
[[nodiscard]] std::string describe_damage(const records_block& head, const decoded_records& found);

class records_decoder {
  public:
    void clear();

    /// A provider's first numbers are valid. Returns false, and ignores the numbers, if they are
    /// invalid or overlap those of an earlier provider.
    bool add_provider(const provider_block& provider);

    /// The numbers of all events, for the runs of the file.
    [[nodiscard]] const event_numbers& events() const noexcept { return events_; }

    /// The valid records before the first damage; nullopt if the encoding is unknown. Verbatim ones
    /// remain in `body`, others are stored in `decoded`, which has no other bytes then.
    [[nodiscard]] std::optional<decoded_records> decode(const records_block& head,
                                                        std::span<const std::uint8_t> body,
                                                        std::vector<std::uint8_t>& decoded) const;

  private:
    [[nodiscard]] decoded_records decode_compacted(const records_block& head,
                                                   std::span<const std::uint8_t> body,
                                                   std::vector<std::uint8_t>& decoded) const;

    event_numbers events_;
    std::bitset<record_provider_max + 1> is_known_;  // by provider
};

}  // namespace elog
