// SPDX-License-Identifier: MIT
#include "file/file_check.hpp"

#include <algorithm>
#include <bitset>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "base/user_error.hpp"
#include "file/block_contents.hpp"
#include "file/index_builder.hpp"
#include "record/ring_records.hpp"

namespace elog {
namespace {

using block_bytes = std::vector<std::uint8_t>;

class file_checker {
  public:
    explicit file_checker(const std::string& path) : file_(path) {}

    file_check_result run();

  private:
    struct ring_state {
        std::uint64_t next = 0;  // sequence number
        std::uint64_t time = 0;  // of its last record
    };

    void check_block(const block_location& place, const block_bytes& payload);
    void check_host(const block_location& place, const block_bytes& payload);
    void check_clock(const block_location& place, const block_bytes& payload);
    void check_provider(const block_location& place, const block_bytes& payload);
    void check_records(const block_location& place, const block_bytes& payload);
    void check_content(const block_location& place, const records_block& block,
                       std::span<const std::uint8_t> records, ring_state& ring);
    void check_loss(const block_location& place, const block_bytes& payload);
    void check_index(const block_location& place, const block_bytes& payload);
    void check_offsets(const block_location& place, const block_bytes& payload);
    void check_end(const block_location& place, const block_bytes& payload);

    block_file file_;
    file_check_result found_;
    std::optional<host_block> host_;
    std::optional<clock_block> clock_;
    std::optional<offsets_block> offsets_;
    std::bitset<0x10000> providers_;
    std::map<std::uint32_t, ring_state> rings_;
    std::uint64_t skipped_ = 0;  // record numbers that are neither present nor counted as lost
    std::uint64_t invalid_ = 0;  // records, as counted by loss blocks
    // The index block that is due, unless a block before it could not be read.
    index_builder index_;
    bool index_is_known_ = true;
};

void file_checker::check_host(const block_location& place, const block_bytes& payload) {
    index_.add(place.header);
    const auto host = checked_head<host_block>(file_, place, payload);
    if (!host) {
        return;
    }
    if (host->version != file_version || !is_valid(*host)) {
        file_.report("the host at {} is invalid", place.offset);
    } else if (host_ && std::memcmp(&*host_, &*host, sizeof *host) != 0) {
        file_.report("the host at {} differs from the one before it", place.offset);
    }
    host_ = host;
}

void file_checker::check_clock(const block_location& place, const block_bytes& payload) {
    const auto clock = checked_head<clock_block>(file_, place, payload);
    if (!clock) {
        index_.add(place.header);
        return;
    }
    index_.add(place.header, *clock);
    if (clock_ && (clock->clock < clock_->clock || clock->monotonic < clock_->monotonic)) {
        file_.report("the clocks at {} go backwards", place.offset);
    }
    clock_ = clock;
}

void file_checker::check_provider(const block_location& place, const block_bytes& payload) {
    index_.add(place.header);
    const auto block = checked_head<provider_block>(file_, place, payload);
    if (!block) {
        return;
    }
    try {
        const auto schema = std::span(payload).subspan(sizeof *block);
        if (provider_schema::parse(schema).binary.size() != block->schema_size ||
            schema.size() != block->schema_size) {
            file_.report("the schema of the provider at {} has another size", place.offset);
        }
    } catch (const user_error& error) {
        file_.report("the schema of the provider at {} cannot be used: {}", place.offset,
                     error.what());
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
    if (host_ && block.ring >= host_->ring_count) {
        file_.report("the records at {} are of ring {}, which does not exist", place.offset,
                     block.ring);
    }
    const auto records = std::span(payload).subspan(sizeof block);
    const checked_records sound = elog::check_records(records);
    if (sound.size != records.size() || sound.count != block.count || sound.count == 0) {
        file_.report("the block at {} holds {} sound records instead of {}", place.offset,
                     sound.count, block.count);
    }
    found_.records += sound.count;
    found_.record_bytes += sound.size;
    found_.lost += block.lost_before;
    found_.overwritten += (block.flags & records_overwritten) != 0 ? block.lost_before : 0;
    const auto [known, is_new] = rings_.try_emplace(block.ring);
    ring_state& ring = known->second;
    const std::uint64_t first_lost =
        block.sequence - std::min<std::uint64_t>(block.sequence, block.lost_before);
    const bool is_first = is_new && host_ && host_->part > 1;
    if (block.sequence < block.lost_before || first_lost < ring.next) {
        file_.report("the records at {} repeat numbers of earlier records", place.offset);
    } else if (!is_first) {
        skipped_ += first_lost - ring.next;
    }
    check_content(place, block, records.first(sound.size), ring);
    ring.next = block.sequence + sound.count;
}

void file_checker::check_content(const block_location& place, const records_block& block,
                                 std::span<const std::uint8_t> records, ring_state& ring) {
    std::uint64_t earliest = UINT64_MAX;
    std::uint64_t latest = 0;
    std::uint64_t unknown = 0;
    bool is_sorted = true;
    run_reader reader(records);
    for (record_view record; reader.next(record);) {
        if (!has_custom_time(record)) {
            is_sorted = is_sorted && record.time >= ring.time;
            ring.time = record.time;
        }
        earliest = std::min(earliest, record.time);
        latest = std::max(latest, record.time);
        unknown += providers_.test(record.provider) ? 0U : 1U;
    }
    if (earliest != block.earliest || latest != block.latest) {
        file_.report("the records at {} have other times than their block says", place.offset);
    }
    if (unknown != 0) {
        file_.report("{} of the records at {} are of providers that were not named before", unknown,
                     place.offset);
    }
    // With CLOCK_MONOTONIC, a writer may be preempted between reading the clock and storing the
    // record.
    if (!is_sorted && host_ && host_->clock == EVENTLOG_CLOCK_TSC) {
        file_.report("the records at {} are out of the order of time", place.offset);
    }
}

void file_checker::check_loss(const block_location& place, const block_bytes& payload) {
    index_.add(place.header);
    if (const auto loss = checked_head<loss_block>(file_, place, payload)) {
        found_.lost += lost_count(*loss);
        found_.overwritten += overwritten_count(*loss);
        invalid_ += loss->damaged;
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

void file_checker::check_index(const block_location& place, const block_bytes& payload) {
    const block_bytes expected = index_.take(place.offset);
    found_.has_index = true;
    if (index_is_known_ && payload != expected) {
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
    if (index_is_known_ && end->index != index_.last_index()) {
        file_.report("the end at {} names {} as the place of the index", place.offset, end->index);
    }
    compare_totals(file_, *end, found_.records, found_.lost);
    // Records that failed validation have numbers and are counted in loss blocks; all other missing
    // numbers are losses.
    if (file_.damages().empty() && skipped_ > invalid_) {
        file_.report("{} record numbers are missing without a loss", skipped_ - invalid_);
    }
}

void file_checker::check_block(const block_location& place, const block_bytes& payload) {
    switch (place.type()) {
        case block_type::host:
            return check_host(place, payload);
        case block_type::clock:
            return check_clock(place, payload);
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
    }
    index_.add(place.header);  // of a newer version
}

file_check_result file_checker::run() {
    block_walker walker(file_, sizeof(file_header), 0);
    std::uint64_t expected_offset = sizeof(file_header);
    while (const std::optional<block_location> place = walker.next()) {
        ++found_.blocks;
        // An index that covers an unreadable block cannot be compared.
        index_is_known_ = index_is_known_ && place->offset == expected_offset;
        expected_offset = place->end();
        if (has_unknown_flags(place->header)) {
            index_.add(place->header);
            continue;
        }
        if (const std::optional<block_bytes> payload = file_.load(*place)) {
            check_block(*place, *payload);
        } else if (place->type() == block_type::index) {
            static_cast<void>(index_.take(place->offset));
            index_is_known_ = true;
        } else {
            index_.add(place->header);
            index_is_known_ = false;
        }
    }
    if (!host_) {
        file_.report("the blocks that say how it was recorded are missing");
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
