// SPDX-License-Identifier: MIT
#include "file/file_repair.hpp"

#include <algorithm>
#include <bitset>
#include <cstddef>
#include <cstring>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/number_ranges.hpp"
#include "file/block_contents.hpp"
#include "file/file_reader.hpp"
#include "file/file_writer.hpp"
#include "file/index_chain.hpp"
#include "file/loss_limits.hpp"
#include "file/loss_table.hpp"
#include "record/event_numbers.hpp"
#include "record/ring_records.hpp"

namespace elog {
namespace {

using block_bytes = std::vector<std::uint8_t>;

// The most records that a block can have.
constexpr std::uint64_t records_max = records_size_max / EVENTLOG_SHORT_HEADER_SIZE;

/// Each number is of a record or a loss.
bool has_sound_numbers(const records_block& block, std::uint64_t largest) noexcept {
    return block.sequence <= largest && block.lost_before <= block.sequence;
}

/// The positions in a run of records that are earlier than one before them, or than `latest`, which
/// is raised. Those of a custom clock may have any time.
std::vector<std::size_t> find_unordered(const record_run& run, std::uint64_t& latest) {
    std::vector<std::size_t> unordered;
    run_reader reader(run);
    std::size_t position = 0;
    for (record_view record; reader.next(record); ++position) {
        if (!has_custom_time(record) && record.time < latest) {
            unordered.push_back(position);
        } else if (!has_custom_time(record)) {
            latest = record.time;
        }
    }
    return unordered;
}

/// Whether the repaired file gives the provider's events other numbers than its records have,
/// because these are not those of the schema's events, or are of an earlier provider.
bool loses_numbers(const provider_instance& provider, const event_numbers& numbers) {
    const event_range range = numbers.find(provider.event_base);
    const bool is_kept = range.provider == provider.id && range.first == provider.event_base &&
                         range.count == provider.schema.events.size();
    // Records have no larger numbers.
    return provider.event_base <= EVENTLOG_EVENT_NUMBER_MAX &&
           !(is_kept && event_numbers().add(provider));
}

/// Reads the file twice. The first reading finds the providers, because the only whole copy of one
/// may follow its records; `known` has the schemas and their limits of all readers.
class file_repairer {
  public:
    file_repairer(block_file& file, const file_reader& known, const std::string& to)
        : file_(file), known_(known), host_(known.host()), writer_(to, known.host()) {
        for (const auto& [id, provider] : known.providers()) {
            if (loses_numbers(provider, known.decoder().events())) {
                renumbered_.insert(id);
            }
        }
    }

    repair_summary run();

  private:
    void copy_block(const block_location& place, const block_bytes& payload);
    void copy_clock(const block_bytes& payload);
    void copy_offsets(const offsets_block& block);
    void write_provider(std::uint32_t id);
    void write_providers(const record_run& run);
    void take_loss(const block_location& place, const block_bytes& payload);
    void copy_note(const block_location& place, const block_bytes& payload);
    void copy_records(const block_location& place, const block_bytes& payload);
    void number_records(const block_location& place, const records_block& block, record_run& run);
    [[nodiscard]] bool has_renumbered(const record_run& run) const;
    [[nodiscard]] std::uint64_t largest() const noexcept {
        return largest_loss(converter_, host_.ring_count);
    }
    void change_records(const block_location& place, record_run& run);
    void write_run(record_run run);
    [[nodiscard]] std::uint64_t first_number_of(std::uint32_t ring);
    void find_first_numbers();
    void take_index(const block_location& place);
    void write_losses();
    void note_number(std::uint64_t number);
    void note_missing(std::uint64_t number) { unindexed_.insert(number, number); }
    void skip_block(const block_location& place, const char* why) {
        file_.report("the block at {} is left out: {}", place.offset, why);
        note_missing(place.header.number);
    }

