// SPDX-License-Identifier: MIT
#include "file/file_check.hpp"

#include <algorithm>
#include <bitset>
#include <cstring>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/saturating.hpp"
#include "base/user_error.hpp"
#include "file/block_contents.hpp"
#include "file/index_builder.hpp"
#include "file/loss_limits.hpp"
#include "file/loss_table.hpp"
#include "file/recording_host.hpp"
#include "file/records_decoder.hpp"
#include "record/ring_records.hpp"

namespace elog {
namespace {

using block_bytes = std::vector<std::uint8_t>;

template <class Count>
std::uint64_t sum_of(const loss_table& losses, const Count& count) {
    std::uint64_t sum = 0;
    for (const loss_report& loss : losses.all()) {
        add_saturating(sum, count(loss));
    }
    return sum;
}

class file_checker {
  public:
    explicit file_checker(const std::string& path) : file_(path) {}

    file_check_result run();

  private:
    struct ring_state {
        std::uint64_t next = 0;  // sequence number
        std::uint64_t time = 0;  // of its last record
    };

    void skip_block(const block_location& place);
    void check_block(const block_location& place, const block_bytes& payload);
    void check_host(const block_location& place, const block_bytes& payload);
    void check_segment(const block_location& place, const block_bytes& payload);
    void check_clock(const block_location& place, const block_bytes& payload);
    void check_schema(const block_location& place, const block_bytes& payload);
    void check_process(const block_location& place, const block_bytes& payload);
    void check_provider(const block_location& place, const block_bytes& payload);
    void check_records(const block_location& place, const block_bytes& payload);
    void check_content(const block_location& place, const records_block& block,
                       const decoded_records& sound, ring_state& ring);
    void check_loss(const block_location& place, const block_bytes& payload);
    void check_index(const block_location& place, const block_bytes& payload);
    void check_offsets(const block_location& place, const block_bytes& payload);
    void check_note(const block_location& place, const block_bytes& payload);
    void check_end(const block_location& place, const block_bytes& payload);
    [[nodiscard]] std::uint64_t largest() const noexcept {
        return largest_loss(converter_, segment_ ? segment_->ring_count : 1);
    }

