// SPDX-License-Identifier: MIT
//
// What turns records, in the order of time, into something that others read.
#pragma once

#include <cstdint>

#include "record/clock_converter.hpp"
#include "record/loss.hpp"
#include "record/time_merger.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

class record_writer {
  public:
    record_writer() = default;
    record_writer(const record_writer&) = delete;
    record_writer& operator=(const record_writer&) = delete;
    virtual ~record_writer() = default;

    /// A record that this version does not understand is only counted. `shared_ring` is the ring
    /// that belongs to no CPU.
    virtual void write(const merged_record& record, const provider_map& providers,
                       const clock_converter& clock, std::uint32_t shared_ring) = 0;
    /// Only what is missing in front of the record, if anything.
    virtual void write_gap(const merged_record& record, std::uint32_t shared_ring) = 0;
    virtual void write_loss(const loss_block& loss, const provider_map& providers,
                            std::uint32_t shared_ring) = 0;
    /// Call it when there is nothing more to write for now. Throws output_closed or failure.
    virtual void flush() = 0;
    /// Behind all records and losses: what is to be said at the end, and flush.
    virtual void finish() = 0;
};

}  // namespace elog
