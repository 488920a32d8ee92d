// SPDX-License-Identifier: MIT
//
// A subscription inside the test process, and all records that it received.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memory/region_reader.hpp"
#include "memory/subscription.hpp"
#include "record/records.hpp"
#include "schema/decode.hpp"

namespace eventlog::test {

/// A received record; it owns its bytes.
struct received_record {
    elog::record_view header{};  // without the payload
    std::uint32_t ring = 0;
    std::uint64_t sequence = 0;     // of the run, plus the position in it
    std::uint64_t lost_before = 0;  // for the first record of a run
    std::vector<std::uint8_t> payload;
    std::vector<std::uint8_t> padding;  // fills the last word
};

class event_listener {
  public:
    struct options {
        std::uint64_t buffer_size = 128U << 10U;
        std::uint32_t buffers_per_cpu = 2;
        bool overwrite = false;
    };

    explicit event_listener(std::string_view pattern) : event_listener(pattern, options{}) {}
    event_listener(std::string_view pattern, options with);
    /// With several patterns, and the sessions for the patterns with #.
    event_listener(const std::vector<std::string>& patterns,
                   const std::vector<std::uint64_t>& sessions);

    ~event_listener();
    event_listener(const event_listener&) = delete;
    event_listener& operator=(const event_listener&) = delete;

    /// Reads all available records.
    void poll();
    /// Ends the subscription and reads the rest.
    void finish();

    [[nodiscard]] const std::vector<received_record>& records() const { return records_; }
    void clear_records() { records_.clear(); }

    /// A field of a record by name, decoded by the provider's schema. Fails the test if the
    /// record's provider or the field is unknown.
    [[nodiscard]] elog::field_value field(const received_record& record,
                                          std::string_view name) const;
    [[nodiscard]] std::string event_name(const received_record& record) const;
    /// Reads all records and returns the names of the events, separated by spaces.
    [[nodiscard]] std::string received_names();

    [[nodiscard]] const std::map<std::uint32_t, elog::provider_instance>& providers() const {
        return providers_;
    }
    [[nodiscard]] elog::subscription& source() { return source_; }
    [[nodiscard]] elog::region_reader& reader() { return reader_; }

    /// Over all rings: read, lost in full rings, overwritten, damaged.
    [[nodiscard]] elog::ring_totals totals() const;
    /// Over all providers: events lost before they reached a ring.
    [[nodiscard]] std::uint64_t lost_by_providers() const;
    /// Over all providers: events written with truncated texts.
    [[nodiscard]] std::uint64_t truncated_by_providers() const;

  private:
    elog::subscription source_;
    elog::region_reader reader_;
    std::map<std::uint32_t, elog::provider_instance> providers_;
    std::vector<received_record> records_;
};

/// Pins the calling thread to one CPU while it lives, so that the thread writes to one ring.
class pinned_to_one_cpu {
  public:
    pinned_to_one_cpu();
    ~pinned_to_one_cpu();
    pinned_to_one_cpu(const pinned_to_one_cpu&) = delete;
    pinned_to_one_cpu& operator=(const pinned_to_one_cpu&) = delete;
    [[nodiscard]] int cpu() const { return cpu_; }

  private:
    std::vector<std::uint8_t> before_;
    int cpu_;
};

}  // namespace eventlog::test
