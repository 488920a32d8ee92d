// SPDX-License-Identifier: MIT
#include "kmod/device_recording.hpp"

#include <algorithm>
#include <cstring>
#include <thread>
#include <utility>

#include "kmod/device_providers.hpp"
#include "memory/recording.hpp"
#include "platform/error_text.hpp"
#include "record/snapshot_clock.hpp"
#include "ring/clock.hpp"
#include "schema/filter.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;

// After this many reads in a row, applications are writing as fast as the reader reads.
constexpr int reads_until_bounded = 4;
// A writer that overtakes the reader is done in a moment, unless it loses its CPU.
constexpr int empty_reads_max = 100;
constexpr std::chrono::milliseconds overtaken_interval{1};

/// Some providers of the kernel are not matched by patterns with * and ?.
bool is_named(const event_patterns& patterns, const std::string& provider) {
    for (std::size_t i = 0; i < patterns.size(); ++i) {
        if (patterns[i].starts_with(provider + ':')) {
            return true;
        }
    }
    return false;
}

}  // namespace

device_recording::device_recording(const subscription_options& options,
                                   std::unique_ptr<module_source> source)
    : patterns_(options.patterns),
      overwrites_(options.overwrite),
      source_(std::move(source)),
      stream_(source_->region().geometry.ring_count, events_),
      matched_(options.patterns.size(), false) {
    find_providers();
    if (options.narrowed) {
        find_published();
    }
}

/// Also finds providers of whose events the predicate needs none, because patterns_matched() and
/// found() include them.
void device_recording::find_published() {
    const std::string processes = patterns_.packed();
    for_each_device_provider(source_->device(), [&](device_provider&& each) {
        if (!core::wants_process(processes, each.pid, each.process) ||
            (each.is_kernel_provider && !is_named(patterns_, each.schema.name))) {
            return;
        }
        mark_matched_patterns(each.schema);
        provider_instance& added = published_.emplace_back();
        added.id = static_cast<std::uint32_t>(published_.size() - 1);
        added.schema = std::move(each.schema);
    });
}

void device_recording::find_providers() {
    source_->read_new_providers([this](provider_instance&& provider) {
        mark_matched_patterns(provider.schema);
        if (source_->names_keywords()) {
            store_verdicts(provider);
        }
        // The kernel gives each provider numbers of its own.
        static_cast<void>(events_.add(provider));
        found_.push_back(std::move(provider));
    });
}

void device_recording::mark_matched_patterns(const provider_schema& schema) {
    for (std::size_t i = 0; i < matched_.size(); ++i) {
        matched_[i] = matched_[i] || std::any_of(schema.events.begin(), schema.events.end(),
                                                 [&](const event_schema& event) {
                                                     return patterns_.matches(i, schema, event);
                                                 });
    }
}

/// Same rules as for the gates of applications: the end of a dump is included if any other event is
/// wanted.
void device_recording::store_verdicts(const provider_instance& provider) {
    std::vector<core::verdict> events(provider.schema.events.size(), core::verdict::unwanted);
    core::schema_reader reader;
    core::error_text ignored;
    if (reader.open(provider.schema.binary, ignored)) {
        core::for_each_wanted(reader, patterns_.packed(),
                              [&](std::uint16_t id, core::verdict found) { events[id] = found; });
    }
    verdicts_.insert_or_assign(provider.id, std::move(events));
}

/// Records of unknown providers are kept.
bool device_recording::is_wanted(const record_view& record) const {
    const auto known = verdicts_.find(record.provider);
    if (known == verdicts_.end() || record.event >= known->second.size()) {
        return true;
    }
    const core::verdict found = known->second[record.event];
    return found == core::verdict::wanted ||
           (found == core::verdict::in_session && is_in_session(record));
}

/// The payload of an event in a session begins with the session's number.
bool device_recording::is_in_session(const record_view& record) const {
    std::uint64_t session = 0;
    if (record.payload.size() < sizeof session) {
        return false;
    }
    std::memcpy(&session, record.payload.data(), sizeof session);
    const std::vector<std::uint64_t>& wanted = patterns_.sessions();
    return std::find(wanted.begin(), wanted.end(), session) != wanted.end();
}

