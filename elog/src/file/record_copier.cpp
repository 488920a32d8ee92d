// SPDX-License-Identifier: MIT
#include "file/record_copier.hpp"

#include <algorithm>
#include <utility>

#include "base/saturating.hpp"
#include "base/user_error.hpp"
#include "file/file_reader.hpp"
#include "record/ring_records.hpp"

namespace elog {
namespace {

// Limits how often the position of a record with a custom clock may be written: this often for each
// clock reading, because recordings contain that many positions, plus once for each 16 records.
constexpr std::uint64_t places_by_reading = 64;
constexpr std::uint64_t records_by_place = 16;

// The largest number of a provider in a file: losses of those that get no number.
constexpr std::uint32_t other_provider = UINT16_MAX;

recording_host host_of_copy(recording_host host) {
    host.recording = generate_identity();
    host.part = 0;
    host.origin = segment_origin::copied;
    host.serial = 0;
    return host;
}

}  // namespace

record_copier::record_copier(copy_options options, const recording_host& host,
                             std::vector<eventlog_clock_sample> readings)
    : writer_(std::move(options.path), host_of_copy(host)),
      clock_(host.clock),
      readings_(std::move(readings)),
      coalescer_(host.ring_count),
      write_run_([this](const record_run& run) { writer_.write_run(run); }),
      rings_(host.ring_count) {
    writer_.compress(options.compression);
}

record_copier::record_copier(copy_options options, std::uint32_t clock, std::uint32_t ring_count)
    : record_copier(std::move(options), this_host(clock, ring_count), {}) {}

void record_copier::write_offsets(const std::vector<clock_offsets>& offsets) {
    for (const clock_offsets& each : offsets) {
        writer_.write_offsets(each);
    }
}

/// Writes the clock readings up to `place`. Readings stand between the records they convert, so
/// that an index section lists what its records need. None is left out: a custom clock may have
/// timed a later record by any of them.
void record_copier::write_readings(std::uint64_t place) {
    if (next_reading_ == 0 && !readings_.empty() && readings_.front().clock > place) {
        // One reading at the beginning.
        writer_.write_clock(readings_[next_reading_++], watermark_);
    }
    if (next_reading_ == readings_.size() || readings_[next_reading_].clock > place) {
        return;
    }
    flush();
    while (next_reading_ != readings_.size() && readings_[next_reading_].clock <= place) {
        const eventlog_clock_sample& reading = readings_[next_reading_++];
        // With this clock no writer can be late, so no later record is earlier.
        if (clock_ == EVENTLOG_CLOCK_TSC) {
            watermark_ = std::max<std::uint64_t>(watermark_, reading.clock);
        }
        writer_.write_clock(reading, watermark_);
    }
}

/// Keeps the position of a record with a custom clock. Without a record of its ring or a reading
/// that states the time of the position, the copy would order it earlier, so the last reading is
/// written again with that watermark. Not for every record: a copy of only such records would
/// consist mostly of readings.
void record_copier::keep_place(const merged_record& record) {
    if (!has_custom_time(record.record)) {
        rings_[record.ring].last = record.record.time;
        return;
    }
    const bool is_known = record.place <= std::max(watermark_, rings_[record.ring].last);
    const std::uint64_t times_max =
        next_reading_ * places_by_reading + summary_.records / records_by_place;
    if (is_known || next_reading_ == 0 || places_written_ >= times_max) {
        return;
    }
    flush();
    watermark_ = record.place;
    writer_.write_clock(readings_[next_reading_ - 1], watermark_);
    ++places_written_;
}

std::uint32_t record_copier::allocate_id() {
    if (next_number_ == EVENTLOG_PROVIDERS_MAX) {
        throw user_error(
            "The events are of more than {} providers, which is what one file may have. "
            "Take fewer files, or a part of them with elog cut.",
            EVENTLOG_PROVIDERS_MAX);
    }
    return next_number_++;
}

/// The number of a provider in the copy. A provider that several files contain, as parts of one
/// recording or recorded simultaneously, is one provider.
std::uint32_t record_copier::id_of(std::uint32_t source, const provider_instance& provider) {
    const std::uint64_t place = std::uint64_t{source} << 32U | provider.id;
    if (const auto known = numbers_.find(place); known != numbers_.end()) {
        return known->second;
    }
    provider_key key(provider.pid, provider.uid, provider.start_time, provider.process,
                     provider.schema.binary);
    if (const auto known = providers_.find(key); known != providers_.end()) {
        numbers_.emplace(place, known->second);
        return known->second;
    }
    schema_bytes_ += provider.schema.binary.size();
    if (schema_bytes_ > schemas_size_max) {
        throw user_error(
            "The schemas of the events have more than {} bytes, which is what one file "
            "may have. Take fewer files, or a part of them with elog cut.",
            schemas_size_max);
    }
    provider_instance written = provider;
    written.id = allocate_id();
    written.event_base = 0;  // the copied records name their providers
    writer_.write_provider(written);
    providers_.emplace(std::move(key), written.id);
    numbers_.emplace(place, written.id);
    return written.id;
}

/// The number of a provider of which only losses are known: behind those of providers with records.
/// All files of a recording name it. The last number is that of all further ones.
std::uint32_t record_copier::id_of_unknown(std::uint32_t source, const loss_report& loss) {
    const bool has_name = !loss.provider.empty() || !loss.process.empty();
    const std::uint64_t place = has_name ? 0 : std::uint64_t{source} << 32U | loss.index;
    lost_key key(place, loss.pid, loss.start_time, loss.process, loss.provider);
    const auto known = unknown_.find(key);
    if (known != unknown_.end()) {
        return known->second;
    }
    const std::size_t number = EVENTLOG_PROVIDERS_MAX + unknown_.size();
    return number >= other_provider
               ? other_provider
               : unknown_.emplace(std::move(key), static_cast<std::uint32_t>(number)).first->second;
}

void record_copier::write_gap(const merged_record& record) {
    ring_state& ring = rings_[record.ring];
    add_saturating(record.overwritten ? ring.overwritten : ring.unreported, record.lost_before);
}

void record_copier::write(const merged_record& record, std::uint32_t source,
                          const provider_map& providers) {
    write_gap(record);
    ring_state& ring = rings_[record.ring];
    const auto provider = providers.find(record.record.provider);
    if (provider == providers.end()) {
        // Without a schema the record cannot be decoded.
        ++ring.unreported;
        ++summary_.left_out;
        return;
    }
    write_readings(order_time_of(record));
    keep_place(record);
    record_view copied = record.record;
    copied.provider = id_of(source, provider->second);
    bytes_.clear();
    append_record(bytes_, copied);
    record_run run;
    run.ring = record.ring;
    // A block carries one kind of loss; the other kind is written with the next record.
    run.overwritten = ring.overwritten != 0;
    std::uint64_t& missing = run.overwritten ? ring.overwritten : ring.unreported;
    run.lost_before = missing;
    run.sequence = ring.next + missing;
    run.count = 1;
    run.bytes = bytes_;
    coalescer_.add(run, {}, write_run_);
    add_saturating(run.overwritten ? summary_.overwritten : summary_.lost, missing);
    ++summary_.records;
    ring.next = run.sequence + 1;
    missing = 0;
}

void record_copier::write_loss(const loss_report& loss, std::uint32_t source,
                               const provider_map& providers) {
    if (loss.scope == loss_scope::ring) {
        // A damaged file may contain any ring number.
        ring_state& ring = rings_[std::min<std::size_t>(loss.index, rings_.size() - 1)];
        add_saturating(ring.unreported, loss.full - overwritten_count(loss));
        add_saturating(ring.overwritten, overwritten_count(loss));
        add_saturating(ring.damaged, loss.damaged);
        add_saturating(ring.unwritten, loss.unwritten);
        return;
    }
    if (loss.full == 0 && lost_count(loss) == 0) {
        return;  // as of a provider whose losses an earlier file of the recording has
    }
    const auto provider = providers.find(loss.index);
    const std::uint32_t number =
        provider == providers.end() ? id_of_unknown(source, loss) : id_of(source, provider->second);
    loss_report& all = provider_losses_[number];
    if (all.scope != loss_scope::provider) {
        all = loss;
        all.index = number;
        if (number == other_provider) {
            all.pid = 0;
            all.start_time = 0;
            all.process = other_processes;
            all.provider.clear();
        }
        return;
    }
    add_saturating(all.full, loss.full);
    add_saturating(all.too_large, loss.too_large);
    add_saturating(all.busy, loss.busy);
    add_saturating(all.unattached, loss.unattached);
    add_saturating(all.refused, loss.refused);
    add_saturating(all.no_memory, loss.no_memory);
}

void record_copier::write_losses() {
    for (std::size_t number = 0; number < rings_.size(); ++number) {
        const ring_state& ring = rings_[number];
        loss_report loss = trailing_loss(static_cast<std::uint32_t>(number),
                                         saturating_sum(ring.unreported, ring.overwritten),
                                         ring.overwritten, ring.damaged);
        loss.unwritten = ring.unwritten;
        if (lost_count(loss) != 0) {
            writer_.write_loss(loss);
            add_saturating(summary_.lost, lost_count(loss) - overwritten_count(loss));
            add_saturating(summary_.overwritten, ring.overwritten);
        }
    }
    for (const auto& [number, loss] : provider_losses_) {
        writer_.write_loss(loss);
        add_saturating(summary_.lost, lost_count(loss));
    }
}

void record_copier::flush() {
    coalescer_.flush(run_coalescer::clock::time_point::max(), write_run_);
}

copy_summary record_copier::finish() {
    flush();
    while (next_reading_ != readings_.size()) {
        writer_.write_clock(readings_[next_reading_++], watermark_);
    }
    write_losses();
    writer_.write_end();
    summary_.size = writer_.size();
    return summary_;
}

}  // namespace elog
