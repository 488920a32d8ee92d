// SPDX-License-Identifier: MIT
#include "memory/recording.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <thread>
#include <utility>

#include "base/user_error.hpp"
#include "memory/pause_log.hpp"
#include "record/loss.hpp"
#include "record/ring_records.hpp"
#include "record/snapshot_clock.hpp"
#include "shm/directory.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;
using std::chrono::steady_clock;

// In ticks: by how much the clocks of two CPUs may differ. A clock that goes back by more has been
// reset.
constexpr std::uint64_t clock_tolerance = 1'000'000;

/// In discard mode the oldest records are kept, so the reading from the start of the region fits.
eventlog_clock_sample first_reading(const eventlog_region& header) {
    return core::overwrites(header) ? extrapolate_start_reading(header) : header.clock_start;
}

// Loss reports of providers that never attached have numbers behind those of a region's providers.
constexpr std::uint32_t first_other_number = EVENTLOG_PROVIDERS_MAX;

void add_up_losses(recording_summary& summary) {
    summary.lost =
        summary.full + summary.too_large + summary.busy + summary.unattached + summary.damaged;
}

std::vector<lossy_provider> lossy_providers(const std::vector<loss_report>& reports) {
    std::vector<lossy_provider> found;
    for (const loss_report& each : reports) {
        if (each.full == 0 && lost_count(each) == 0) {
            continue;
        }
        provider_losses lost;
        lost.full = each.full;
        lost.too_large = each.too_large;
        lost.busy = each.busy;
        lost.unattached = each.unattached;
        lost.no_memory = each.no_memory;
        found.push_back({each.provider, each.process, each.pid, lost});
    }
    return found;
}

/// Losses behind a ring's last record are included only after region_reader::finish().
recording_summary summarize(const region_reader& reader, const provider_map& providers,
                            std::vector<ring_totals> rings, std::uint64_t unattached) {
    recording_summary summary = summary_of(std::move(rings));
    summary.unattached = unattached;
    for (const auto& [id, provider] : providers) {
        const provider_losses losses = reader.losses_of(id);
        // losses.full is left out: the totals of the rings include it.
        summary.no_memory += losses.no_memory;
        summary.too_large += losses.too_large;
        summary.busy += losses.busy;
        summary.truncated += losses.truncated;
    }
    summary.providers_refused = reader.providers_refused();
    summary.has_impossible_counts = reader.has_impossible_counts();
    add_up_losses(summary);
    return summary;
}

std::uint64_t resume_subscription(subscription& paused) {
    try {
        return paused.resume();
    } catch (const user_error& error) {
        throw pause_error("{}", error.what());
    }
}

[[noreturn]] void throw_clock_reset() {
    throw user_error(
        "The machine slept and its counter began anew, so what comes now has no time: the "
        "recording ends with what came before. Start it again.");
}

/// Its name in the directory was removed, perhaps with the directory.
bool is_removed(const region_view& source) noexcept {
    struct stat status {};
    return ::fstat(source.file.get(), &status) == 0 && status.st_nlink == 0;
}

[[noreturn]] void throw_removed() {
    throw user_error(
        "The subscription was removed from {} during the recording, which ends with what came "
        "before: programs that start later do not find it. Leave the directory alone, and record "
        "again.",
        core::current_directory().text.data());
}

}  // namespace

recording::recording(subscription& source, record_sink& sink, clock_reader reader)
    : own_(&source),
      source_(source.region()),
      sink_(sink),
      reader_(source_, producer_policy_of(source_.header)),
      clock_reader_(reader) {
    unattached_.emplace(source.where(), source.slot(), source_.header);
    sink_.start(source_);
    if (!core::overwrites(source_.header)) {
        sink_.take_clock(first_reading(source_.header));
    }
}

recording::recording(const region_view& source, record_sink& sink,
                     std::optional<unattached_losses> unattached)
    : source_(source),
      sink_(sink),
      reader_(source_, producer_policy::never_wait),
      unattached_(std::move(unattached)) {
    sink_.start(source_);
    sink_.take_clock(first_reading(source_.header));
}

void recording::take_new_providers() {
    bool is_any = false;
    reader_.read_new_providers([&](provider_instance&& provider) {
        is_any = true;
        sink_.take_provider(provider);
        providers_.insert_or_assign(provider.id, std::move(provider));
    });
    if (is_any && unattached_) {
        unattached_->find_processes();  // before they end
    }
}