void device_recording::deliver_providers() {
    find_providers();
    for (const provider_instance& provider : std::exchange(found_, {})) {
        sink_->take_provider(provider);
    }
}

bool device_recording::has_read_up_to(const std::vector<eventlog_statistics>& counts) const {
    for (std::uint32_t ring = 0; ring < counts.size(); ++ring) {
        if (!stream_.has_read_up_to(ring, counts[ring])) {
            return false;
        }
    }
    return true;
}

/// Whether the read returned nothing because writers overwrote what it was about to read. The next
/// read then returns what they have written.
bool device_recording::is_overtaken(int empty_reads) const {
    return overwrites_ && empty_reads < empty_reads_max && !has_read_up_to(source_->counts());
}

/// Reads all available records. If applications write as fast as the reader reads, it stops at the
/// counts that the rings had after a few reads.
void device_recording::read_all() {
    const device_stream::is_wanted wanted =
        source_->names_keywords() ? [this](const record_view& record) { return is_wanted(record); }
                                  : device_stream::is_wanted{};
    std::vector<eventlog_statistics> read_target;
    int empty_reads = 0;
    for (int reads = 1; read_target.empty() || !has_read_up_to(read_target); ++reads) {
        const std::span<const std::uint8_t> bytes = source_->read();
        if (bytes.empty()) {
            if (!is_overtaken(++empty_reads)) {
                break;
            }
            std::this_thread::sleep_for(overtaken_interval);
            continue;
        }
        // A record may be of a provider that is not known yet.
        find_providers();
        stream_.take(bytes, wanted, [this](const record_run& run) {
            deliver_providers();
            sink_->take_run(run);
        });
        if (reads >= reads_until_bounded && read_target.empty()) {
            read_target = source_->counts();
        }
    }
    deliver_providers();
}

void device_recording::drain() {
    const std::uint32_t clock = source_->region().header.clock;
    const std::uint64_t now = core::read_clock(clock);
    read_all();
    poll_clock_.advance(*sink_, clock, now, core::read_clock(clock));
}

recording_summary device_recording::current_summary() const {
    recording_summary summary = summary_of(stream_.rings());
    summary.providers_refused = source_->providers_refused();
    summary.elapsed = steady_clock::now() - begin_;
    return summary;
}

/// Reports the losses behind the last record of each ring.
void device_recording::report_losses() {
    for (std::uint32_t ring = 0; ring < stream_.rings().size(); ++ring) {
        const device_stream::trailing_losses rest = stream_.trailing_losses_of(ring);
        if (rest.lost + rest.overwritten != 0) {
            sink_->take_loss(
                trailing_loss(ring, rest.lost + rest.overwritten, rest.overwritten, 0));
        }
    }
}

void device_recording::begin(record_sink& sink) {
    sink_ = &sink;
    sink_->start(source_->region());
    if (!overwrites_) {
        sink_->take_clock(source_->region().header.clock_start);
    }
    begin_ = steady_clock::now();
}

recording_summary device_recording::run(record_sink& sink, const std::function<bool()>& stop,
                                        std::chrono::nanoseconds latency) {
    begin(sink);
    poll_until(
        stop, sink, recording::poll_interval_of(latency), overwrites_, [&] { drain(); },
        [&](std::chrono::nanoseconds at_most) {
            if (!overwrites_) {
                return source_->wait(at_most);
            }
            find_providers();
            std::this_thread::sleep_for(at_most);
            return false;
        });
    return end();
}

/// Applications continue; what they emit from here on is not part of the recording.
recording_summary device_recording::end() {
    source_->end();
    if (overwrites_) {
        sink_->take_clock(extrapolate_start_reading(source_->region().header));
    }
    drain();
    sink_->take_clock(core::read_clock_sample(source_->region().header.clock));
    report_losses();
    recording_summary summary = current_summary();
    sink_->finish();
    return summary;
}

}  // namespace elog
