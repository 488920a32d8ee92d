// SPDX-License-Identifier: MIT
//
// The interface of everything that receives a recording's records: a file, text, an aggregation.
#pragma once

#include <cstdint>

#include "record/loss.hpp"
#include "record/recording_mark.hpp"
#include "record/records.hpp"
#include "record/region_view.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

/// The caller calls start first, take_provider before the provider's first run, and finish last.
class record_sink {
  public:
    record_sink() = default;
    record_sink(const record_sink&) = delete;
    record_sink& operator=(const record_sink&) = delete;
    virtual ~record_sink() = default;

    virtual void start(const region_view& source) = 0;
    virtual void take_clock(const eventlog_clock_sample& pair) = 0;
    virtual void take_provider(const provider_instance& provider) = 0;
    virtual void take_run(const record_run& run) = 0;
    /// At the end: the losses of a ring or provider.
    virtual void take_loss(const loss_report& loss) = 0;
    /// Now and then: what a provider has lost so far.
    virtual void note_loss(const loss_report& /*loss*/) {}
    /// A pause has begun or ended. Records from before may follow, and none from behind it has
    /// come.
    virtual void take_mark(const recording_mark& /*mark*/) {}
    /// No record before `time` will follow, and none can be later than `present`.
    virtual void advance(std::uint64_t time, std::uint64_t present) = 0;
    /// Every 10 ms of a recording, also if records are read rarely or at the end only: what the
    /// sink writes to may be gone.
    virtual void check() {}
    virtual void finish() = 0;
};

}  // namespace elog
