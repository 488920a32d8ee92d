// SPDX-License-Identifier: MIT
//
// Recordings of producers that time records by a custom clock.
#include "custom_clock_recording.hpp"

#include <cstring>
#include <numeric>

#include <gtest/gtest.h>

#include "decoded_records.hpp"
#include "scratch.hpp"

namespace eventlog::test::custom_clock {

bytes records_of(const std::vector<timed>& wanted) {
    bytes made;
    for (const timed& each : wanted) {
        const bytes one = make_records(each.number, each.number);
        elog::record_view record = decode_records(one).front();
        record.time = each.time;
        record.flags = each.is_own ? EVENTLOG_RECORD_CUSTOM_TIME : 0;
        elog::append_record(made, record);
    }
    return made;
}

std::uint64_t number_of(const elog::merged_record& record) {
    std::uint64_t number = 0;
    std::memcpy(&number, record.record.payload.data(), sizeof number);
    return number;
}

numbers first_numbers(std::size_t count) {
    numbers all(count);
    std::iota(all.begin(), all.end(), 1);
    return all;
}

custom_clock_recording::custom_clock_recording(const std::string& name, custom_clock_function own,
                                               bool is_ended, std::uint64_t first_number)
    : path(scratch_directory() + "/" + name), next_(first_number) {
    elog::recording_host host;
    host.clock = EVENTLOG_CLOCK_TSC;
    host.ring_count = rings;
    host.recording = 77;
    elog::file_writer writer(path, host);
    writer.write_provider(mark_provider());
    std::vector<std::uint64_t> sequences(rings);
    for (std::uint64_t s = 0; s < seconds; ++s) {
        write_clock(writer, s * second);
        for (std::uint64_t i = 1; s == quiet_second && i < quiet_readings; ++i) {
            write_clock(writer, s * second + i * 400'000);
        }
        for (std::uint64_t b = 0; s != quiet_second && b < blocks; ++b) {
            const std::uint64_t begin = start + s * second + b * (second / blocks);
            write_block(writer, static_cast<std::uint32_t>(b % rings), begin, own, sequences);
        }
    }
    write_clock(writer, seconds * second);
    if (is_ended) {
        writer.write_end();
    }
}

void custom_clock_recording::write_clock(elog::file_writer& writer, std::uint64_t complete) {
    const std::uint64_t passed = complete + late;
    const std::uint64_t set_back = passed < set_back_at * second ? 0 : 3600 * second;
    const std::uint64_t clock = ticks * (start + passed) + passed / 400'000 % 5 * 30'000;
    writer.write_clock({clock, start + passed, 10'000 * second + passed - set_back},
                       ticks * (start + complete));
}

void custom_clock_recording::write_block(elog::file_writer& writer, std::uint32_t ring,
                                         std::uint64_t begin, custom_clock_function own,
                                         std::vector<std::uint64_t>& sequences) {
    std::vector<timed> wanted;
    for (std::uint64_t i = 0; i < in_block; ++i) {
        const std::uint64_t time = begin + late / 2 + i * 1000;
        const bool is_own = ring == 1 || (ring == 2 && i % 2 == 1);
        wanted.push_back({next_++, ticks * (is_own ? own(time) : time), is_own});
    }
    written.insert(written.end(), wanted.begin(), wanted.end());
    const bytes records = records_of(wanted);
    elog::record_run run;
    run.ring = ring;
    run.sequence = sequences[ring];
    run.count = wanted.size();
    run.bytes = records;
    writer.write_run(run);
    sequences[ring] += wanted.size();
}

const std::vector<std::pair<const char*, custom_clock_function>> custom_clocks = {
    {"backwards", backwards},
    {"frozen", frozen},
    {"jumping", jumping},
    {"out_of_order", out_of_order},
    {"slow", slow}};

contents read(elog::file_reader& file) {
    contents found;
    file.read([&](const elog::merged_record& record) {
        const std::uint64_t time = record.record.time;
        const std::uint64_t number = number_of(record);
        const shown one{file.clock().realtime(time), time, elog::has_custom_time(record.record)};
        found.twice += found.records.emplace(number, one).second ? 0U : 1U;
        if (!one.is_own) {
            found.order_of_other_records.push_back(number);
        }
    });
    EXPECT_TRUE(file.damages().empty());
    return found;
}

contents read(const std::string& path, elog::time_range range) {
    elog::file_reader file(path, range);
    return read(file);
}

}  // namespace eventlog::test::custom_clock
