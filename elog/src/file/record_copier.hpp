// SPDX-License-Identifier: MIT
//
// Writes records of other .elog files into a new one (`elog cut`, `elog merge`). Records are copied
// byte for byte except for their provider number; rings, losses and clock readings keep their
// meaning. One thread uses a copier.
#pragma once

#include <linux/eventlog.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "file/file_format.hpp"
#include "file/file_writer.hpp"
#include "record/clock_converter.hpp"
#include "record/run_coalescer.hpp"
#include "record/time_merger.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

struct copy_summary {
    std::uint64_t records = 0;
    std::uint64_t lost = 0;         // counted in the new file
    std::uint64_t overwritten = 0;  // counted there, not included in `lost`
    std::uint64_t left_out = 0;     // included in `lost`: records without a known provider
    std::uint64_t size = 0;         // of the new file
};

struct copy_options {
    std::string path;
    int compression = 0;  // level; 0: none
};

class record_copier {
  public:
    /// Creates or replaces the file. `host` describes the source of the records; the copy is a
    /// recording of its own. `readings` are the clock readings that convert the records' times, in
    /// increasing order; all are written. This and all other functions throw user_error.
    record_copier(copy_options options, const recording_host& host,
                  std::vector<eventlog_clock_sample> readings);
    /// The same for records of any source, with this machine as the host.
    record_copier(copy_options options, std::uint32_t clock, std::uint32_t ring_count);
    record_copier(const record_copier&) = delete;
    record_copier& operator=(const record_copier&) = delete;
    ~record_copier() = default;

    /// Appends a reading, before the first record that it converts.
    void add_reading(const eventlog_clock_sample& reading) { readings_.push_back(reading); }
    /// Offsets of the same clocks, in the order of time. Must precede the first record.
    void write_offsets(const std::vector<clock_offsets>& offsets);

    /// Records must be passed in the order of order_time_of; their rings are those of `host`.
    /// `source` numbers the file whose `providers` these are.
    void write(const merged_record& record, std::uint32_t source, const provider_map& providers);
    /// Only the loss before the record.
    void write_gap(const merged_record& record);
    /// Losses of a ring are written with the next record of that ring, or at the end.
    void write_loss(const loss_report& loss, std::uint32_t source, const provider_map& providers);
    void write_mark(const recording_mark& mark) { writer_.write_mark(mark); }
    /// Of the source.
    void write_notes(const recording_notes& notes) { writer_.write_notes(notes); }
    /// Must be the last call.
    copy_summary finish();

  private:
    using provider_key = std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::string,
                                    std::vector<std::uint8_t>>;

    /// Of a provider without a schema: the source and number there, or the names.
    using lost_key =
        std::tuple<std::uint64_t, std::uint32_t, std::uint64_t, std::string, std::string>;

    struct ring_state {
        std::uint64_t next = 0;         // sequence number of the next record, including losses
        std::uint64_t unreported = 0;   // lost since the last record
        std::uint64_t overwritten = 0;  // the same, overwritten: see record_run
        std::uint64_t damaged = 0;      // see loss_report
        std::uint64_t unwritten = 0;    // the same
        std::uint64_t last = 0;         // time of the last record with the machine's clock
    };

    [[nodiscard]] std::uint32_t allocate_id();
    [[nodiscard]] std::uint32_t id_of(std::uint32_t source, const provider_instance& provider);
    [[nodiscard]] std::uint32_t id_of_unknown(std::uint32_t source, const loss_report& loss);
    void write_readings(std::uint64_t place);
    void keep_place(const merged_record& record);
    void write_losses();
    void flush();

    file_writer writer_;
    std::uint32_t clock_;
    std::vector<eventlog_clock_sample> readings_;
    std::size_t next_reading_ = 0;
    std::uint64_t watermark_ = 0;  // watermark of the last reading written
    std::uint64_t places_written_ = 0;
    run_coalescer coalescer_;
    run_coalescer::write_run write_run_;
    std::vector<ring_state> rings_;
    std::map<provider_key, std::uint32_t> providers_;           // by identity
    std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  // by source and number there
    std::map<lost_key, std::uint32_t> unknown_;                 // only losses known
    std::uint32_t next_number_ = 0;
    std::size_t schema_bytes_ = 0;
    std::map<std::uint32_t, loss_report> provider_losses_;
    std::vector<std::uint8_t> bytes_;  // of a record
    copy_summary summary_;
};

}  // namespace elog