    block_file file_;
    file_check_result found_;
    block_bytes host_;  // payload of the last one
    std::optional<segment_block> segment_;
    std::uint32_t part_ = 0;
    std::optional<clock_reading> clock_;
    clock_converter converter_;
    std::optional<offsets_block> offsets_;
    std::unordered_map<std::uint64_t, std::size_t> schemas_;  // by hash: number of events
    std::unordered_map<std::uint32_t, process_block> processes_;
    std::unordered_map<std::uint16_t, provider_block> provider_blocks_;
    std::bitset<0x10000> providers_;
    records_decoder decoder_;
    loss_table losses_;
    std::map<std::uint32_t, ring_state> rings_;
    // Records of unknown providers are no damage of a repaired file.
    damage_list unnamed_;
    std::uint64_t skipped_ = 0;  // record numbers that are neither present nor counted as lost
    // The index block that is due, unless a block before it could not be read.
    index_builder index_;
    bool index_is_known_ = true;
    // Blocks that are skipped, but belong to the contents: their checks would find them missing.
    std::uint64_t unreadable_ = 0;
};

void file_checker::check_host(const block_location& place, const block_bytes& payload) {
    index_.add(place.header);
    const auto host = checked_head<host_block>(file_, place, payload);
    if (!host) {
        return;
    }
    if (contradicts_header(file_.has_header(), *host)) {
        file_.report("the host at {} states another version or other features than the file's "
                     "header",
                     place.offset);
        return;
    }
    check_features(file_.path(), host->version, host->required_features);
    if (!host_.empty() && host_ != payload) {
        file_.report("the host at {} differs from the one before it", place.offset);
    }
    host_ = payload;
    part_ = host->part;
}

void file_checker::check_segment(const block_location& place, const block_bytes& payload) {
    index_.add(place.header);
    const auto segment = checked_head<segment_block>(file_, place, payload);
    if (!segment) {
        return;
    }
    check_segment_number(file_.path(), segment->segment);
    if (!is_valid(*segment)) {
        file_.report("the segment at {} is invalid", place.offset);
        return;
    }
    if (segment_ && std::memcmp(&*segment_, &*segment, sizeof *segment) != 0) {
        file_.report("the segment at {} differs from the one before it", place.offset);
    }
    segment_ = segment;
}

void file_checker::check_clock(const block_location& place, const block_bytes& payload) {
    const auto block = checked_head<clock_block>(file_, place, payload);
    if (!block) {
        index_.add(place.header);
        return;
    }
    const clock_reading& clock = block->reading;
    index_.add(place.header, clock);
    converter_.add(sample_of(clock));
    if (clock_ && (clock.clock < clock_->clock || clock.monotonic < clock_->monotonic)) {
        file_.report("the clocks at {} go backwards", place.offset);
    }
    clock_ = clock;
}

void file_checker::check_schema(const block_location& place, const block_bytes& payload) {
    index_.add(place.header);
    const auto block = checked_head<schema_block>(file_, place, payload);
    if (!block) {
        return;
    }
    try {
        const provider_schema schema = provider_schema::parse(body_of(payload));
        if (schema.binary.size() != block->size || body_of(payload).size() != block->size) {
            file_.report("the schema at {} has another size than its block states", place.offset);
        }
        if (schema.hash != block->hash) {
            file_.report("the schema at {} has another hash than its block states", place.offset);
        }
        schemas_.insert_or_assign(block->hash, schema.events.size());
    } catch (const user_error& error) {
        file_.report("the schema at {} cannot be used: {}", place.offset, error.what());
    }
}

void file_checker::check_process(const block_location& place, const block_bytes& payload) {
    index_.add(place.header);
    const auto block = checked_head<process_block>(file_, place, payload);
    if (!block || processes_.size() >= EVENTLOG_PROVIDERS_MAX) {
        return;
    }
    const auto [known, is_new] = processes_.emplace(block->id, *block);
    if (!is_new && std::memcmp(&known->second, &*block, sizeof *block) != 0) {
        file_.report("the process at {} has the number {} of an earlier one", place.offset,
                     block->id);
    }
}

void file_checker::check_provider(const block_location& place, const block_bytes& payload) {
    index_.add(place.header);
    const auto block = checked_head<provider_block>(file_, place, payload);
    if (!block) {
        return;
    }
    const bool has_own_events = decoder_.add_provider(*block);
    const auto [known, is_new] = provider_blocks_.emplace(block->id, *block);
    if (!is_new && std::memcmp(&known->second, &*block, sizeof *block) == 0) {
        return;  // repeated with the second host
    }
    const auto schema = schemas_.find(block->schema);
    if (schema == schemas_.end()) {
        if (unreadable_ == 0) {
            file_.report("the schema of the provider at {} is missing", place.offset);
        }
    } else if (schema->second != block->event_count || !has_own_events || block->first_event == 0) {
        file_.report("the provider at {} has other events than its schema, or events of an earlier "
                     "one",
                     place.offset);
    }
    if (!processes_.contains(block->process) && unreadable_ == 0) {
        file_.report("the process of the provider at {} is missing", place.offset);
    }
    if (providers_.test(block->id)) {
        file_.report("the provider at {} has the number {} of an earlier one", place.offset,
                     block->id);
    }
    providers_.set(block->id);
    ++found_.providers;
}

void file_checker::check_records(const block_location& place, const block_bytes& payload) {
    const auto head = checked_head<records_block>(file_, place, payload);
    if (!head) {
        index_.add(place.header);
        return;
    }
    const records_block& block = *head;
    index_.add(place.header, block);
    if (block.segment != 0 || (segment_ && block.ring >= segment_->ring_count)) {
        file_.report("the records at {} are of ring {} of segment {}, which does not exist",
                     place.offset, block.ring, block.segment);
    }
    const std::span<const std::uint8_t> body = body_of(payload);
    block_bytes decoded;
    const auto sound = decoder_.decode(block, body, decoded);
    if (!sound) {
        ++found_.unknown_blocks;
        ++unreadable_;
        return;
    }
    const bool is_verbatim = block.encoding == static_cast<std::uint8_t>(record_encoding::verbatim);
    if (block.decoded_size != (is_verbatim ? body : sound->bytes).size()) {
        file_.report("the records at {} have another size than their block states", place.offset);
    }
    if (!sound->is_whole || sound->count == 0) {
        file_.report("the block at {} {}", place.offset, describe_damage(block, *sound));
    }
    const auto [known, is_new] = rings_.try_emplace(block.ring);
    ring_state& ring = known->second;
    const std::uint64_t lost = checked_losses_before(file_, place, block, ring.next, largest());
    found_.records += sound->count;
    add_saturating(found_.lost, lost);
    add_saturating(found_.overwritten, (block.flags & records_overwritten) != 0 ? lost : 0);
    const std::uint64_t first_lost =
        block.sequence - std::min<std::uint64_t>(block.sequence, block.lost_before);
    const bool is_first = is_new && part_ > 1;
    if (block.sequence < block.lost_before || first_lost < ring.next) {
        file_.report("the records at {} repeat numbers of earlier records", place.offset);
    } else if (!is_first) {
        add_saturating(skipped_, first_lost - ring.next);
    }
    check_content(place, block, *sound, ring);
    ring.next = number_after(block, sound->count, ring.next, largest());
}

void file_checker::check_content(const block_location& place, const records_block& block,
                                 const decoded_records& sound, ring_state& ring) {
    std::uint64_t earliest = UINT64_MAX;
    std::uint64_t latest = 0;
    std::uint64_t unknown = 0;
    bool is_sorted = true;
    run_reader reader = sound.records(block.ring, decoder_.events());
    for (record_view record; reader.next(record);) {
        if (!has_custom_time(record)) {
            is_sorted = is_sorted && record.time >= ring.time;
            ring.time = record.time;
        }
        earliest = std::min(earliest, record.time);
        latest = std::max(latest, record.time);
        const bool is_known =
            record.provider < providers_.size() && providers_.test(record.provider);
        unknown += is_known ? 0U : 1U;
        found_.record_bytes += usual_ring_size(record);
    }
    record_run run;
    run.bytes = sound.bytes;
    run.context = block.context;
    if (block.context != 0 && !needs_context(run)) {
        file_.report("the block at {} has a context that its records do not need", place.offset);
    }
    if (earliest != block.earliest || latest != block.latest) {
        file_.report("the records at {} have other times than their block says", place.offset);
    }
    if (unknown != 0 && unreadable_ == 0) {
        unnamed_.add("{} of the records at {} are of providers that were not named before", unknown,
                     place.offset);
    }
    // With CLOCK_MONOTONIC, a writer may be preempted between reading the clock and storing the
    // record.
    if (!is_sorted && segment_ && segment_->clock == EVENTLOG_CLOCK_TSC) {
        file_.report("the records at {} are out of the order of time", place.offset);
    }
}

void file_checker::check_loss(const block_location& place, const block_bytes& payload) {
    index_.add(place.header);
    if (std::optional<loss_report> loss = checked_loss(file_, place, payload, largest())) {
        losses_.replace(std::move(*loss));
    }
}

void file_checker::check_offsets(const block_location& place, const block_bytes& payload) {
    index_.add(place.header);
    if (const auto offsets = checked_head<offsets_block>(file_, place, payload)) {
        if (offsets_ && offsets->clock < offsets_->clock) {
            file_.report("the clocks' offsets at {} go backwards", place.offset);
        }
        offsets_ = offsets;
    }
}

void file_checker::check_note(const block_location& place, const block_bytes& payload) {
    index_.add(place.header);
    const auto note = checked_head<note_block>(file_, place, payload);
    if (note && is_pause_without_number(*note)) {
        file_.report("the pause at {} has no number", place.offset);
    }
}

/// The index without members that later versions have added to its head; nothing if its own
/// checksum is wrong.
block_bytes known_index(std::span<const std::uint8_t> payload) {
    const std::size_t head_size = head_size_of(payload);
    auto head = block_head<index_block>(payload);
    if (!head || head->checksum != index_checksum(payload.first(head_size))) {
        return {};
    }
    head->head_size = sizeof *head;
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&*head);
    head->checksum = index_checksum({bytes, sizeof *head});
    block_bytes known(bytes, bytes + sizeof *head);
    const std::span<const std::uint8_t> entries = body_of(payload);
    known.insert(known.end(), entries.begin(), entries.end());
    return known;
}

void file_checker::check_index(const block_location& place, const block_bytes& payload) {
    const block_bytes expected = index_.payload(place.offset);
    index_.begin_section_after(place.offset);
    found_.has_index = true;
    if (index_is_known_ && known_index(payload) != expected) {
        file_.report("the index at {} lists other blocks than there are", place.offset);
    }
    index_is_known_ = true;
}

void file_checker::check_end(const block_location& place, const block_bytes& payload) {
    const auto end = checked_head<end_block>(file_, place, payload);
    if (!end) {
        return;
    }
    found_.has_end = true;
    if (place.end() != file_.size()) {
        file_.report("bytes {} to {} follow the end", place.end(), file_.size());
    }
    found_.reason = static_cast<end_reason>(end->reason);
    if (index_is_known_ && end->index != place.offset - index_.last_index()) {
        file_.report("the end at {} names {} as the place of the index", place.offset,
                     place.offset - end->index);
    }
    if (end->head_size != sizeof *end || end->reason < 1 ||
        end->reason > static_cast<std::uint16_t>(end_reason::too_large)) {
        file_.report("the end at {} has reason {}, which this elog does not know", place.offset,
                     end->reason);
    }
    if (unreadable_ != 0) {
        return;
    }
    compare_totals(file_, *end, found_.records, saturating_sum(found_.lost, losses_.lost()),
                   largest());
    // Records that failed validation have numbers and are counted in loss blocks; all other missing
    // numbers are losses.
    const std::uint64_t invalid =
        sum_of(losses_, [](const loss_report& loss) { return loss.damaged; });
    if (file_.damages().empty() && skipped_ > invalid) {
        file_.report("{} record numbers are missing without a loss", skipped_ - invalid);
    }
}

void file_checker::check_block(const block_location& place, const block_bytes& payload) {
    switch (place.type()) {
        case block_type::host:
            return check_host(place, payload);
        case block_type::clock:
            return check_clock(place, payload);
        case block_type::segment:
            return check_segment(place, payload);
        case block_type::schema:
            return check_schema(place, payload);
        case block_type::process:
            return check_process(place, payload);
        case block_type::provider:
            return check_provider(place, payload);
        case block_type::records:
            return check_records(place, payload);
        case block_type::loss:
            return check_loss(place, payload);
        case block_type::end:
            return check_end(place, payload);
        case block_type::index:
            return check_index(place, payload);
        case block_type::offsets:
            return check_offsets(place, payload);
        case block_type::note:
            return check_note(place, payload);
    }
    index_.add(place.header);
}

/// Counts a block of a newer version. An index describes contents of a block that are not known
/// here.
void file_checker::skip_block(const block_location& place) {
    ++found_.unknown_blocks;
    if (is_known(place.type())) {
        ++unreadable_;
        index_is_known_ = false;
    }
    if (place.type() == block_type::index) {
        index_.begin_section_after(place.offset);
    } else {
        index_.add(place.header);
    }
}

file_check_result file_checker::run() {
    block_walker walker(file_, sizeof(file_header), 0);
    std::uint64_t expected_offset = sizeof(file_header);
    while (const std::optional<block_location> place = walker.next()) {
        ++found_.blocks;
        // An index that covers an unreadable block cannot be compared.
        index_is_known_ = index_is_known_ && place->offset == expected_offset;
        expected_offset = place->end();
        if (!is_known(place->type()) || has_unknown_flags(place->header)) {
            skip_block(*place);
            continue;
        }
        if (const std::optional<block_bytes> payload = file_.load(*place)) {
            check_block(*place, *payload);
        } else if (place->type() == block_type::index) {
            index_.begin_section_after(place->offset);
            index_is_known_ = true;
        } else {
            index_.add(place->header);
            index_is_known_ = false;
        }
    }
    if (!found_.has_end || found_.reason != end_reason::repaired) {
        for (const std::string& sentence : unnamed_.sentences()) {
            file_.report("{}", sentence);
        }
    }
    add_saturating(found_.lost, losses_.lost());
    add_saturating(found_.overwritten, sum_of(losses_, overwritten_count));
    if (host_.empty()) {
        file_.report("the blocks that state the host of the recording are missing");
    }
    found_.has_segment = segment_.has_value();
    if (!segment_) {
        file_.report("the blocks that state the clock and the rings of the records are missing");
    }
    found_.size = file_.size();
    found_.is_being_written = file_.is_being_written();
    found_.damages = file_.damages().sentences();
    return std::move(found_);
}

}  // namespace

file_check_result check_file(const std::string& path) {
    return file_checker(path).run();
}

}  // namespace elog
