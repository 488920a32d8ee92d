// SPDX-License-Identifier: MIT
//
// Encodes runs of a ring in the compacted form, see compact_records.hpp.
//
// A run is stored verbatim instead if the compacted form saves less than a sixteenth of its bytes,
// as with payloads of more than 255 bytes, or if a record is of no event that the file has a number
// for.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compact/compact_encoder.hpp"
#include "record/records.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

class run_compactor {
  public:
    /// The file numbers the provider's events from `first_event` on. As for readers, a provider's
    /// first numbers are valid.
    void add_provider(std::uint32_t id, std::uint32_t first_event, const provider_schema& schema);

    /// The records of a run in the compacted form, valid until the next call; nothing if they
    /// should be stored verbatim.
    [[nodiscard]] std::span<const std::uint8_t> compact(const record_run& run);

  private:
    struct numbered_events {
        std::uint32_t first = 0;
        std::vector<compact_shape> shapes;
    };

    std::vector<numbered_events> providers_;  // by number
    compact_encoder encoder_;
    std::vector<std::uint8_t> buffer_;
};

}  // namespace elog
