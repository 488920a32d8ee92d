// SPDX-License-Identifier: MIT
#include "file/file_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "file/block_contents.hpp"
#include "record/ring_records.hpp"

namespace elog {
namespace {

// Memory limit beside schemas: merging keeps one block for each ring, see run_coalescer.
constexpr std::size_t held_bytes_max = std::size_t{512} << 20U;
constexpr std::size_t losses_max = EVENTLOG_RINGS_MAX + EVENTLOG_PROVIDERS_MAX;

/// The position of the first of some records that are later than the other blocks of their ring:
/// its time, or `not_before` for a custom clock.
std::uint64_t earliest_position(std::span<const std::uint8_t> records, std::uint64_t not_before) {
    std::uint64_t found = UINT64_MAX;
    run_reader reader(records);
    for (record_view record; reader.next(record);) {
        if (!has_custom_time(record)) {
            found = std::min(found, record.time);
        } else if (found == UINT64_MAX) {
            found = not_before;
        }
    }
    return found;
}

}  // namespace

std::int64_t recording_start(const std::string& path) {
    block_file file(path);
    block_walker walker(file, sizeof(file_header), 0);
    while (const std::optional<block_location> place = walker.next()) {
        if (const auto clock = load_head<clock_block>(file, *place, block_type::clock)) {
            return static_cast<std::int64_t>(clock->realtime);
        }
    }
    return 0;
}

file_reader::file_reader(std::string path, time_range range)
    : file_(std::move(path)), range_(range) {
    used_index_ = !range_.is_everything() && scan_using_index();
    if (!used_index_) {
        scan_blocks();
    }
    if (!has_host_) {
        reject_without_host(file_.path());
    }
}

void file_reader::scan_blocks() {
    while (const std::optional<block_location> place = walker_.next()) {
        if (place->type() == block_type::records) {
            take_records(*place);
        } else {
            read_block(*place);
        }
    }
}

void file_reader::read_block(const block_location& place) {
    const block_type type = place.type();
    if (type < block_type::host || type > block_type::offsets || has_unknown_flags(place.header)) {
        return;  // of a newer version: skipped
    }
    const std::optional<std::vector<std::uint8_t>> payload = file_.load(place);
    if (!payload) {
        return;
    }
    switch (type) {
        case block_type::host:
            read_host(place, *payload);
            break;
        case block_type::clock:
            if (const auto clock = checked_head<clock_block>(file_, place, *payload)) {
                clock_.add(sample_of(*clock));
                add_watermark(place.header.number, clock->watermark);
            }
            break;
        case block_type::provider:
            take_provider(place, *payload);
            break;
        case block_type::loss:
            if (const auto loss = checked_head<loss_block>(file_, place, *payload);
                loss && losses_.size() < losses_max) {
                losses_.push_back(*loss);
            }
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
        case block_type::index:    // verified by its checksum; elog verify compares the content
        case block_type::records:  // read on demand
            break;
    }
}

void file_reader::read_host(const block_location& place, const std::vector<std::uint8_t>& payload) {
    const auto host = block_head<host_block>(payload);
    if (!host || !is_valid(*host)) {
        file_.report("the host at {} is invalid", place.offset);
        return;
    }
    if (host->version != file_version) {
        reject_version(file_.path(), host->version);
    }
    if (has_host_) {
        return;  // the second copy
    }
    host_ = *host;
    host_.host_name[sizeof host_.host_name - 1] = '\0';
    host_.kernel[sizeof host_.kernel - 1] = '\0';
    host_.machine[sizeof host_.machine - 1] = '\0';
    has_host_ = true;
    clock_ = clock_converter(host_.clock);
    records_.resize(host_.ring_count);
    next_records_.resize(host_.ring_count);
    held_.resize(host_.ring_count);
}

void file_reader::add_watermark(std::uint64_t number, std::uint64_t clock) {
    if (clock > watermark_at(number)) {
        watermarks_.push_back({number, clock});
    }
}

/// Watermark for blocks with larger numbers: no record in them is earlier, except records with a
/// custom clock, which were not emitted earlier. 0: unknown.
std::uint64_t file_reader::watermark_at(std::uint64_t number) const noexcept {
    const auto next = std::upper_bound(
        watermarks_.begin(), watermarks_.end(), number,
        [](std::uint64_t wanted, const known_watermark& each) { return wanted < each.number; });
    return next == watermarks_.begin() ? 0 : (next - 1)->clock;
}

void file_reader::take_provider(const block_location& place,
                                const std::vector<std::uint8_t>& payload) {
    const auto head = block_head<provider_block>(payload);
    if (!head || payload.size() - sizeof *head < head->schema_size) {
        file_.report("the provider at {} is damaged", place.offset);
        return;
    }
    const provider_block& block = *head;
    if (block.schema_size > schemas_size_max - schema_bytes_) {
        file_.report("the provider at {} is left out: the schemas of one file may have {} bytes "
                     "together",
                     place.offset, schemas_size_max);
        return;
    }
    try {
        const auto schema = std::span(payload).subspan(sizeof block, block.schema_size);
        const bool is_new = providers_.try_emplace(block.id, provider_of(block, schema)).second;
        // A number names one provider in the whole file; a second meaning would be ambiguous.
        if (is_new) {
            schema_bytes_ += block.schema_size;
        } else {
            file_.report("the provider at {} has the number {} of an earlier one and is left out",
                         place.offset, block.id);
        }
    } catch (const user_error& error) {
        file_.report("the schema of the provider at {} cannot be used: {}", place.offset,
                     error.what());
    }
}

void file_reader::take_records(const block_location& place) {
    if (has_unknown_flags(place.header)) {
        return;  // of a newer version: skipped
    }
    const auto head = block_head<records_block>(file_.peek(place, sizeof(records_block)));
    if (!head) {
        file_.report("the block at {} is too short for its type", place.offset);
        return;
    }
    if (head->ring < records_.size()) {
        records_[head->ring].push_back({place.offset, place.header.number});
    } else if (file_.load(place)) {  // load() reports a damaged payload
        file_.report("the records at {} are of ring {}, which does not exist", place.offset,
                     head->ring);
    }
}

/// Accounts for the memory of a ring's next run, which replaces its current one. Reports the block
/// and returns false if the limit is exceeded.
bool file_reader::reserve_memory(std::uint32_t ring, const block_location& place) {
    held_bytes_ -= held_[ring];
    const bool is_compressed = (place.header.flags & block_compressed) != 0;
    held_[ring] = is_compressed ? records_size_max : place.header.size;
    if (held_[ring] > held_bytes_max - held_bytes_) {
        held_[ring] = 0;
        file_.report("the block at {} is left out: it takes more than {} bytes to merge the rings",
                     place.offset, held_bytes_max);
        return false;
    }
    held_bytes_ += held_[ring];
    return true;
}

std::optional<owned_run> file_reader::load_run(std::uint32_t ring, const records_location& from) {
    const std::optional<block_location> place = file_.block_at(from.offset);
    if (!place || place->type() != block_type::records || place->header.number != from.number) {
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
    held_bytes_ -= held_[ring] - std::min(held_[ring], payload->size());
    held_[ring] = std::min(held_[ring], payload->size());
    const auto head = block_head<records_block>(*payload);
    if (!head || head->ring != ring) {
        file_.report("the records at {} are not of ring {} any more", from.offset, ring);
        return std::nullopt;
    }
    const records_block& block = *head;
    owned_run run;
    run.lost_before = block.lost_before;
    run.overwritten = (block.flags & records_overwritten) != 0;
    run.not_before = watermark_at(from.number);
    run.bytes = std::move(*payload);
    run.bytes.erase(run.bytes.begin(), run.bytes.begin() + sizeof block);
    const checked_records found = check_records(run.bytes);
    if (found.size != run.bytes.size() || found.count != block.count || found.count == 0) {
        file_.report("the block at {} holds {} sound records instead of {}", from.offset,
                     found.count, block.count);
        run.bytes.resize(found.size);
    }
    found_.records += found.count;
    found_.lost += block.lost_before;
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
    found_ = {};
    for (const loss_block& loss : losses_) {
        found_.lost += lost_count(loss);
    }
}

std::optional<std::uint64_t> file_reader::earliest() {
    std::optional<std::uint64_t> found;
    for (const std::vector<records_location>& places : records_) {
        for (const records_location& from : places) {
            // A damaged block may contain any time.
            const std::optional<block_location> place = file_.block_at(from.offset);
            const std::optional<std::vector<std::uint8_t>> payload =
                place ? file_.load(*place) : std::nullopt;
            if (!payload || payload->size() < sizeof(records_block)) {
                continue;
            }
            const auto records = std::span(*payload).subspan(sizeof(records_block));
            const checked_records sound = check_records(records);
            if (sound.count != 0) {
                const std::uint64_t first =
                    earliest_position(records.first(sound.size), watermark_at(from.number));
                found = std::min(found.value_or(first), first);
                break;
            }
        }
    }
    return found;
}

void file_reader::read(const time_merger::take_record& take, const std::function<bool()>& is_done) {
    rewind();
    time_merger merger(host_.ring_count, [this](std::uint32_t ring) { return next_run(ring); });
    const bool takes_all = range_.is_everything();
    passed_ = 0;
    merger.begin(UINT64_MAX, UINT64_MAX);
    while (const std::optional<merged_record> record = merger.next()) {
        if (takes_all || range_.contains(clock_.realtime(record->record.time))) {
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
    std::uint64_t first_left = UINT64_MAX;  // number of a block
    for (std::size_t ring = 0; ring < records_.size(); ++ring) {
        std::vector<records_location>& places = records_[ring];
        places.erase(places.begin(),
                     places.begin() + static_cast<std::ptrdiff_t>(next_records_[ring]));
        next_records_[ring] = 0;
        first_left = places.empty() ? first_left : std::min(first_left, places.front().number);
    }
    // The last watermark before these blocks is still needed; without any blocks, it applies to
    // future ones.
    const auto behind = std::find_if(
        watermarks_.begin(), watermarks_.end(),
        [first_left](const known_watermark& each) { return each.number > first_left; });
    watermarks_.erase(watermarks_.begin(), behind == watermarks_.begin() ? behind : behind - 1);
}

std::size_t file_reader::retained_locations() const noexcept {
    std::size_t count = watermarks_.size();
    for (const std::vector<records_location>& places : records_) {
        count += places.size();
    }
    return count;
}

void file_reader::compare_with_end_block() {
    if (end_) {
        compare_totals(file_, *end_, found_.records, found_.lost);
    }
}

}  // namespace elog
