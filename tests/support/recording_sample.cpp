// SPDX-License-Identifier: MIT
#include "recording_sample.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>

#include <eventlog/eventlog.hpp>

#include "base/crc32c.hpp"
#include "base/user_error.hpp"
#include "record/ring_records.hpp"

namespace eventlog::test {
namespace {

using file_test = eventlog::provider<"file_test", mark>;

}  // namespace

bytes make_records(std::uint64_t first, std::uint64_t last) {
    bytes made;
    made.reserve((last - first + 1) * elog::ring_size(sizeof(mark)));
    for (std::uint64_t number = first; number <= last; ++number) {
        const mark payload{number, checksum_of(number)};
        elog::record_view record;
        record.time = time_of(number);
        record.thread = 42;
        record.payload = {reinterpret_cast<const std::uint8_t*>(&payload), sizeof payload};
        elog::append_record(made, record);
    }
    return made;
}

elog::provider_instance mark_provider(std::uint32_t id) {
    elog::provider_instance provider;
    provider.id = id;
    provider.pid = 7;
    provider.process = "tester";
    provider.schema = elog::provider_schema::parse(file_test::schema());
    return provider;
}

void write_sample(const std::string& path, const sample_options& options) {
    elog::file_writer writer(elog::file_options{path, EVENTLOG_CLOCK_MONOTONIC, sample_rings, 0, 0,
                                                options.compression});
    writer.write_clock({0, 0, realtime_ahead});
    writer.write_provider(mark_provider());
    std::array<std::uint64_t, sample_rings> attempted{};
    std::uint32_t ring = 0;
    for (std::uint64_t first = 1; first <= options.records; first += options.block) {
        const std::uint64_t last = std::min(first + options.block - 1, options.records);
        const bytes records = make_records(first, last);
        elog::record_run run;
        run.ring = ring++ % sample_rings;
        run.count = last - first + 1;
        run.lost_before = first == options.gap_before ? 5 : 0;
        run.overwritten = run.lost_before != 0 && options.overwritten;
        run.sequence = attempted[run.ring] + run.lost_before;
        run.bytes = records;
        writer.write_run(run);
        attempted[run.ring] = run.sequence + run.count;
    }
    writer.write_loss(elog::trailing_loss(1, 3));
    const std::uint64_t end = time_of(options.records) + 1000;
    writer.write_clock({end, end, end + static_cast<std::uint64_t>(realtime_ahead)});
    if (options.end) {
        writer.write_end();
    }
}

bytes contents(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void replace(const std::string& path, const bytes& with) {
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(with.data()),
               static_cast<std::streamsize>(with.size()));
}

sample_contents read_sample(const std::string& path, elog::time_range range) {
    sample_contents result;
    try {
        elog::file_reader file(path, range);
        result.opened = true;
        std::uint64_t time = 0;
        file.read([&](const elog::merged_record& record) {
            const elog::record_view& decoded = record.record;
            result.lost += record.lost_before;
            result.overwritten += record.overwritten ? record.lost_before : 0;
            mark payload{};
            const bool is_mark = decoded.payload.size() == sizeof payload;
            if (is_mark) {
                std::memcpy(&payload, decoded.payload.data(), sizeof payload);
            }
            const bool is_right = is_mark && payload.check == checksum_of(payload.number) &&
                                  decoded.time == time_of(payload.number) && decoded.time >= time &&
                                  result.numbers.insert(payload.number).second;
            result.wrong += is_right ? 0U : 1U;
            time = decoded.time;
        });
        result.damages = file.damages();
        result.has_end = file.end().has_value();
    } catch (const elog::user_error&) {
        // A file that cannot be opened is reported, too.
    }
    return result;
}

std::vector<block_location> blocks_of(const bytes& file) {
    std::vector<block_location> blocks;
    std::uint64_t offset = sizeof(elog::file_header);
    while (file.size() - offset >= sizeof(elog::block_header)) {
        block_location block{offset, {}, 0};
        std::memcpy(&block.header, file.data() + offset, sizeof block.header);
        block.end = offset + elog::block_size_in_file(block.header.size);
        blocks.push_back(block);
        if (block.end >= file.size()) {
            break;
        }
        offset = block.end;
    }
    return blocks;
}

void update_block_checksums(bytes& file, std::uint64_t offset) {
    elog::block_header header{};
    std::memcpy(&header, file.data() + offset, sizeof header);
    const std::uint64_t payload = offset + sizeof header;
    if (payload <= file.size() && file.size() - payload >= header.size) {
        header.payload_checksum = elog::crc32c(std::span(file).subspan(payload, header.size));
    }
    std::memcpy(file.data() + offset, &header, sizeof header);
    header.checksum =
        elog::crc32c(std::span(file).subspan(offset, offsetof(elog::block_header, checksum)));
    std::memcpy(file.data() + offset, &header, sizeof header);
}

}  // namespace eventlog::test
