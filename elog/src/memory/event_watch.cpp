// SPDX-License-Identifier: MIT
#include "memory/event_watch.hpp"

#include "base/failure.hpp"
#include "record/present_clock.hpp"
#include "ring/clock.hpp"
#include "terminal/tell.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;
using std::chrono::steady_clock;

constexpr std::chrono::seconds clock_interval{1};

}  // namespace

event_watch::event_watch(const open_region& source, record_filter& wanted)
    : source_(source),
      wanted_(wanted),
      reader_(source, producers::go_on),
      start_(start_by_present_clock(source.header)) {
    reader_.poll([](const record_run& /*before*/) {});
    missed_before_ = all_missed();
    take_new_providers();
}

/// Two readings are enough for the times of what is new, however long this goes on.
void event_watch::read_clock_if_due() {
    const steady_clock::time_point now = steady_clock::now();
    if (now >= clock_due_) {
        clock_ = clock_table(source_.header.clock);
        clock_.add(start_);
        clock_.add(core::read_clock_pair(source_.header.clock));
        clock_due_ = now + clock_interval;
    }
}

void event_watch::take_new_providers() {
    reader_.read_new_providers([this](provider_instance&& provider) {
        try {
            wanted_.add(provider);
        } catch (const failure& error) {
            if (complaints_.size() < complaints_max && complaints_.insert(error.what()).second) {
                tell("elog: {} The other events are not affected.", error.what());
            }
        }
    });
}

std::uint64_t event_watch::look() {
    std::uint64_t found = 0;
    read_clock_if_due();
    reader_.poll([&](const record_run& run) {
        take_new_providers();
        for (std::span<const std::uint8_t> rest = run.bytes; !rest.empty();) {
            found += wanted_.matches(take_record(rest), clock_) ? 1 : 0;
        }
        seen_ += run.count;
    });
    check_whole(source_);
    return found;
}

std::uint64_t event_watch::all_missed() const noexcept {
    std::uint64_t missed = 0;
    for (const ring_totals& ring : reader_.rings()) {
        missed += ring.overwritten + ring.damaged;
    }
    return missed;
}

std::uint64_t event_watch::missed() {
    static_cast<void>(reader_.finish());
    return all_missed() - missed_before_;
}

}  // namespace elog