    block_file& file_;
    const file_reader& known_;
    const recording_host& host_;
    file_writer writer_;
    repair_summary summary_;
    std::optional<clock_reading> clock_;  // the last one copied
    clock_converter converter_;
    std::optional<std::uint64_t> offsets_;          // clock of the last offsets copied
    std::bitset<record_provider_max + 1> written_;  // providers
    std::unordered_set<std::uint32_t> renumbered_;  // providers
    block_bytes changed_;                           // records
    loss_table losses_;
    struct ring_state {
        bool has_records = false;           // an index may have made the state before
        std::uint64_t next = 0;             // sequence number
        std::uint64_t time = 0;             // latest one of its records
        std::uint64_t skipped_numbers = 0;  // of damaged records, which a loss block counts
        std::uint64_t reported = 0;         // records left out and already counted as lost
        std::uint64_t invalid = 0;          // of these, before a gap of overwritten records
        std::uint64_t skipped = 0;          // records in skipped blocks, from the index
        std::uint64_t cut = 0;              // damaged records at the end of the last block
    };
    std::map<std::uint32_t, ring_state> rings_;
    // By ring, as far as sound numbers say it; found when it is first needed.
    std::optional<std::map<std::uint32_t, std::uint64_t>> first_numbers_;
    number_ranges unindexed_;                   // skipped blocks that no index has described
    std::unordered_set<std::uint64_t> copied_;  // offsets of records blocks since the last index
    std::uint64_t next_number_ = 0;             // of a block
};

/// Of a reading that readers ignore, because it is not later than the one before it, only the
/// watermark is copied.
void file_repairer::copy_clock(const block_bytes& payload) {
    const auto clock = block_head<clock_block>(payload);
    if (!clock) {
        return;
    }
    const clock_reading& reading = clock->reading;
    if (!clock_ || (reading.clock > clock_->clock && reading.monotonic >= clock_->monotonic)) {
        clock_ = reading;
    }
    converter_.add(sample_of(*clock_));
    writer_.write_clock(sample_of(*clock_), reading.watermark);
}

/// Offsets that are not later than the previous ones are ignored.
void file_repairer::copy_offsets(const offsets_block& block) {
    if (!offsets_ || block.clock > *offsets_) {
        offsets_ = block.clock;
        writer_.write_offsets({block.clock, block.boottime, block.tai});
    }
}

/// Schemas and processes are written with the first provider that has them.
void file_repairer::write_provider(std::uint32_t id) {
    const auto provider = known_.providers().find(id);
    if (id < written_.size() && !written_.test(id) && provider != known_.providers().end()) {
        written_.set(id);
        provider_instance written = provider->second;
        written.event_base = renumbered_.contains(id) ? 0 : written.event_base;
        writer_.write_provider(written);
    }
}

/// Writes the providers of records where these precede the only whole copy.
void file_repairer::write_providers(const record_run& run) {
    std::optional<std::uint32_t> last;  // consecutive records often have the same provider
    run_reader records(run);
    for (record_view record; records.next(record);) {
        if (record.provider != last) {
            last = record.provider;
            write_provider(record.provider);
        }
    }
}

/// Losses are written at the end, when the last block of each ring and provider is known.
void file_repairer::take_loss(const block_location& place, const block_bytes& payload) {
    if (std::optional<loss_report> loss = checked_loss(file_, place, payload, largest())) {
        losses_.replace(std::move(*loss));
    } else {
        note_missing(place.header.number);
    }
}

void file_repairer::copy_note(const block_location& place, const block_bytes& payload) {
    const auto note = block_head<note_block>(payload);
    if (!note || is_pause_without_number(*note)) {
        skip_block(place, note ? "it is a pause without a number" : "it is too short for its type");
    } else {
        writer_.write_note(*note, body_of(payload));
    }
}

void file_repairer::copy_records(const block_location& place, const block_bytes& payload) {
    const auto block = block_head<records_block>(payload);
    if (!block || block->segment != 0 || block->ring >= host_.ring_count) {
        skip_block(place, "its head is invalid");
        return;
    }
    block_bytes decoded;
    const auto sound = known_.decoder().decode(*block, body_of(payload), decoded);
    if (!sound) {
        skip_block(place, "this elog does not know its encoding");
        return;
    }
    if (!sound->is_whole) {
        file_.report("the block at {} {}{}", place.offset, describe_damage(*block, *sound),
                     sound->count == 0 ? "" : "; they are kept");
    }
    if (sound->count == 0) {
        note_missing(place.header.number);
        return;
    }
    record_run run;
    run.ring = block->ring;
    run.count = sound->count;
    run.bytes = sound->bytes;
    run.context = sound->context;
    run.events = &known_.decoder().events();
    number_records(place, *block, run);
    change_records(place, run);
    write_providers(run);
    writer_.allow_compaction(block->encoding !=
                             static_cast<std::uint8_t>(record_encoding::verbatim));
    write_run(run);
    summary_.records += run.count;
    copied_.insert(place.offset);
}

/// Changed records may have more bytes than a block.
void file_repairer::write_run(record_run run) {
    while (run.bytes.size() > records_size_max) {
        writer_.write_run(take_first_records(run, records_size_max));
    }
    writer_.write_run(run);
}

/// Of a later file of a recording, whose first records have any number.
std::uint64_t file_repairer::first_number_of(std::uint32_t ring) {
    if (!first_numbers_) {
        first_numbers_.emplace();
        find_first_numbers();
    }
    const auto found = first_numbers_->find(ring);
    return found == first_numbers_->end() ? 0 : found->second;
}

/// The first sound numbers of a ring are behind all records before them.
void file_repairer::find_first_numbers() {
    block_file ahead(file_.path());  // its reports repeat those of file_
    block_walker walker(ahead, sizeof(file_header), 0);
    std::map<std::uint32_t, std::uint64_t> before;  // number of records, by ring
    while (const std::optional<block_location> place = walker.next()) {
        const std::optional<block_bytes> payload =
            place->type() == block_type::records && !has_unknown_flags(place->header)
                ? ahead.load(*place)
                : std::nullopt;
        const auto block = payload ? block_head<records_block>(*payload) : std::nullopt;
        if (!block || block->segment != 0 || first_numbers_->contains(block->ring)) {
            continue;
        }
        std::uint64_t& count = before[block->ring];
        if (has_sound_numbers(*block, largest())) {
            const std::uint64_t first = block->sequence - block->lost_before;
            first_numbers_->emplace(block->ring, first - std::min(first, count));
            continue;
        }
        block_bytes decoded;
        const auto sound = known_.decoder().decode(*block, body_of(*payload), decoded);
        count += sound ? sound->count : 0;
    }
}

/// Records left out since the ring's last block count as lost from here on.
void file_repairer::number_records(const block_location& place, const records_block& block,
                                   record_run& run) {
    ring_state& ring = rings_[run.ring];
    const bool is_first = !std::exchange(ring.has_records, true);
    run.sequence = block.sequence;
    run.lost_before = checked_losses_before(file_, place, block, ring.next, largest());
    run.overwritten = (block.flags & records_overwritten) != 0;
    if (!has_sound_numbers(block, largest())) {
        file_.report("the numbers of the records at {} are damaged", place.offset);
        if (is_first && host_.part > 1) {
            ring.next = first_number_of(run.ring);
        }
        run.sequence = ring.next + run.lost_before;
    } else if (is_first && host_.part > 1) {
        ring.next = run.sequence - run.lost_before;
    } else if (run.sequence - run.lost_before < ring.next) {
        file_.report("the records at {} repeat numbers of earlier records, and get other ones",
                     place.offset);
        run.sequence = ring.next + run.lost_before;
    }
    const std::uint64_t missing = run.sequence - run.lost_before - ring.next;
    if (missing != 0 && !file_.damages().empty()) {
        // One block cannot contain both kinds: overwritten records are not damaged.
        (run.overwritten ? ring.invalid : run.lost_before) += missing;
        ring.reported += missing - std::min(missing, ring.cut);
        summary_.missing += missing;
    } else {
        ring.skipped_numbers += missing;
    }
    ring.next = run.sequence + run.count;
    // No more than a block can have, if the count is wrong.
    ring.cut =
        std::min(block.count, std::max(run.count, records_max)) - std::min(block.count, run.count);
}

bool file_repairer::has_renumbered(const record_run& run) const {
    run_reader reader(run);
    for (record_view record; !renumbered_.empty() && reader.next(record);) {
        if (renumbered_.contains(record.provider)) {
            return true;
        }
    }
    return false;
}

/// Records out of the order of time get the flag of a custom clock, which keeps their times and
/// places. With CLOCK_MONOTONIC, a writer may be late. Records of renumbered providers name them.
void file_repairer::change_records(const block_location& place, record_run& run) {
    const std::vector<std::size_t> unordered = host_.clock == EVENTLOG_CLOCK_TSC
                                                   ? find_unordered(run, rings_[run.ring].time)
                                                   : std::vector<std::size_t>();
    if (!unordered.empty()) {
        file_.report("the records at {} are out of the order of time; such records are kept as "
                     "ones with a custom clock",
                     place.offset);
    } else if (!has_renumbered(run)) {
        return;
    }
    changed_.clear();
    auto next = unordered.begin();
    std::size_t position = 0;
    run_reader reader(run);
    for (record_view record; reader.next(record); ++position) {
        const bool is_unordered = next != unordered.end() && *next == position;
        const std::uint16_t added = is_unordered ? EVENTLOG_RECORD_CUSTOM_TIME : 0;
        next += is_unordered ? 1 : 0;
        if (renumbered_.contains(record.provider)) {
            record.flags = static_cast<std::uint16_t>(record.flags | added);
            append_record(changed_, record);
        } else {
            reader.append_last_flagged(changed_, added);
        }
    }
    run.bytes = changed_;
    run.context = 0;
}

/// Counts the records of skipped blocks, which the index describes.
void file_repairer::take_index(const block_location& place) {
    const number_ranges asked = std::exchange(unindexed_, {});
    const std::unordered_set<std::uint64_t> copied = std::exchange(copied_, {});
    const std::optional<index_section> section =
        asked.empty() ? std::nullopt : read_index_section(file_, place.offset);
    const std::optional<std::vector<listed_block>> blocks =
        section ? read_index_entries(file_, *section) : std::nullopt;
    if (!blocks) {
        return;
    }
    for (const listed_block& block : *blocks) {
        if (asked.contains(block.number) && !copied.contains(block.offset) &&
            block.type() == block_type::records && block.entry.ring < host_.ring_count) {
            rings_[block.entry.ring].skipped +=
                std::min<std::uint64_t>(block.entry.count, records_max);
        }
    }
}

/// Writes the losses that no later record of a ring carries, and those of the file. Numbers without
/// records are those of damaged records, unless the loss block that counts these is missing.
void file_repairer::write_losses() {
    std::map<std::uint32_t, std::uint64_t> damaged;  // by ring
    for (const loss_report& loss : losses_.all()) {
        if (loss.scope == loss_scope::ring) {
            damaged[loss.index] = loss.damaged;
        }
    }
    for (const auto& [number, ring] : rings_) {
        const std::uint64_t lost = ring.skipped - std::min(ring.skipped, ring.reported) + ring.cut;
        const std::uint64_t uncounted =
            ring.skipped_numbers - std::min(ring.skipped_numbers, damaged[number]);
        if (lost != 0 || ring.invalid != 0 || uncounted != 0) {
            losses_.add(trailing_loss(number, lost, 0, ring.invalid + uncounted));
            summary_.missing += lost + uncounted;
        }
    }
    for (const loss_report& loss : losses_.all()) {
        writer_.write_loss(loss);
    }
}

void file_repairer::copy_block(const block_location& place, const block_bytes& payload) {
    writer_.compress((place.header.flags & block_compressed) != 0 ? compression_level_default : 0);
    switch (place.type()) {
        case block_type::clock:
            return copy_clock(payload);
        case block_type::provider:
            if (const auto provider = block_head<provider_block>(payload)) {
                write_provider(provider->id);
            }
            return;
        case block_type::records:
            return copy_records(place, payload);
        case block_type::loss:
            return take_loss(place, payload);
        case block_type::note:
            return copy_note(place, payload);
        case block_type::offsets:
            if (const auto block = block_head<offsets_block>(payload)) {
                copy_offsets(*block);
            }
            return;
        case block_type::end:
            summary_.had_end = true;
            return;
        case block_type::index:
            return take_index(place);
        case block_type::host:  // written by the constructor
        case block_type::segment:
        case block_type::schema:  // written with the provider
        case block_type::process:
            return;
    }
    skip_block(place, "this elog does not know its type");
}

/// The numbers before it, behind those of the blocks so far, are missing, unless such a block is
/// out of order.
void file_repairer::note_number(std::uint64_t number) {
    if (number > next_number_) {
        unindexed_.insert(next_number_, number - 1);
    } else {
        unindexed_.erase(number);
    }
    next_number_ = std::max(next_number_, number + 1);
}

repair_summary file_repairer::run() {
    block_walker walker(file_, sizeof(file_header), 0);
    while (const std::optional<block_location> place = walker.next()) {
        note_number(place->header.number);
        if (has_unknown_flags(place->header)) {
            skip_block(*place, "this elog does not know its flags");
        } else if (const std::optional<block_bytes> payload = file_.load(*place)) {
            copy_block(*place, *payload);
        } else {
            note_missing(place->header.number);
        }
    }
    write_losses();
    writer_.write_end(end_reason::repaired);
    summary_.size = writer_.size();
    summary_.is_without_segment = host_.origin == segment_origin::recovered;
    summary_.has_raw_times = known_.clock().empty();
    summary_.damages = file_.damages().sentences();
    for (const std::string& damage : known_.damages()) {
        if (std::ranges::find(summary_.damages, damage) == summary_.damages.end()) {
            summary_.damages.push_back(damage);
        }
    }
    return summary_;
}

}  // namespace

repair_summary repair_file(const std::string& from, const std::string& to) {
    check_not_same_file(from, to);
    block_file probe(from);
    if (probe.is_being_written()) {
        throw user_error("The file {} is still being written. Wait for the recording to end.",
                         from);
    }
    const file_reader known(from, {}, {}, missing_segment::deduce);
    // A new block_file, because reading the whole file reports all damage again.
    block_file file(from);
    return file_repairer(file, known, to).run();
}

}  // namespace elog