/// A clock that goes back means that the machine has slept and its counter restarted. Only a
/// recording that reads continuously checks that; a snapshot may hold records from before the last
/// sleep and converts their times with snapshot_clock.hpp.
std::uint64_t recording::read_clock() noexcept {
    const std::uint64_t now = clock_reader_(source_.header.clock);
    if (own_ != nullptr && !core::overwrites(source_.header)) {
        clock_was_reset_ = clock_was_reset_ || (now < latest_ && latest_ - now > clock_tolerance);
        latest_ = std::max(latest_, now);
    }
    return now;
}

/// The clock is read after the run was copied: if it has not been reset, all records of the run are
/// older than a reset. Otherwise it is unknown on which side of the reset they are, and they count
/// as damaged.
void recording::take_run(const record_run& run) {
    static_cast<void>(read_clock());
    if (!clock_was_reset_) {
        sink_.take_run(run);
        return;
    }
    ring_totals& left_out = skipped_[run.ring];
    left_out.read += run.count;
    left_out.bytes += usual_size(run);
    left_out.lost += run.lost_before;
}

void recording::drain() {
    const std::uint64_t now = read_clock();
    reader_.poll([this](const record_run& run) {
        take_new_providers();
        take_run(run);
    });
    take_new_providers();
    check_not_truncated(source_);
    if (own_ != nullptr) {
        shared_ring_.keep(source_);
    }
    const std::uint64_t present = read_clock();
    if (clock_was_reset_) {
        return;
    }
    note_losses();
    poll_clock_.advance(sink_, source_.header.clock, now, present);
}

/// Once a second, so that each file of a rotated recording has the losses up to its end.
void recording::note_losses() {
    if (own_ == nullptr || !loss_schedule_.is_due()) {
        return;
    }
    reader_.check_losses();
    unattached_->read();
    for (const loss_report& loss : provider_reports()) {
        sink_.note_loss(loss);
    }
}

std::uint64_t recording::unattached() const {
    std::uint64_t sum = 0;
    if (unattached_) {
        for (const auto& [who, loss] : unattached_->all()) {
            sum += loss.count;
        }
    }
    return sum;
}

/// Of the providers with losses.
std::vector<loss_report> recording::provider_reports() {
    std::vector<loss_report> reports;
    std::map<unattached_losses::key, unattached_loss> others;
    if (unattached_) {
        others = unattached_->all();
    }
    const auto add = [&](const loss_report& loss) {
        if (loss.full != 0 || lost_count(loss) != 0) {
            reports.push_back(loss);
        }
    };
    for (const auto& [id, provider] : providers_) {
        const provider_losses losses = reader_.losses_of(id);
        loss_report loss = provider_loss(id, losses.full, losses.too_large, losses.busy);
        loss.no_memory = std::min(losses.no_memory, losses.full);
        loss.provider = provider.schema.name;
        loss.process = provider.process;
        loss.pid = provider.pid;
        loss.start_time = provider.start_time;
        // A provider that has attached again has another number: the first one gets them.
        const auto known = others.find({loss.pid, loss.start_time, loss.provider});
        if (known != others.end()) {
            loss.unattached = known->second.count;
            others.erase(known);
        }
        add(loss);
    }
    for (const auto& [who, number] : other_numbers_) {
        if (!others.contains(who)) {  // it has attached: replaces the earlier report
            reports.push_back(provider_loss(number, 0, 0, 0));
        }
    }
    for (const auto& [who, other] : others) {
        const auto number = first_other_number + static_cast<std::uint32_t>(other_numbers_.size());
        loss_report loss =
            provider_loss(other_numbers_.try_emplace(who, number).first->second, 0, 0, 0);
        loss.unattached = other.count;
        loss.provider = other.provider;
        loss.process = other.process;
        loss.pid = other.pid;
        loss.start_time = other.start_time;
        add(loss);
    }
    return reports;
}

void recording::poll() {
    drain();
    if (clock_was_reset_) {
        throw_clock_reset();
    }
    if (is_removed(source_)) {
        throw_removed();
    }
}

