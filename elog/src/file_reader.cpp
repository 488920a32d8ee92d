// SPDX-License-Identifier: MIT
#include "file_reader.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "crc32c.hpp"
#include "failure.hpp"
#include "read_at.hpp"

namespace elog {
namespace {

template <class Header>
bool is_signed(const Header& header) noexcept {
    return header.checksum ==
           crc32c({reinterpret_cast<const std::uint8_t*>(&header), offsetof(Header, checksum)});
}

/// The first part of a payload as a struct, if the payload is long enough.
template <class Block>
bool copy_head(const std::vector<std::uint8_t>& payload, Block& block) noexcept {
    if (payload.size() < sizeof block) {
        return false;
    }
    std::memcpy(&block, payload.data(), sizeof block);
    return true;
}

std::uint64_t padded(std::uint64_t size) noexcept {
    return (size + block_alignment - 1) / block_alignment * block_alignment;
}

}  // namespace

file_reader::file_reader(std::string path)
    : path_(std::move(path)), file_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status {};
    if (!file_ || ::fstat(file_.get(), &status) != 0) {
        throw failure("The file {} cannot be opened ({}). Check its name and permissions.", path_,
                      std::strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        throw failure("{} is not a file. Give the name of one that elog record -o has written.",
                      path_);
    }
    size_ = static_cast<std::uint64_t>(status.st_size);
    is_being_written_ = ::flock(file_.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    check_file_header();
    scan();
    if (!has_host_) {
        throw failure("The file {} has lost the block that says how it was recorded; nothing in it "
                      "can be read. Record again.",
                      path_);
    }
    next_records_.resize(records_.size());
}

void file_reader::check_file_header() {
    file_header header{};
    if (!read_at(file_, &header, sizeof header, 0) || header.magic != file_magic) {
        throw failure("{} is not an .elog file. Give the name of one that elog record -o has "
                      "written.",
                      path_);
    }
    if (!is_signed(header)) {
        report("the file's header, at 0, is damaged");
    } else if (header.version != file_version) {
        throw failure("The file {} has version {} of the format; this elog knows version {}. Use "
                      "a newer elog.",
                      path_, header.version, file_version);
    }
}

std::optional<block_header> file_reader::header_at(std::uint64_t offset) const {
    block_header header{};
    if (offset > size_ || size_ - offset < sizeof header ||
        !read_at(file_, &header, sizeof header, offset) || header.magic != block_magic ||
        !is_signed(header) || header.size > block_payload_max) {
        return std::nullopt;
    }
    return header;
}

/// Looks for the next whole block header at or behind `offset`.
std::optional<std::uint64_t> file_reader::find_block(std::uint64_t offset) const {
    std::vector<std::uint8_t> window(std::size_t{64} << 10U);
    for (offset = padded(offset); offset < size_ && size_ - offset >= sizeof(block_header);) {
        const std::size_t length = std::min<std::uint64_t>(window.size(), size_ - offset);
        if (!read_at(file_, window.data(), length, offset)) {
            break;
        }
        for (std::size_t at = 0; at + sizeof(block_magic) <= length; at += block_alignment) {
            std::uint32_t magic = 0;
            std::memcpy(&magic, window.data() + at, sizeof magic);
            if (magic == block_magic && header_at(offset + at)) {
                return offset + at;
            }
        }
        offset += length / block_alignment * block_alignment;
    }
    return std::nullopt;
}

void file_reader::scan() {
    std::uint64_t offset = sizeof(file_header);
    std::uint64_t expected = 0;
    while (offset < size_) {
        const std::optional<block_header> header = header_at(offset);
        if (!header && size_ - offset < sizeof(block_header)) {
            report_torn_end(offset);
            return;
        }
        if (!header) {
            const std::optional<std::uint64_t> next = find_block(offset);
            report("bytes {} to {} are not a whole block", offset, next.value_or(size_));
            if (!next) {
                return;
            }
            offset = *next;
            continue;
        }
        if (header->number > expected) {
            report("{} blocks are missing before the one at {}", header->number - expected, offset);
        } else if (header->number < expected) {
            report("the block at {} is out of its order and left out", offset);
            offset += sizeof *header + padded(header->size);
            continue;
        }
        expected = header->number + 1;
        const std::uint64_t payload = offset + sizeof *header;
        if (size_ - payload < header->size) {
            report_torn_end(offset);
            return;
        }
        take_block({payload, *header});
        offset = payload + padded(header->size);
    }
}

void file_reader::report_torn_end(std::uint64_t offset) {
    if (!is_being_written_) {
        report("the file ends in the middle of the block at {}", offset);
    }
}

/// Only where nothing else was wrong: damage explains any difference.
void file_reader::compare_with_end() {
    if (end_ && damages_.empty() &&
        (end_->records != found_.records || end_->lost != found_.lost)) {
        report("the end speaks of {} records and {} lost, but there are {} and {}", end_->records,
               end_->lost, found_.records, found_.lost);
    }
}

std::optional<std::vector<std::uint8_t>> file_reader::load(const block_place& place) {
    std::vector<std::uint8_t> payload(place.header.size);
    if (!read_at(file_, payload.data(), payload.size(), place.offset) ||
        crc32c(payload) != place.header.payload_checksum) {
        report("the block at {} is damaged", place.offset - sizeof(block_header));
        return std::nullopt;
    }
    return payload;
}

void file_reader::take_block(const block_place& place) {
    const auto type = static_cast<block_type>(place.header.type);
    if (type == block_type::records) {
        take_records(place);
        return;
    }
    if (type < block_type::host || type > block_type::end || place.header.flags != 0) {
        return;  // of a newer version: to be skipped
    }
    const std::optional<std::vector<std::uint8_t>> payload = load(place);
    if (!payload) {
        return;
    }
    clock_block clock{};
    loss_block loss{};
    end_block end{};
    bool is_whole = true;
    switch (type) {
        case block_type::host:
            take_host(*payload);
            break;
        case block_type::clock:
            is_whole = copy_head(*payload, clock);
            if (is_whole) {
                clock_.add({clock.clock, clock.monotonic, clock.realtime});
            }
            break;
        case block_type::provider:
            take_provider(place, *payload);
            break;
        case block_type::loss:
            is_whole = copy_head(*payload, loss);
            if (is_whole) {
                losses_.push_back(loss);
            }
            break;
        case block_type::end:
            is_whole = copy_head(*payload, end);
            if (is_whole) {
                end_ = end;
            }
            break;
        case block_type::records:
            break;
    }
    if (!is_whole) {
        report("the block at {} is too short for what it is", place.offset - sizeof(block_header));
    }
}

void file_reader::take_host(const std::vector<std::uint8_t>& payload) {
    host_block host{};
    if (has_host_ || !copy_head(payload, host) || host.ring_count < 1 ||
        host.ring_count > EVENTLOG_RINGS_MAX ||
        (host.clock != EVENTLOG_CLOCK_TSC && host.clock != EVENTLOG_CLOCK_MONOTONIC)) {
        return;
    }
    host.host_name[sizeof host.host_name - 1] = '\0';
    host.kernel[sizeof host.kernel - 1] = '\0';
    host.machine[sizeof host.machine - 1] = '\0';
    host_ = host;
    has_host_ = true;
    clock_ = clock_table(host.clock);
    records_.resize(host.ring_count);
}

void file_reader::take_provider(const block_place& place,
                                const std::vector<std::uint8_t>& payload) {
    provider_block block{};
    if (!copy_head(payload, block) || payload.size() - sizeof block < block.schema_size) {
        report("the provider at {} is damaged", place.offset - sizeof(block_header));
        return;
    }
    try {
        provider_instance provider;
        provider.id = block.id;
        provider.pid = block.pid;
        provider.uid = block.uid;
        provider.process.assign(block.process, ::strnlen(block.process, sizeof block.process));
        provider.schema =
            provider_schema::parse(std::span(payload).subspan(sizeof block, block.schema_size));
        if (!providers_.try_emplace(block.id, std::move(provider)).second) {
            report("the provider at {} has a number that is taken, and is left out",
                   place.offset - sizeof(block_header));
        }
    } catch (const failure& error) {
        report("the provider at {}: {}", place.offset - sizeof(block_header), error.what());
    }
}

void file_reader::take_records(const block_place& place) {
    std::uint32_t ring = 0;
    // Which ring: needed now. The block's checksum is compared when its records are read.
    if (place.header.size < sizeof(records_block) || place.header.flags != 0 ||
        !read_at(file_, &ring, sizeof ring, place.offset + offsetof(records_block, ring)) ||
        ring >= records_.size()) {
        report("the records at {} are damaged", place.offset - sizeof(block_header));
        return;
    }
    records_[ring].push_back(place);
}

std::optional<owned_run> file_reader::load_run(const block_place& place) {
    std::optional<std::vector<std::uint8_t>> payload = load(place);
    records_block block{};
    if (!payload || !copy_head(*payload, block)) {
        return std::nullopt;
    }
    owned_run run;
    run.lost_before = block.lost_before;
    run.bytes.assign(payload->begin() + sizeof block, payload->end());
    const checked_records found = check_records(run.bytes);
    if (found.size != run.bytes.size() || found.count != block.count || found.count == 0) {
        report("the block at {} holds {} sound records instead of {}",
               place.offset - sizeof(block_header), found.count, block.count);
        run.bytes.resize(found.size);
    }
    found_.records += found.count;
    found_.lost += block.lost_before;
    return run.bytes.empty() ? std::nullopt : std::optional(std::move(run));
}

void file_reader::read(const time_merger::take_record& take) {
    std::fill(next_records_.begin(), next_records_.end(), 0);
    found_ = {};
    for (const loss_block& loss : losses_) {
        // What a provider lost for want of room is in its rings' losses.
        const bool of_ring = static_cast<loss_scope>(loss.scope) == loss_scope::ring;
        found_.lost += of_ring ? loss.full + loss.damaged : loss.too_large + loss.busy;
    }
    time_merger merger(host_.ring_count, [this](std::uint32_t ring) -> std::optional<owned_run> {
        while (next_records_[ring] < records_[ring].size()) {
            const block_place& place = records_[ring][next_records_[ring]++];
            if (std::optional<owned_run> run = load_run(place)) {
                return run;
            }
        }
        return std::nullopt;
    });
    merger.merge_rest(take);
    compare_with_end();
}

}  // namespace elog
