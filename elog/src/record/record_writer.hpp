// SPDX-License-Identifier: MIT
//
// The interface of output formats: receives records in the order of time.
#pragma once

#include <cstdint>

#include "record/clock_converter.hpp"
#include "record/loss.hpp"
#include "record/recording_mark.hpp"
#include "record/time_merger.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

class record_writer {
  public:
    record_writer() = default;
    record_writer(const record_writer&) = delete;
    record_writer& operator=(const record_writer&) = delete;
    virtual ~record_writer() = default;

    /// Counts, but does not write, a record that is not is_supported. `shared_ring` is the ring
    /// that belongs to no CPU.
    virtual void write(const merged_record& record, const provider_map& providers,
                       const clock_converter& clock, std::uint32_t shared_ring) = 0;
    /// Writes only the loss before the record, if any.
    virtual void write_gap(const merged_record& record, std::uint32_t shared_ring) = 0;
    virtual void write_loss(const loss_report& loss, const provider_map& providers,
                            std::uint32_t shared_ring) = 0;
    /// Between the records before and behind it. A format may have no form for it.
    virtual void write_mark(const recording_mark& /*mark*/, const clock_converter& /*clock*/) {}
    /// The caller calls this when no record is pending. Throws output_closed or user_error.
    virtual void flush() = 0;
    /// Writes what belongs behind all records and losses, and flushes.
    virtual void finish() = 0;
};

}  // namespace elog
