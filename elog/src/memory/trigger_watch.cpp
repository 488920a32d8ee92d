// SPDX-License-Identifier: MIT
#include "memory/trigger_watch.hpp"

#include <utility>

#include "base/user_error.hpp"
#include "record/ring_records.hpp"
#include "record/snapshot_clock.hpp"
#include "ring/clock.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;
using std::chrono::steady_clock;

constexpr std::chrono::seconds clock_interval{1};

}  // namespace

trigger_watch::trigger_watch(const region_view& source, record_filter& wanted,
                             report_callback report)
    : source_(source),
      wanted_(wanted),
      reader_(source, producer_policy::never_wait),
      start_(extrapolate_start_reading(source.header)),
      mismatches_(std::move(report)) {
    reader_.poll([](const record_run& /*before*/) {});
    missed_before_ = all_missed();
    take_new_providers();
}

/// Two readings are enough for the times of new events, however long the watch lasts.
void trigger_watch::read_clock_if_due() {
    const steady_clock::time_point now = steady_clock::now();
    if (now >= clock_due_) {
        clock_ = clock_converter(source_.header.clock);
        clock_.add(start_);
        clock_.add(core::read_clock_sample(source_.header.clock));
        clock_due_ = now + clock_interval;
    }
}

void trigger_watch::take_new_providers() {
    reader_.read_new_providers([this](provider_instance&& provider) {
        try {
            wanted_.add(provider);
        } catch (const user_error& error) {
            mismatches_.add(error.what());
        }
    });
}

std::uint64_t trigger_watch::poll() {
    std::uint64_t found = 0;
    read_clock_if_due();
    reader_.poll([&](const record_run& run) {
        take_new_providers();
        run_reader records(run);
        for (record_view record; records.next(record);) {
            found += wanted_.matches(record, clock_) ? 1 : 0;
        }
        seen_ += run.count;
    });
    check_not_truncated(source_);
    return found;
}

std::uint64_t trigger_watch::all_missed() const noexcept {
    std::uint64_t missed = 0;
    for (const ring_totals& ring : reader_.rings()) {
        missed += ring.overwritten + ring.damaged;
    }
    return missed;
}

std::uint64_t trigger_watch::missed() {
    static_cast<void>(reader_.finish());
    return all_missed() - missed_before_;
}

}  // namespace elog