/// The reader's totals, with the runs that were not passed on counted as damaged.
std::vector<ring_totals> recording::rings() const {
    std::vector<ring_totals> rings = reader_.rings();
    for (std::size_t ring = 0; ring < rings.size(); ++ring) {
        rings[ring].read -= skipped_[ring].read;
        rings[ring].bytes -= skipped_[ring].bytes;
        rings[ring].damaged += skipped_[ring].read;
    }
    return rings;
}

void recording::report_losses() {
    const std::vector<std::uint64_t> trailing = reader_.finish();
    const std::vector<ring_totals> totals = rings();
    for (std::uint32_t ring = 0; ring < trailing.size(); ++ring) {
        const std::uint64_t lost = trailing[ring] + skipped_[ring].lost;
        if (lost != 0 || totals[ring].damaged != 0) {
            sink_.take_loss(trailing_loss(ring, lost, 0, totals[ring].damaged));
        }
    }
    if (unattached_) {
        unattached_->read();
    }
    for (const loss_report& loss : provider_reports()) {
        sink_.take_loss(loss);
    }
}

recording_summary recording::current_summary() const {
    recording_summary summary = summarize(reader_, providers_, rings(), unattached());
    summary.full = 0;
    for (const auto& [id, provider] : providers_) {
        summary.full += reader_.losses_of(id).full;
    }
    add_up_losses(summary);
    note_uncounted_losses(summary);
    summary.elapsed = steady_clock::now() - begin_;
    return summary;
}

void recording::note_uncounted_losses(recording_summary& summary) const {
    if (unattached_) {
        summary.has_unread_losses = unattached_->may_be_incomplete();
        summary.has_impossible_counts =
            summary.has_impossible_counts || unattached_->has_impossible_counts();
    }
}

recording_summary recording::finish() {
    if (!clock_was_reset_) {
        sink_.take_clock(core::read_clock_sample(source_.header.clock));
    }
    report_losses();
    recording_summary summary = summarize(reader_, providers_, rings(), unattached());
    summary.lossy_providers = lossy_providers(provider_reports());
    note_uncounted_losses(summary);
    if (own_ != nullptr) {
        summary.elapsed = steady_clock::now() - begin_;
    }
    sink_.finish();
    return summary;
}

recording_summary recording::run(const std::function<bool()>& stop,
                                 std::chrono::nanoseconds latency) {
    begin_ = steady_clock::now();
    const bool overwrites = core::overwrites(source_.header);
    poll_until([&] { return clock_was_reset_ || is_removed(source_) || stop(); }, sink_,
               poll_interval_of(latency), overwrites, [&] { drain(); },
               [&](std::chrono::nanoseconds at_most) {
                   if (!overwrites) {
                       return wait(at_most);
                   }
                   check_not_truncated(source_);
                   std::this_thread::sleep_for(at_most);
                   return false;
               });
    return end();
}

recording_summary recording::end() {
    const bool was_removed = is_removed(source_);
    unattached_->read();
    own_->end();
    if (core::overwrites(source_.header)) {
        sink_.take_clock(first_reading(source_.header));
    }
    drain();
    recording_summary summary = finish();
    if (clock_was_reset_) {
        throw_clock_reset();
    }
    if (was_removed) {
        throw_removed();
    }
    return summary;
}

void recording::pause() {
    if (!is_paused_) {
        is_paused_ = true;
        sink_.take_mark({own_->pause(), ++pauses_, mark_kind::pause});
    }
}

void recording::resume() {
    if (is_paused_) {
        const std::uint64_t now = resume_subscription(*own_);
        is_paused_ = false;
        sink_.take_mark({now, pauses_, mark_kind::resume});
    }
}

/// Of a flight recorder. Pauses that were logged behind the snapshot are left out.
void recording::take_logged_pauses(std::uint64_t now) {
    const pause_history pauses = read_pauses(source_.file);
    std::uint64_t number = pauses.first_number();
    for (const recorder_pause& each : pauses.last) {
        if (each.begin <= now) {
            sink_.take_mark({each.begin, number, mark_kind::pause});
        }
        if (!each.goes_on() && each.end <= now) {
            sink_.take_mark({each.end, number, mark_kind::resume});
        }
        ++number;
    }
}

recording_summary recording::snapshot() {
    drain();
    // Read behind the records, so that it has each pause in front of one of them.
    take_logged_pauses(core::read_clock_ordered(source_.header.clock));
    return finish();
}

}  // namespace elog
