// SPDX-License-Identifier: MIT
#include "file/file_writer.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>

#include "base/crc32c.hpp"
#include "base/saturating.hpp"
#include "base/test_override.hpp"
#include "base/user_error.hpp"
#include "record/ring_records.hpp"

namespace elog {
namespace {

template <class Block>
std::span<const std::uint8_t> bytes_of(const Block& block) noexcept {
    return {reinterpret_cast<const std::uint8_t*>(&block), sizeof block};
}

/// Covers all bytes before the checksum, which is the last member.
template <class Header>
void set_checksum(Header& header) noexcept {
    header.checksum = crc32c(bytes_of(header).first(offsetof(Header, checksum)));
}

// A reserve holds an index with its entries, host and segment, and notes; and a loss of each ring
// and provider.
constexpr std::uint64_t reserve_fixed = std::uint64_t{64} << 10U;

// Smaller payloads are not worth compressing.
constexpr std::size_t compressible_size = 128;

/// A length and the text, cut to what the length can state.
void append_text(std::vector<std::uint8_t>& bytes, std::string_view text) {
    text = text.substr(0, UINT8_MAX);
    bytes.push_back(static_cast<std::uint8_t>(text.size()));
    bytes.insert(bytes.end(), text.begin(), text.end());
}

std::vector<std::uint8_t> texts_of(std::string_view first, std::string_view second) {
    std::vector<std::uint8_t> bytes;
    append_text(bytes, first);
    append_text(bytes, second);
    return bytes;
}

/// Tests that locate records by the layout of a ring need verbatim ones.
bool compacts_by_default() {
    return test_override("EVENTLOG_TEST_COMPACTION", 1, 0, 1) != 0;
}

recording_host host_of(const file_options& options) {
    recording_host host = this_host(options.clock, options.ring_count);
    host.command = options.command;
    host.recording = options.recording != 0 ? options.recording : generate_identity();
    host.part = options.part;
    host.origin = segment_origin::recorded;
    host.serial = options.serial;
    return host;
}

/// Without bytes that the format does not have.
std::string_view command_text(const std::string& command) noexcept {
    constexpr std::size_t size_max = 1024;
    return std::string_view(command).substr(0, std::min(command.find('\0'), size_max));
}

}  // namespace

std::uint64_t generate_identity() {
    std::uint64_t drawn = 0;
    // getrandom() returns up to 256 bytes completely once the kernel's generator is initialized.
    if (::getrandom(&drawn, sizeof drawn, 0) != static_cast<ssize_t>(sizeof drawn)) {
        throw user_error("No random number is available ({}). Use a kernel with getrandom.",
                         std::strerror(errno));
    }
    return drawn == 0 ? 1 : drawn;
}

file_writer::file_writer(file_options options)
    : host_(host_of(options)),
      output_({std::move(options.path), options.existing, options.descriptor,
               std::move(options.should_abort), options.has_reserve, options.mode, options.replaced,
               std::move(options.wait_for_space)}) {
    compress(options.compression);
    allow_compaction(compacts_by_default());
    try {
        write_header();
    } catch (...) {
        output_.discard();  // nothing in it can be read
        throw;
    }
}

file_writer::file_writer(std::string path, recording_host host)
    : host_(std::move(host)), output_({std::move(path)}) {
    allow_compaction(compacts_by_default());
    write_header();
}

void file_writer::compress(int level) {
    compression_ = level;
    if (level != 0 && !compressor_) {
        compressor_.emplace(level);
    }
}

void file_writer::use_reserve() noexcept {
    uses_reserve_ = true;
    output_.use_reserve();
}

/// For what is written when the disk is full.
std::uint64_t file_writer::reserve() const noexcept {
    const std::size_t losses = std::max(providers_.size(), expected_losses_);
    return reserve_fixed + (host_.ring_count + losses + 1) * loss_size_max;
}

void file_writer::write_header() {
    identity_ = static_cast<std::uint32_t>(generate_identity());
    file_header header{};
    header.magic = file_magic;
    header.version = file_version;
    header.version_minor = file_version_minor;
    header.identity = identity_;
    set_checksum(header);
    const std::array<bytes, 1> parts{bytes_of(header)};
    output_.append(parts, reserve());
    write_host();
}

/// Nothing can be read without these blocks, so there are several copies.
void file_writer::write_host() {
    host_block host{};
    host.head_size = sizeof host;
    host.version = file_version;
    host.part = host_.part;
    host.recording = host_.recording;
    std::copy(host_.boot.begin(), host_.boot.end(), std::begin(host.boot));
    copy_text(host.host_name, host_.host_name);
    copy_text(host.kernel, host_.kernel);
    copy_text(host.machine, host_.machine);
    const std::string_view command = command_text(host_.command);
    index_.add(
        write_block(block_type::host, bytes_of(host),
                    {reinterpret_cast<const std::uint8_t*>(command.data()), command.size()}));
    segment_block segment{};
    segment.head_size = sizeof segment;
    segment.clock = host_.clock;
    segment.ring_count = host_.ring_count;
    segment.origin = static_cast<std::uint16_t>(host_.origin);
    segment.serial = host_.serial;
    index_.add(write_block(block_type::segment, bytes_of(segment)));
}

/// Damage of the first sectors costs neither the host nor the providers of later records. All of it
/// is written again, in the reserve, if the disk becomes full in between: readers accept
/// repetitions.
void file_writer::write_second_host() {
    write_host();
    for (const early_block& early : early_) {
        index_.add(write_block(early.type, early.head, early.body));
    }
    has_second_host_ = true;
    early_.clear();
    early_size_ = 0;
}

void file_writer::write_metadata(block_type type, bytes head, bytes body) {
    const std::size_t size = head.size() + body.size();
    if (!has_second_host_ && output_.size() < second_host_offset && size <= repeated_payload_max) {
        early_.push_back({type, {head.begin(), head.end()}, {body.begin(), body.end()}});
        early_size_ += block_size_in_file(static_cast<std::uint32_t>(size)) + sizeof(index_entry);
    }
    index_.add(write_block(type, head, body));
}

std::uint64_t file_writer::host_size() const noexcept {
    const std::size_t command = command_text(host_.command).size();
    return block_size_in_file(static_cast<std::uint32_t>(sizeof(host_block) + command)) +
           block_size_in_file(sizeof(segment_block)) + 2 * sizeof(index_entry);
}

void file_writer::write_clock(const eventlog_clock_sample& pair, std::uint64_t watermark) {
    write_due_blocks();
    clock_block block{};
    block.head_size = sizeof block;
    block.reading = {pair.clock, pair.monotonic, pair.realtime, watermark};
    index_.add(write_block(block_type::clock, bytes_of(block)), block.reading);
}

void file_writer::write_offsets(const clock_offsets& offsets) {
    write_due_blocks();
    offsets_block block{};
    block.head_size = sizeof block;
    block.clock = offsets.clock;
    block.boottime = offsets.boottime;
    block.tai = offsets.tai;
    index_.add(write_block(block_type::offsets, bytes_of(block)));
}

/// Unless it is the last one that has been written with its hash, which is not collision-resistant.
void file_writer::write_schema(const provider_schema& schema) {
    std::vector<std::uint8_t>& written = schemas_[schema.hash];
    if (written == schema.binary) {
        return;
    }
    schema_block block{};
    block.head_size = sizeof block;
    block.size = static_cast<std::uint32_t>(schema.binary.size());
    block.hash = schema.hash;
    write_metadata(block_type::schema, bytes_of(block), schema.binary);
    written = schema.binary;
    write_due_blocks();
}

std::uint32_t file_writer::write_process(const provider_instance& provider) {
    process_key key(provider.pid, provider.uid, provider.start_time, provider.parent,
                    provider.process);
    const auto known = processes_.find(key);
    if (known != processes_.end()) {
        return known->second;
    }
    process_block block{};
    block.head_size = sizeof block;
    block.id = static_cast<std::uint32_t>(processes_.size());
    block.pid = provider.pid;
    block.uid = provider.uid;
    block.start_time = provider.start_time;
    block.parent = provider.parent;
    std::memcpy(static_cast<char*>(block.name), provider.process.data(),
                std::min(provider.process.size(), sizeof block.name));
    write_metadata(block_type::process, bytes_of(block));
    processes_.emplace(std::move(key), block.id);
    write_due_blocks();
    return block.id;
}

/// The number of the provider's first event.
std::uint32_t file_writer::number_events(const provider_instance& provider) {
    if (provider.event_base != 0 && events_.add(provider)) {
        return provider.event_base;
    }
    const std::uint32_t first = next_event_;
    next_event_ += static_cast<std::uint32_t>(provider.schema.events.size());
    return first;
}

void file_writer::write_provider(const provider_instance& provider) {
    write_schema(provider.schema);
    provider_block block{};
    block.head_size = sizeof block;
    block.id = static_cast<std::uint16_t>(provider.id);
    block.process = write_process(provider);
    block.first_event = number_events(provider);
    block.event_count = static_cast<std::uint32_t>(provider.schema.events.size());
    block.schema = provider.schema.hash;
    write_metadata(block_type::provider, bytes_of(block));
    compactor_.add_provider(provider.id, block.first_event, provider.schema);
    providers_.try_emplace(provider.id, provider_names{provider.schema.name, provider.process,
                                                       provider.pid, provider.start_time});
    write_due_blocks();
}

std::uint64_t provider_size_max(const provider_instance& provider) noexcept {
    const std::size_t schema = sizeof(schema_block) + provider.schema.binary.size();
    return block_size_in_file(static_cast<std::uint32_t>(schema)) +
           block_size_in_file(sizeof(process_block)) + block_size_in_file(sizeof(provider_block)) +
           3 * sizeof(index_entry);
}

void file_writer::write_run(const record_run& run) {
    write_due_blocks();
    records_block block{};
    block.head_size = sizeof block;
    block.flags = run.overwritten ? records_overwritten : 0;
    block.ring = static_cast<std::uint16_t>(run.ring);
    block.count = run.count;
    block.sequence = run.sequence;
    block.lost_before = run.lost_before;
    block.earliest = UINT64_MAX;
    std::size_t decoded_size = 0;
    run_reader records(run);
    for (record_view record; records.next(record);) {
        block.earliest = std::min(block.earliest, record.time);
        block.latest = std::max(block.latest, record.time);
        decoded_size += ring_size(record);
    }
    const bool may_compact = may_compact_ && decoded_size <= records_size_max;
    bytes body = may_compact ? compactor_.compact(run) : bytes{};
    auto encoding = record_encoding::compacted;
    if (body.empty()) {
        body = run.bytes;
        encoding = record_encoding::verbatim;
        decoded_size = body.size();
        block.context = needs_context(run) ? run.context : 0;
    }
    block.encoding = static_cast<std::uint8_t>(encoding);
    block.decoded_size = static_cast<std::uint32_t>(decoded_size);
    index_.add(write_block(block_type::records, bytes_of(block), body), block);
    totals_.records += run.count;
    add_saturating(totals_.lost, run.lost_before);
}

void file_writer::write_loss(const loss_report& loss) {
    write_due_blocks();
    const auto known = loss.scope == loss_scope::provider && loss.provider.empty()
                           ? providers_.find(loss.index)
                           : providers_.end();
    const provider_names names =
        known != providers_.end()
            ? known->second
            : provider_names{loss.provider, loss.process, loss.pid, loss.start_time};
    loss_block block{};
    block.head_size = sizeof block;
    block.scope = static_cast<std::uint8_t>(loss.scope);
    block.index = static_cast<std::uint16_t>(loss.index);
    block.full = loss.full;
    block.too_large = loss.too_large;
    block.busy = loss.busy;
    block.unattached = loss.unattached;
    block.refused = loss.refused;
    block.no_memory = loss.no_memory;
    block.damaged = loss.damaged;
    block.overwritten = loss.overwritten;
    block.unwritten = loss.unwritten;
    block.start_time = names.start_time;
    block.pid = names.pid;
    std::memcpy(static_cast<char*>(block.process), names.process.data(),
                std::min(names.process.size(), sizeof block.process));
    std::vector<std::uint8_t> body;
    append_text(body, names.provider);
    index_.add(write_block(block_type::loss, bytes_of(block), body));
    std::uint64_t& counted = losses_[{loss.scope, loss.index}];
    totals_.lost -= std::min(totals_.lost, counted);
    counted = lost_count(loss);
    add_saturating(totals_.lost, counted);
}

void file_writer::write_note(note_block note, std::span<const std::uint8_t> body) {
    write_due_blocks();
    note.head_size = sizeof note;
    index_.add(write_block(block_type::note, bytes_of(note), body));
}

void file_writer::write_mark(const recording_mark& mark) {
    const note_kind kind = mark.kind == mark_kind::pause ? note_kind::pause : note_kind::resume;
    write_note({0, static_cast<std::uint16_t>(kind), 0, 0, {mark.time, mark.number, 0, 0, 0}}, {});
}

void file_writer::write_notes(const recording_notes& notes) {
    if (notes.scope) {
        const command_scope_counts& scope = *notes.scope;
        write_note({0,
                    static_cast<std::uint16_t>(note_kind::command_scope),
                    0,
                    0,
                    {scope.outside, scope.undecided, scope.undecided_processes, 0, 0}},
                   {});
    }
    if (!notes.omitted) {
        return;
    }
    const auto omitted = static_cast<std::uint16_t>(note_kind::omitted);
    const sampling_report& all = *notes.omitted;
    write_note({0, omitted, 0, 0, {0, all.kept, all.by_sampling, all.by_rate, all.max_rate}},
               texts_of("", ""));
    // The reserve has no space for any number of events.
    for (const sampled_event& each : uses_reserve_ ? std::vector<sampled_event>() : all.events) {
        write_note({0,
                    omitted,
                    0,
                    0,
                    {each.every, each.kept, each.by_sampling, each.by_rate, all.max_rate}},
                   texts_of(each.provider, each.event));
    }
}

/// Before the next block: when the disk is full then, no block fails that has been written.
void file_writer::write_due_blocks() {
    if (!has_second_host_ && output_.size() >= second_host_offset) {
        write_second_host();
    }
    if (index_.is_due()) {
        write_index();
    }
}

void file_writer::write_index() {
    if (has_second_host_) {
        write_host();
    } else {
        write_second_host();
    }
    const std::uint64_t offset = output_.size();
    write_block(block_type::index, index_.payload(offset));
    index_.begin_section_after(offset);
}

void file_writer::write_end(end_reason reason, std::optional<file_totals> totals) {
    const file_totals said = totals.value_or(totals_);
    use_reserve();
    if (!index_.empty()) {
        write_index();
    }
    end_block end{};
    end.head_size = sizeof end;
    end.reason = static_cast<std::uint16_t>(reason);
    end.index = static_cast<std::uint32_t>(output_.size() - index_.last_index());
    end.records = said.records;
    end.lost = said.lost;
    write_block(block_type::end, bytes_of(end));
    output_.release_reserve();
}

std::uint64_t file_writer::size_with(std::uint64_t payload) const noexcept {
    // One index before the block and one after it, each with a host; and the second host.
    const std::uint64_t index = sizeof(block_header) + sizeof(index_block) + host_size();
    const std::uint64_t entries = (index_.size() + 1) * sizeof(index_entry);
    return output_.size() + sizeof(block_header) + padded_payload_size(payload) + 2 * index +
           host_size() + early_size_ + entries + end_block_size;
}

block_header file_writer::write_block(block_type type, bytes head, bytes body) {
    block_header header{};
    const bool may_compress = type == block_type::schema || type == block_type::records;
    if (compression_ != 0 && may_compress && body.size() >= compressible_size) {
        const bytes frame = compressor_->compress(body);
        if (!frame.empty()) {
            body = frame;
            header.flags = block_compressed;
        }
    }
    header.magic = block_magic;
    header.type = static_cast<std::uint16_t>(type);
    header.size = static_cast<std::uint32_t>(head.size() + body.size());
    header.payload_checksum = crc32c(body, crc32c(head));
    header.number = next_block_;
    header.identity = identity_;
    set_checksum(header);
    static constexpr std::array<std::uint8_t, block_alignment> zeros{};
    const std::array<bytes, 4> parts{
        bytes_of(header), head, body,
        bytes(zeros).first(padded_payload_size(header.size) - header.size)};
    output_.append(parts, reserve());
    ++next_block_;
    return header;
}

}  // namespace elog
