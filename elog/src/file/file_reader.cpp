// SPDX-License-Identifier: MIT
#include "file/file_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/saturating.hpp"
#include "file/block_contents.hpp"
#include "file/loss_limits.hpp"
#include "record/ring_records.hpp"
#include "schema/schema_memory.hpp"

namespace elog {
namespace {

// Memory limit beside schemas: merging keeps one block for each ring, see run_coalescer.
constexpr std::size_t held_bytes_max = std::size_t{512} << 20U;
constexpr std::size_t processes_max = EVENTLOG_PROVIDERS_MAX;

// The largest memory of the schemas of all providers, parsed. A schema of many events and fields
// with short names takes ten times its size.
constexpr std::size_t parsed_schemas_max = 4 * schemas_size_max;

/// 0 if there is none.
std::int64_t first_clock_reading(block_file& file) {
    block_walker walker(file, sizeof(file_header), 0);
    while (const std::optional<block_location> place = walker.next()) {
        if (const auto clock = load_head<clock_block>(file, *place, block_type::clock)) {
            return static_cast<std::int64_t>(clock->reading.realtime);
        }
    }
    return 0;
}

}  // namespace

std::int64_t recording_start(const std::string& path) {
    block_file file(path);
    const std::int64_t first = first_clock_reading(file);
    const std::optional<recording_host> host = find_recording_host(file);
    if (first == 0 || !host || host->origin != segment_origin::copied) {
        return first;
    }
    // A part of a recording has the clock readings from the beginning of the whole.
    file_reader copy(path);
    const std::optional<std::uint64_t> earliest = copy.earliest();
    return earliest ? copy.clock().realtime(*earliest) : first;
}

file_reader::file_reader(std::string path, time_range range, growth_check is_growing,
                         missing_segment missing)
    : file_(std::move(path), std::move(is_growing)), range_(range) {
    std::optional<recording_host> host = find_recording_host(file_);
    if (!host) {
        host = deduce_recording_host(file_.path());
        if (!host || missing != missing_segment::deduce) {
            reject_without_segment(file_.path(), host.has_value());
        }
        file_.report("the blocks that state the clock and the rings of the records are missing");
    }
    host_ = std::move(*host);
    reset();
    used_index_ = !range_.is_everything() && scan_using_index();
    if (!used_index_) {
        scan_blocks();
    }
    may_add_rings_ = false;  // callers know them now
}

/// Counts a block of a newer version, which is skipped.
bool file_reader::is_readable(const block_location& place) noexcept {
    const bool is_other = !is_known(place.type());
    const bool has_other_payload = !is_other && has_unknown_flags(place.header);
    other_types_ += is_other ? 1U : 0U;
    unreadable_ += has_other_payload ? 1U : 0U;
    return !is_other && !has_other_payload;
}

void file_reader::scan_blocks() {
    while (const std::optional<block_location> place = walker_.next()) {
        if (!is_readable(*place)) {
            continue;
        }
        if (place->type() == block_type::records) {
            take_records(*place);
        } else {
            read_block(*place);
        }
    }
}

void file_reader::read_block(const block_location& place) {
    const block_type type = place.type();
    const std::optional<std::vector<std::uint8_t>> payload = file_.load(place);
    if (!payload) {
        return;
    }
    switch (type) {
        case block_type::clock:
            if (const auto clock = checked_head<clock_block>(file_, place, *payload)) {
                clock_.add(sample_of(clock->reading));
                add_watermark(place.offset, clock->reading.watermark);
            }
            break;
        case block_type::schema:
            take_schema(place, *payload);
            break;
        case block_type::process:
            take_process(place, *payload);
            break;
        case block_type::provider:
            take_provider(place, *payload);
            break;
        case block_type::loss:
            if (std::optional<loss_report> loss =
                    checked_loss(file_, place, *payload, largest_loss(clock_, host_.ring_count))) {
                losses_.replace(std::move(*loss));
            }
            break;
        case block_type::note:
            take_note(*payload);
            break;
        case block_type::end:
            if (const auto end = checked_head<end_block>(file_, place, *payload)) {
                end_ = end;
            }
            break;
        case block_type::offsets:
            if (const auto offsets = checked_head<offsets_block>(file_, place, *payload)) {
                clock_.add_offsets({offsets->clock, offsets->boottime, offsets->tai});
            }
            break;
        case block_type::segment:
            if (const auto segment = block_head<segment_block>(*payload)) {
                check_segment_number(file_.path(), segment->segment);
            }
            break;
        case block_type::host:     // read by the constructor, with the first segment
        case block_type::index:    // verified by its checksum; elog verify compares its content
        case block_type::records:  // read on demand
            break;
    }
}

void file_reader::add_watermark(std::uint64_t offset, std::uint64_t clock) {
    if (clock > watermark_at(offset)) {
        watermarks_.push_back({offset, clock});
    }
}

/// Watermark for blocks behind the offset: no record in them is earlier, except records with a
/// custom clock, which were not emitted earlier. 0: unknown.
std::uint64_t file_reader::watermark_at(std::uint64_t offset) const noexcept {
    const auto next = std::upper_bound(
        watermarks_.begin(), watermarks_.end(), offset,
        [](std::uint64_t wanted, const known_watermark& each) { return wanted < each.offset; });
    return next == watermarks_.begin() ? 0 : (next - 1)->clock;
}

void file_reader::take_schema(const block_location& place, std::span<const std::uint8_t> payload) {
    const auto block = block_head<schema_block>(payload);
    const auto bytes = block ? schema_bytes(*block, payload) : std::nullopt;
    if (!bytes) {
        file_.report("the schema at {} is damaged", place.offset);
        return;
    }
    const auto known = schemas_.find(block->hash);
    if (known != schemas_.end() && std::ranges::equal(known->second.binary, *bytes)) {
        return;  // repeated with the second host
    }
    if (block->size > schemas_size_max - schema_bytes_) {
        file_.report("the schema at {} is left out: the schemas of one file may have {} bytes "
                     "together",
                     place.offset, schemas_size_max);
        return;
    }
    try {
        provider_schema schema = provider_schema::parse(*bytes);
        if (schema.hash != block->hash) {
            file_.report("the schema at {} has another hash than its block states", place.offset);
            return;
        }
        schema_bytes_ += block->size;
        // Only the bytes: what a provider names is parsed again.
        provider_schema kept;
        kept.hash = schema.hash;
        kept.binary = std::move(schema.binary);
        schemas_.insert_or_assign(block->hash, std::move(kept));
    } catch (const user_error& error) {
        file_.report("the schema at {} cannot be used: {}", place.offset, error.what());
    }
}

void file_reader::take_process(const block_location& place, std::span<const std::uint8_t> payload) {
    const auto block = checked_head<process_block>(file_, place, payload);
    if (block && processes_.size() < processes_max) {
        processes_.try_emplace(block->id, *block);
    }
}

/// A provider whose process is not known, because the file is damaged, has no process name.
void file_reader::take_provider(const block_location& place,
                                std::span<const std::uint8_t> payload) {
    const auto block = checked_head<provider_block>(file_, place, payload);
    if (!block) {
        return;
    }
    if (!decoder_.add_provider(*block)) {
        file_.report("the provider at {} has event numbers of an earlier one", place.offset);
    }
    // A number names one provider in the whole file; a second meaning would be ambiguous.
    if (const auto known = provider_blocks_.find(block->id); known != provider_blocks_.end()) {
        if (std::memcmp(&known->second, &*block, sizeof *block) != 0) {
            file_.report("the provider at {} has the number {} of an earlier one and is left out",
                         place.offset, block->id);
        }
        return;
    }
    const auto schema = schemas_.find(block->schema);
    if (schema == schemas_.end()) {
        // Or it may be in a block that a newer version has written.
        if (unreadable_ == 0) {
            file_.report("the provider at {} is left out: its schema is missing", place.offset);
        }
        return;
    }
    provider_schema parsed = provider_schema::parse(schema->second.binary);
    const std::size_t size = memory_of(parsed);
    if (size > parsed_schemas_max - provider_bytes_) {
        file_.report("the provider at {} is left out: the schemas of all providers of one file may "
                     "take {} bytes of memory",
                     place.offset, parsed_schemas_max);
        return;
    }
    provider_blocks_.emplace(block->id, *block);
    provider_bytes_ += size;
    provider_instance& provider = providers_[block->id];
    provider.id = block->id;
    provider.event_base = block->first_event;
    provider.schema = std::move(parsed);
    const auto process = processes_.find(block->process);
    if (process == processes_.end()) {
        if (unreadable_ == 0) {
            file_.report("the process of the provider at {} is missing", place.offset);
        }
        return;
    }
    take_process_of(provider, process->second);
}

void file_reader::take_note(std::span<const std::uint8_t> payload) {
    const auto note = block_head<note_block>(payload);
    if (!note) {
        return;
    }
    const auto& values = note->values;
    const auto kind = static_cast<note_kind>(note->kind);
    if (kind == note_kind::pause || kind == note_kind::resume) {
        marks_.push_back({values[0], values[1],
                          kind == note_kind::pause ? mark_kind::pause : mark_kind::resume});
        return;
    }
    if (kind == note_kind::command_scope) {
        notes_.scope = {values[0], values[1], values[2]};
        return;
    }
    std::span<const std::uint8_t> texts = body_of(payload);
    const std::optional<std::string> provider = take_name(texts);
    const std::optional<std::string> event = take_name(texts);
    if (kind != note_kind::omitted || !provider || !event) {
        return;  // of a newer version
    }
    sampling_report& omitted = notes_.omitted ? *notes_.omitted : notes_.omitted.emplace();
    if (provider->empty()) {
        omitted.kept = values[1];
        omitted.by_sampling = values[2];
        omitted.by_rate = values[3];
        omitted.max_rate = values[4];
    } else if (omitted.events.size() < omitted_events_max) {
        omitted.events.push_back({*provider, *event, values[0], values[1], values[2], values[3]});
    }
}

/// In a file whose segment is damaged there may be more rings than it states.
bool file_reader::add_rings(std::uint32_t ring) {
    if (!may_add_rings_ || ring >= EVENTLOG_RINGS_MAX) {
        return false;
    }
    file_.report("there are records of ring {}, and the segment states {} rings", ring,
                 host_.ring_count);
    host_.ring_count = ring + 1;
    records_.resize(host_.ring_count);
    next_records_.resize(host_.ring_count);
    next_numbers_.resize(host_.ring_count);
    held_.resize(host_.ring_count);
    return true;
}

void file_reader::take_records(const block_location& place) {
    const auto head = peek_records_head(file_, place);
    if (!head) {
        file_.report("the block at {} is too short for its type", place.offset);
        return;
    }
    const bool is_known = head->segment == 0 && head->ring < records_.size();
    if (!is_known && !file_.load(place)) {
        return;  // reported by load()
    }
    if (!is_known && (head->segment != 0 || !add_rings(head->ring))) {
        file_.report("the records at {} are of ring {} of segment {}, which does not exist",
                     place.offset, head->ring, head->segment);
        return;
    }
    records_[head->ring].push_back({place.offset, place.header.number});
}

/// Accounts for the memory of a ring's next run, which replaces its current one. Reports the block
/// and returns false if the limit is exceeded.
bool file_reader::reserve_memory(std::uint32_t ring, const block_location& place) {
    held_bytes_ -= held_[ring];
    const auto head = peek_records_head(file_, place);
    const bool is_verbatim = (place.header.flags & block_compressed) == 0 && head &&
                             head->encoding == static_cast<std::uint8_t>(record_encoding::verbatim);
    held_[ring] = is_verbatim ? place.header.size : records_size_max;
    if (held_[ring] > held_bytes_max - held_bytes_) {
        held_[ring] = 0;
        file_.report("the block at {} is left out: it takes more than {} bytes to merge the rings",
                     place.offset, held_bytes_max);
        return false;
    }
    held_bytes_ += held_[ring];
    return true;
}

/// Returns what a run does not need of the memory reserved for it.
void file_reader::release_memory(std::uint32_t ring, std::size_t size) noexcept {
    const std::size_t kept = std::min(held_[ring], size);
    held_bytes_ -= held_[ring] - kept;
    held_[ring] = kept;
}

std::optional<owned_run> file_reader::load_run(std::uint32_t ring, const records_location& from) {
    const std::optional<block_location> place = file_.block_at(from.offset);
    if (!place || place->type() != block_type::records || place->header.number != from.number ||
        has_unknown_flags(place->header)) {
        file_.report("the block at {} is damaged", from.offset);
        return std::nullopt;
    }
    if (!reserve_memory(ring, *place)) {
        return std::nullopt;
    }
    std::optional<std::vector<std::uint8_t>> payload = file_.load(*place);
    if (!payload) {
        return std::nullopt;
    }
    const auto head = block_head<records_block>(*payload);
    if (!head || head->ring != ring) {
        file_.report("the records at {} are not of ring {} any more", from.offset, ring);
        return std::nullopt;
    }
    std::vector<std::uint8_t> decoded;
    const auto found = decoder_.decode(*head, body_of(*payload), decoded);
    if (!found) {
        ++undecoded_;  // of a newer version
        return std::nullopt;
    }
    const records_block& block = *head;
    owned_run run;
    const std::uint64_t largest = largest_loss(clock_, host_.ring_count);
    std::uint64_t& next = next_numbers_[ring];
    run.lost_before = checked_losses_before(file_, *place, block, next, largest);
    next = number_after(block, found->count, next, largest);
    run.overwritten = (block.flags & records_overwritten) != 0;
    run.is_ordered = host_.clock == EVENTLOG_CLOCK_TSC;
    run.not_before = watermark_at(from.offset);
    run.cpu = ring;
    run.context = found->context;
    run.events = &decoder_.events();
    if (!found->is_whole || found->count == 0) {
        file_.report("the block at {} {}", from.offset, describe_damage(block, *found));
    }
    const std::size_t size = found->bytes.size();
    if (decoded.empty()) {
        payload->erase(payload->begin(), payload->begin() + block.head_size);
        run.bytes = std::move(*payload);
    } else {
        run.bytes = std::move(decoded);
    }
    run.bytes.resize(size);
    release_memory(ring, size);
    found_.records += found->count;
    add_saturating(found_.lost, run.lost_before);
    return run.bytes.empty() ? std::nullopt : std::optional(std::move(run));
}

std::optional<owned_run> file_reader::next_run(std::uint32_t ring) {
    while (next_records_[ring] < records_[ring].size()) {
        const records_location place = records_[ring][next_records_[ring]++];
        if (std::optional<owned_run> run = load_run(ring, place)) {
            return run;
        }
    }
    return std::nullopt;
}

void file_reader::rewind() {
    std::fill(next_records_.begin(), next_records_.end(), 0);
    std::fill(next_numbers_.begin(), next_numbers_.end(), 0);
    std::fill(held_.begin(), held_.end(), 0);
    held_bytes_ = 0;
    found_ = {};
    undecoded_ = 0;
}

void file_reader::read(const time_merger::take_record& take, const std::function<bool()>& is_done) {
    rewind();
    time_merger merger(host_.ring_count, [this](std::uint32_t ring) { return next_run(ring); });
    const bool takes_all = range_.is_everything();
    passed_ = 0;
    merger.begin(UINT64_MAX, UINT64_MAX);
    while (const std::optional<merged_record> record = merger.next()) {
        if (takes_all || range_.contains(time_in_range(record->record.time))) {
            ++passed_;
            take(*record);
        }
        if (is_done && is_done()) {
            return;
        }
    }
    if (takes_all) {
        compare_with_end_block();
    }
}

void file_reader::refresh() {
    file_.refresh();
    scan_blocks();
}

void file_reader::discard_consumed_locations() {
    std::uint64_t first_left = UINT64_MAX;  // offset of a block
    for (std::size_t ring = 0; ring < records_.size(); ++ring) {
        std::vector<records_location>& places = records_[ring];
        places.erase(places.begin(),
                     places.begin() + static_cast<std::ptrdiff_t>(next_records_[ring]));
        next_records_[ring] = 0;
        first_left = places.empty() ? first_left : std::min(first_left, places.front().offset);
    }
    // The last watermark before these blocks is still needed; without any blocks, it applies to
    // future ones.
    const auto behind = std::find_if(
        watermarks_.begin(), watermarks_.end(),
        [first_left](const known_watermark& each) { return each.offset > first_left; });
    watermarks_.erase(watermarks_.begin(), behind == watermarks_.begin() ? behind : behind - 1);
}

std::uint64_t file_reader::first_unread() const noexcept {
    std::uint64_t first = walker_.offset();
    for (const std::vector<records_location>& places : records_) {
        first = places.empty() ? first : std::min(first, places.front().offset);
    }
    return first;
}

std::size_t file_reader::retained_locations() const noexcept {
    std::size_t count = watermarks_.size();
    for (const std::vector<records_location>& places : records_) {
        count += places.size();
    }
    return count;
}

void file_reader::compare_with_end_block() {
    if (end_ && !is_compared_ && unreadable_ == 0 && undecoded_ == 0) {
        is_compared_ = true;
        compare_totals(file_, *end_, found_.records, saturating_sum(found_.lost, losses_.lost()),
                       largest_loss(clock_, host_.ring_count));
    }
}

}  // namespace elog
