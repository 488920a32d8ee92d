// SPDX-License-Identifier: MIT
#include "file/file_repair.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/atomic_file.hpp"
#include "file/block_contents.hpp"
#include "file/file_reader.hpp"
#include "file/file_writer.hpp"
#include "file/index_chain.hpp"
#include "file/loss_table.hpp"
#include "file/records_decoder.hpp"
#include "record/ring_records.hpp"

namespace elog {
namespace {

using block_bytes = std::vector<std::uint8_t>;

// The most records that a block can have.
constexpr std::uint64_t records_max = records_size_max / ring_size(0);

class file_repairer {
  public:
    file_repairer(block_file& file, const recording_host& host, const std::string& to)
        : file_(file), host_(host), writer_(to, host) {}

    repair_summary run();

  private:
    void copy_block(const block_location& place, const block_bytes& payload);
    void copy_clock(const block_bytes& payload);
    void copy_offsets(const offsets_block& block);
    void take_schema(const block_location& place, const block_bytes& payload);
    void copy_provider(const block_location& place, const block_bytes& payload);
    void take_loss(const block_location& place, const block_bytes& payload);
    void copy_note(const block_location& place, const block_bytes& payload);
    void copy_records(const block_location& place, const block_bytes& payload);
    void take_index(const block_location& place);
    void write_losses();
    void skip_block(const block_location& place, const char* why) {
        file_.report("the block at {} is left out: {}", place.offset, why);
        unindexed_.push_back({place.header.number, place.header.number});
    }

    block_file& file_;
    recording_host host_;
    file_writer writer_;
    repair_summary summary_;
    std::optional<std::uint64_t> offsets_;  // clock of the last offsets copied
    std::unordered_map<std::uint16_t, provider_block> providers_;
    std::unordered_map<std::uint64_t, provider_schema> schemas_;  // by hash
    std::unordered_map<std::uint32_t, process_block> processes_;  // by id
    std::size_t schema_bytes_ = 0;                                // of schemas_
    records_decoder decoder_;
    loss_table losses_;
    struct ring_state {
        std::uint64_t next = 0;      // sequence number
        bool is_known = false;       // whether `next` is valid
        std::uint64_t reported = 0;  // records left out and already counted as lost
        std::uint64_t invalid = 0;   // of these, before a gap of overwritten records
        std::uint64_t skipped = 0;   // records in skipped blocks, from the index
        std::uint64_t cut = 0;       // damaged records at the end of the last block
    };
    struct number_range {
        std::uint64_t first;
        std::uint64_t last;
    };

