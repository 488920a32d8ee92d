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
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "file/file_format.hpp"
#include "record/ring_records.hpp"

namespace elog {

/// The records of a block in the layout of a ring.
struct decoded_records {
    std::span<const std::uint8_t> bytes{};  // as check_records passes them
    std::uint64_t count = 0;
    bool is_whole = false;  // the block has no other bytes, and its head states this count
};

class records_decoder {
  public:
    void clear();

    /// A provider's first numbers are valid. A range that overlaps an earlier one is ignored.
    void add_provider(const provider_block& provider);

    /// The valid records before the first damage; nullopt if the encoding is unknown. Verbatim ones
    /// remain in `body`, others are stored in `decoded`, which has no other bytes then. An event
    /// without a provider gets a provider's number that is not used.
    [[nodiscard]] std::optional<decoded_records> decode(const records_block& head,
                                                        std::span<const std::uint8_t> body,
                                                        std::vector<std::uint8_t>& decoded) const;

  private:
    /// Consecutive numbers of events.
    struct event_range {
        std::uint32_t first = 0;
        std::uint32_t count = 0;
        std::uint16_t provider = 0;

        [[nodiscard]] bool contains(std::uint32_t event) const noexcept {
            return event >= first && event - first < count;
        }
    };

    [[nodiscard]] decoded_records decode_compacted(const records_block& head,
                                                   std::span<const std::uint8_t> body,
                                                   std::vector<std::uint8_t>& decoded) const;
    [[nodiscard]] std::optional<event_range> range_of(std::uint32_t event) const;

    std::map<std::uint32_t, event_range> ranges_;                // by first number
    std::bitset<record_provider_max + 1> is_used_;               // by provider
    std::optional<std::uint32_t> unused_ = record_provider_max;  // the largest unused number
};

}  // namespace elog