    std::map<std::uint32_t, ring_state> rings_;
    std::vector<number_range> unindexed_;  // skipped blocks that no index has described
};

void file_repairer::copy_clock(const block_bytes& payload) {
    if (const auto clock = block_head<clock_block>(payload)) {
        writer_.write_clock(sample_of(clock->reading), clock->reading.watermark);
    }
}

/// Offsets that are not later than the previous ones are ignored.
void file_repairer::copy_offsets(const offsets_block& block) {
    if (!offsets_ || block.clock > *offsets_) {
        offsets_ = block.clock;
        writer_.write_offsets({block.clock, block.boottime, block.tai});
    }
}

/// Schemas and processes are written with the first provider that has them.
void file_repairer::take_schema(const block_location& place, const block_bytes& payload) {
    const auto block = block_head<schema_block>(payload);
    const auto bytes = block ? schema_bytes(*block, payload) : std::nullopt;
    if (!bytes || bytes->size() > schemas_size_max - schema_bytes_) {
        skip_block(place, "it is too short for its type, or the schemas are too large");
        return;
    }
    const auto known = schemas_.find(block->hash);
    if (known != schemas_.end() && std::ranges::equal(known->second.binary, *bytes)) {
        return;  // repeated with the second host
    }
    try {
        provider_schema schema = provider_schema::parse(*bytes);
        if (schema.hash != block->hash) {
            skip_block(place, "it has another hash than its block states");
            return;
        }
        schema_bytes_ += bytes->size();
        schemas_.insert_or_assign(block->hash, std::move(schema));
    } catch (const user_error& error) {
        skip_block(place, error.what());
    }
}

void file_repairer::copy_provider(const block_location& place, const block_bytes& payload) {
    const auto block = block_head<provider_block>(payload);
    if (block) {
        decoder_.add_provider(*block);
    }
    const auto known = block ? providers_.find(block->id) : providers_.end();
    if (known != providers_.end()) {
        if (std::memcmp(&known->second, &*block, sizeof *block) != 0) {
            skip_block(place, "its number is that of an earlier provider");
        }
        return;
    }
    const auto schema = block ? schemas_.find(block->schema) : schemas_.end();
    if (schema == schemas_.end()) {
        skip_block(place, "its schema is missing");
        return;
    }
    provider_instance provider;
    provider.id = block->id;
    provider.schema = schema->second;
    const auto process = processes_.find(block->process);
    if (process != processes_.end()) {
        take_process_of(provider, process->second);
    } else {
        file_.report("the process of the provider at {} is missing", place.offset);
    }
    providers_.emplace(block->id, *block);
    writer_.write_provider(provider);
}

/// Losses are written at the end, when the last block of each ring and provider is known.
void file_repairer::take_loss(const block_location& place, const block_bytes& payload) {
    if (std::optional<loss_report> loss = loss_of(payload)) {
        losses_.replace(std::move(*loss));
    } else {
        skip_block(place, "it is invalid");
    }
}

void file_repairer::copy_note(const block_location& place, const block_bytes& payload) {
    if (const auto note = block_head<note_block>(payload)) {
        writer_.write_note(*note, body_of(payload));
    } else {
        skip_block(place, "it is too short for its type");
    }
}

void file_repairer::copy_records(const block_location& place, const block_bytes& payload) {
    const auto block = block_head<records_block>(payload);
    if (!block || block->segment != 0 || block->ring >= host_.ring_count) {
        skip_block(place, "its head is invalid");
        return;
    }
    block_bytes decoded;
    const auto sound = decoder_.decode(*block, body_of(payload), decoded);
    if (!sound) {
        skip_block(place, "this elog does not know its encoding");
        return;
    }
    if (!sound->is_whole) {
        file_.report("of the block at {}, {} sound records are kept; its header counts {}",
                     place.offset, sound->count, block->count);
    }
    if (sound->count == 0) {
        unindexed_.push_back({place.header.number, place.header.number});
        return;
    }
    record_run run;
    run.ring = block->ring;
    run.sequence = block->sequence;
    run.lost_before = block->lost_before;
    run.overwritten = (block->flags & records_overwritten) != 0;
    run.count = sound->count;
    run.bytes = sound->bytes;
    // Records left out since the ring's last block count as lost from here on.
    ring_state& ring = rings_[run.ring];
    const std::uint64_t first_lost =
        block->sequence - std::min(block->sequence, block->lost_before);
    if (!ring.is_known) {
        ring.next = host_.part <= 1 ? 0 : first_lost;
    }
    if (!file_.damages().empty() && first_lost > ring.next) {
        const std::uint64_t missing = first_lost - ring.next;
        // One block cannot contain both kinds: overwritten records are not damaged.
        (run.overwritten ? ring.invalid : run.lost_before) += missing;
        ring.reported += missing - std::min(missing, ring.cut);
        summary_.missing += missing;
    }
    ring.next = run.sequence + run.count;
    ring.is_known = true;
    // No more than a block can have, if the count is wrong.
    ring.cut = std::min(block->count, std::max(run.count, records_max)) -
               std::min(block->count, run.count);
    writer_.allow_compaction(block->encoding !=
                             static_cast<std::uint8_t>(record_encoding::verbatim));
    writer_.write_run(run);
    summary_.records += run.count;
}

/// Counts the records of skipped blocks, which the index describes.
void file_repairer::take_index(const block_location& place) {
    std::vector<number_range> asked;
    std::swap(asked, unindexed_);
    const std::optional<index_section> section =
        asked.empty() ? std::nullopt : read_index_section(file_, place.offset);
    const std::optional<std::vector<listed_block>> blocks =
        section ? read_index_entries(file_, *section) : std::nullopt;
    if (!blocks) {
        return;
    }
    for (const listed_block& block : *blocks) {
        // The ranges are sorted and disjoint.
        const auto behind = std::upper_bound(
            asked.begin(), asked.end(), block.number,
            [](std::uint64_t number, const number_range& range) { return number < range.first; });
        const bool is_excluded = behind != asked.begin() && block.number <= std::prev(behind)->last;
        if (is_excluded && block.type() == block_type::records &&
            block.entry.ring < host_.ring_count) {
            rings_[block.entry.ring].skipped += block.entry.count;
        }
    }
}

/// Writes the losses that no later record of a ring carries, and those of the file.
void file_repairer::write_losses() {
    for (const auto& [number, ring] : rings_) {
        const std::uint64_t lost = ring.skipped - std::min(ring.skipped, ring.reported) + ring.cut;
        if (lost != 0 || ring.invalid != 0) {
            losses_.add(trailing_loss(number, lost, 0, ring.invalid));
            summary_.missing += lost;
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
        case block_type::schema:
            return take_schema(place, payload);
        case block_type::process:
            if (const auto process = block_head<process_block>(payload);
                process && processes_.size() < EVENTLOG_PROVIDERS_MAX) {
                processes_.try_emplace(process->id, *process);
            }
            return;
        case block_type::provider:
            return copy_provider(place, payload);
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
            return;
    }
    skip_block(place, "this elog does not know its type");
}

repair_summary file_repairer::run() {
    block_walker walker(file_, sizeof(file_header), 0);
    std::uint64_t expected = 0;
    while (const std::optional<block_location> place = walker.next()) {
        if (place->header.number > expected) {
            unindexed_.push_back({expected, place->header.number - 1});
        }
        expected = place->header.number + 1;
        if (has_unknown_flags(place->header)) {
            skip_block(*place, "this elog does not know its flags");
        } else if (const std::optional<block_bytes> payload = file_.load(*place)) {
            copy_block(*place, *payload);
        } else {
            unindexed_.push_back({place->header.number, place->header.number});
        }
    }
    write_losses();
    writer_.write_end(end_reason::repaired);
    summary_.size = writer_.size();
    summary_.damages = file_.damages().sentences();
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
    const std::optional<recording_host> host = find_recording_host(probe);
    if (!host) {
        reject_without_host(from);
    }
    // A new block_file, because reading the whole file reports all damage again.
    block_file file(from);
    return file_repairer(file, *host, to).run();
}

}  // namespace elog
