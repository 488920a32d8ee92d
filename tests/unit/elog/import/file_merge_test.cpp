// SPDX-License-Identifier: MIT
//
// Merging recordings: which may share a file, and that the result has the content of its sources.
#include "import/file_merge.hpp"

#include <sys/resource.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "build_kind.hpp"
#include "decoded_records.hpp"
#include "file/file_check.hpp"
#include "file/file_reader.hpp"
#include "recording_sample.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;

constexpr std::uint64_t second = 1'000'000'000;

std::string path_of(const std::string& name) {
    return test::scratch_directory() + "/" + name;
}

/// The properties in which the files of these tests differ.
struct origin {
    const char* host = "here";
    std::uint64_t recording = 0;  // 0: a new recording
    std::uint32_t rings = test::sample_rings;
    std::uint32_t clock = EVENTLOG_CLOCK_MONOTONIC;
    std::uint64_t start = 1000 * second;  // of the machine
    std::uint64_t rate = 1;               // ticks per nanosecond
    std::uint64_t last_reading =
        0;  // time of the last clock reading; 0: right after the last record
};

elog::recording_host host_of(const origin& from) {
    elog::recording_host host;
    host.clock = from.clock;
    host.ring_count = from.rings;
    host.recording = from.recording == 0 ? elog::generate_identity() : from.recording;
    host.host_name = from.host;
    return host;
}

/// Writes the marks `first` to `last` to one ring, with two clock readings.
std::string write_marks(const std::string& name, std::uint64_t first, std::uint64_t last,
                        const origin& from = {}, std::uint32_t ring = 0) {
    elog::file_writer writer(path_of(name), host_of(from));
    const auto write_clock = [&](std::uint64_t time) {
        writer.write_clock({time, time / from.rate, time / from.rate + from.start});
    };
    write_clock(test::time_of(first) - 5);
    writer.write_provider(test::mark_provider());
    const test::bytes records = test::make_records(first, last);
    elog::record_run run;
    run.ring = ring;
    run.lost_before = 1;
    run.sequence = 1;
    run.count = last - first + 1;
    run.bytes = records;
    writer.write_run(run);
    writer.write_loss(elog::trailing_loss(ring, 2));
    writer.write_loss(elog::provider_loss(0, 3, 4, 5));
    write_clock(from.last_reading == 0 ? test::time_of(last) + 5 : from.last_reading);
    writer.write_end();
    return path_of(name);
}

std::string complaint_about(const std::vector<std::string>& paths) {
    try {
        static_cast<void>(elog::merge_files(paths, {path_of("merged.elog")}));
    } catch (const elog::user_error& error) {
        return error.what();
    }
    return "none";
}

bool mentions(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

TEST(merged_files, contain_all_records_and_losses_of_one_host) {
    const std::string one = write_marks("one.elog", 1, 10);
    const std::string other = write_marks("other.elog", 11, 30, {}, 1);
    const elog::merge_summary summary = elog::merge_files({other, one}, {path_of("merged.elog")});
    EXPECT_EQ(summary.copied.records, 30U);
    EXPECT_EQ(summary.copied.lost, 2 * (1U + 2 + 4 + 5));
    EXPECT_EQ(summary.copied.left_out, 0U);
    EXPECT_TRUE(summary.damaged.empty());
    EXPECT_TRUE(summary.unfinished.empty());
    const test::sample_contents read = test::read_sample(path_of("merged.elog"));
    EXPECT_EQ(read.numbers.size(), 30U);
    EXPECT_EQ(read.wrong, 0U);
    EXPECT_TRUE(read.damages.empty());
    const elog::file_check_result found = elog::check_file(path_of("merged.elog"));
    EXPECT_TRUE(found.damages.empty());
    EXPECT_EQ(found.lost, summary.copied.lost);
    EXPECT_EQ(found.providers, 1U);
}

TEST(merged_files, interleave_by_time) {
    // The files take turns: blocks of twenty records.
    std::vector<std::string> paths;
    elog::recording_host host;
    host.clock = EVENTLOG_CLOCK_MONOTONIC;
    host.ring_count = 2;
    host.recording = 7;
    for (std::uint64_t file = 0; file < 3; ++file) {
        paths.push_back(path_of("turn" + std::to_string(file) + ".elog"));
        elog::file_writer writer(paths.back(), host);
        writer.write_clock({0, 0, second});
        writer.write_provider(test::mark_provider(static_cast<std::uint32_t>(file)));
        std::uint64_t sequence = 0;
        for (std::uint64_t first = 1 + 20 * file; first < 600; first += 60) {
            const test::bytes made = test::make_records(first, first + 19);
            std::vector<elog::record_view> decoded = test::decode_records(made);
            for (elog::record_view& record : decoded) {
                record.provider = static_cast<std::uint32_t>(file);
            }
            const test::bytes records = test::encode_records(decoded);
            elog::record_run run;
            run.sequence = sequence;
            run.count = 20;
            run.bytes = records;
            writer.write_run(run);
            sequence += 20;
        }
        writer.write_end();
    }
    static_cast<void>(elog::merge_files(paths, {path_of("turns.elog"), 3}));
    const test::sample_contents read = test::read_sample(path_of("turns.elog"));
    EXPECT_EQ(read.numbers.size(), 600U);
    EXPECT_EQ(read.wrong, 0U);
    EXPECT_EQ(read.lost, 0U);
    EXPECT_TRUE(elog::check_file(path_of("turns.elog")).damages.empty());
    // The sources have one provider under three numbers.
    EXPECT_EQ(elog::check_file(path_of("turns.elog")).providers, 1U);
}

TEST(merged_files, are_rejected_if_from_several_hosts) {
    const std::string one = write_marks("one.elog", 1, 10);
    origin there;
    there.host = "there";
    const std::string complaint = complaint_about({one, write_marks("there.elog", 11, 20, there)});
    EXPECT_TRUE(mentions(complaint, "one.elog is of the host 'here'")) << complaint;
    EXPECT_TRUE(mentions(complaint, "there.elog of 'there'")) << complaint;
}

TEST(merged_files, are_rejected_across_reboots) {
    const std::string one = write_marks("one.elog", 1, 10);
    origin later;
    later.start = 1002 * second;
    EXPECT_TRUE(
        mentions(complaint_about({one, write_marks("later.elog", 11, 20, later)}), "started anew"));
    // Clocks are routinely set by less than this.
    later.start = 1000 * second + second / 2;
    EXPECT_EQ(complaint_about({one, write_marks("later.elog", 11, 20, later)}), "none");
}

TEST(merged_files, of_one_recording_may_have_clock_set_between_files) {
    origin before;
    before.recording = 4711;
    origin behind = before;
    behind.start = 5000 * second;
    EXPECT_EQ(complaint_about({write_marks("before.elog", 1, 10, before),
                               write_marks("behind.elog", 11, 20, behind)}),
              "none");
}

TEST(merged_files, are_rejected_if_rings_or_clocks_differ) {
    const std::string one = write_marks("one.elog", 1, 10);
    origin other;
    other.rings = test::sample_rings + 1;
    EXPECT_TRUE(mentions(complaint_about({one, write_marks("rings.elog", 11, 20, other)}),
                         "different clocks, CPUs or kernels"));
    other = {};
    other.clock = EVENTLOG_CLOCK_TSC;
    EXPECT_TRUE(mentions(complaint_about({one, write_marks("ticks.elog", 11, 20, other)}),
                         "different clocks, CPUs or kernels"));
}

TEST(merged_files, are_rejected_if_ticks_are_unrelated) {
    origin slow;
    slow.clock = EVENTLOG_CLOCK_TSC;
    slow.last_reading = 10 * second;
    origin fast = slow;
    fast.rate = 4;
    fast.last_reading = 0;
    // Four seconds later.
    const std::uint64_t much = 4'000'000'000;
    const std::string one = write_marks("slow.elog", 1, 10, slow);
    slow.last_reading = 0;
    EXPECT_EQ(complaint_about({one, write_marks("slower.elog", much, much + 10, slow)}), "none");
    EXPECT_TRUE(mentions(complaint_about({one, write_marks("fast.elog", much, much + 10, fast)}),
                         "cannot be put into one order"));
    // A short recording does not determine the rate.
    EXPECT_EQ(complaint_about({write_marks("short.elog", 1, 10, slow),
                               write_marks("fast.elog", much, much + 10, fast)}),
              "none");
}

/// A recording without clock readings.
std::string write_timeless(const std::string& name, bool has_record, bool has_loss) {
    elog::file_writer writer(path_of(name), host_of({}));
    writer.write_provider(test::mark_provider());
    if (has_record) {
        const test::bytes records = test::make_records(20, 20);
        elog::record_run run;
        run.count = 1;
        run.bytes = records;
        writer.write_run(run);
    }
    if (has_loss) {
        writer.write_loss(elog::trailing_loss(0, 1, 0, 0));
    }
    writer.write_end();
    return path_of(name);
}

TEST(merged_files, are_rejected_without_clock_readings) {
    const std::string one = write_marks("one.elog", 1, 10);
    for (const auto& [has_record, has_loss] : {std::pair{true, false}, {false, true}}) {
        const std::string other = write_timeless("timeless.elog", has_record, has_loss);
        EXPECT_TRUE(mentions(complaint_about({one, other}), "cannot be put into one order"));
        EXPECT_EQ(complaint_about({other}), "none");
    }
}

TEST(merged_files, may_lack_clock_readings_if_empty) {
    const std::string one = write_marks("one.elog", 1, 10);
    const std::string none = write_timeless("timeless.elog", false, false);
    EXPECT_EQ(complaint_about({none, one}), "none");
    EXPECT_EQ(test::read_sample(path_of("merged.elog")).numbers.size(), 10U);
}

TEST(merged_files, keep_clock_steps) {
    // The wall clock is set two hours ahead after 100 s; each second has more blocks than an index
    // block lists.
    elog::recording_host host;
    host.clock = EVENTLOG_CLOCK_MONOTONIC;
    host.ring_count = 2;
    host.recording = 7;
    elog::file_writer writer(path_of("set.elog"), host);
    writer.write_provider(test::mark_provider());
    const auto realtime_of = [](std::uint64_t time) {
        return time + (time > 100 * second ? 7200 * second : 0) + 1000 * second;
    };
    std::uint64_t sequence = 0;
    for (std::uint64_t now = 98 * second; now < 104 * second; now += second) {
        writer.write_clock({now, now, realtime_of(now)});
        for (int i = 0; i < 600; ++i) {
            test::bytes records = test::make_records(1, 1);
            const std::uint64_t time = now + 1000 + static_cast<std::uint64_t>(i);
            records =
                elog::map_times(elog::run_reader(records), [&](std::uint64_t) { return time; });
            elog::record_run run;
            run.lost_before = 1;  // a loss starts a new block
            run.sequence = sequence + 1;
            run.count = 1;
            run.bytes = records;
            writer.write_run(run);
            sequence += 2;
        }
    }
    writer.write_clock({104 * second, 104 * second, realtime_of(104 * second)});
    writer.write_end();
    const std::string copy = path_of("copy.elog");
    static_cast<void>(elog::merge_files({path_of("set.elog")}, {copy}));
    EXPECT_TRUE(elog::check_file(copy).damages.empty());
    const auto count = [](const std::string& path, std::uint64_t from, std::uint64_t to) {
        elog::file_reader file(path, {static_cast<std::int64_t>(from * second),
                                      static_cast<std::int64_t>(to * second)});
        EXPECT_TRUE(file.used_index());
        int found = 0;
        file.read([&](const elog::merged_record& /*record*/) { ++found; });
        return found;
    };
    for (const auto& [from, to, expected] : {std::tuple{1098U, 1101U, 1800},
                                             {1099U, 1100U, 600},
                                             {8301U, 8304U, 1800},
                                             {8302U, 8303U, 600},
                                             {1102U, 8300U, 0}}) {
        EXPECT_EQ(count(path_of("set.elog"), from, to), expected);
        EXPECT_EQ(count(copy, from, to), expected);
    }
}

TEST(merged_files, are_in_order_with_damaged_first_block) {
    elog::recording_host host;
    host.clock = EVENTLOG_CLOCK_TSC;
    host.ring_count = 1;
    host.recording = 7;
    const auto write = [&](const char* name, std::uint64_t first) {
        elog::file_writer writer(path_of(name), host);
        writer.write_clock({0, 0, second});
        writer.write_provider(test::mark_provider());
        for (std::uint64_t block = 0; block < 2; ++block) {
            const std::uint64_t begin = first + 10 * block;
            const test::bytes records = test::make_records(begin, begin + 9);
            elog::record_run run;
            run.sequence = 10 * block;
            run.count = 10;
            run.bytes = records;
            writer.write_run(run);
        }
        writer.write_end();
        return path_of(name);
    };
    const std::string one = write("one.elog", 1);
    const std::string other = write("other.elog", 21);
    test::bytes file = test::contents(one);
    for (const test::block_location& block : test::blocks_of(file)) {
        if (block.header.type == static_cast<std::uint16_t>(elog::block_type::records)) {
            // The header claims that its first record is later than all other records.
            file[block.offset + sizeof(elog::block_header) +
                 offsetof(elog::records_block, earliest) + 7] = 0x40;
            break;
        }
    }
    test::replace(one, file);
    const elog::merge_summary summary = elog::merge_files({one, other}, {path_of("merged.elog")});
    EXPECT_EQ(summary.damaged.size(), 1U);
    EXPECT_EQ(summary.copied.records, 30U);
    EXPECT_TRUE(elog::check_file(path_of("merged.elog")).damages.empty());
}

/// Lowers the limit of open files while it lives.
class file_limit {
  public:
    explicit file_limit(rlim_t count) {
        EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
        const rlimit less{count, before_.rlim_max};
        EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &less), 0);
    }
    file_limit(const file_limit&) = delete;
    file_limit& operator=(const file_limit&) = delete;
    ~file_limit() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }

  private:
    rlimit before_{};
};

/// One record at `from`, and pauses of 5 ns that begin at the given times.
std::string write_pauses(const std::string& name, const origin& from, std::uint64_t first_number,
                         std::uint64_t record, const std::vector<std::uint64_t>& pauses) {
    elog::file_writer writer(path_of(name), host_of(from));
    writer.write_clock({0, 0, second});
    writer.write_provider(test::mark_provider());
    const test::bytes bytes = test::make_records(record, record);
    elog::record_run run;
    run.count = 1;
    run.bytes = bytes;
    writer.write_run(run);
    for (std::size_t i = 0; i < pauses.size(); ++i) {
        writer.write_mark({pauses[i], first_number + i, elog::mark_kind::pause});
        writer.write_mark({pauses[i] + 5, first_number + i, elog::mark_kind::resume});
    }
    writer.write_end();
    return path_of(name);
}

/// The second file of one recording is opened when all of the other recording's pauses are known.
TEST(merged_files, number_the_pauses_of_each_recording_apart) {
    origin one;
    one.recording = 1;
    origin other;
    other.recording = 2;
    const std::vector<std::string> paths{
        write_pauses("pauses1.elog", one, 1, 1, {test::time_of(2)}),
        write_pauses("pauses2.elog", other, 1, 10, {test::time_of(12), test::time_of(14)}),
        write_pauses("pauses3.elog", one, 1, 20, {test::time_of(2), test::time_of(22)})};
    static_cast<void>(elog::merge_files(paths, {path_of("merged_pauses.elog")}));
    elog::file_reader merged(path_of("merged_pauses.elog"));
    std::map<std::uint64_t, std::vector<std::uint64_t>> times;  // by number
    for (const elog::recording_mark& mark : merged.take_marks()) {
        times[mark.number].push_back(mark.time);
    }
    std::set<std::vector<std::uint64_t>> pauses;
    for (const auto& [number, both] : times) {
        pauses.insert(both);
    }
    std::set<std::vector<std::uint64_t>> expected;
    for (const std::uint64_t place : {2U, 12U, 14U, 22U}) {
        expected.insert({test::time_of(place), test::time_of(place) + 5});
    }
    EXPECT_EQ(pauses, expected) << "each once, with a number of its own";
}

TEST(merged_files, may_exceed_soft_limit_of_open_files) {
    std::vector<std::string> paths;
    for (int file = 0; file < 40; ++file) {
        paths.push_back(write_marks("many" + std::to_string(file) + ".elog", 1, 10));
    }
    const file_limit few(20);
    EXPECT_EQ(elog::merge_files(paths, {path_of("merged.elog")}).copied.records, 400U);
}

TEST(merged_files, report_open_file_limit) {
    if (test::has_address_sanitizer) {
        GTEST_SKIP() << "where no file can be open, the sanitizers cannot ask what memory is";
    }
    const std::string one = write_marks("one.elog", 1, 10);
    const file_limit none(0);
    try {
        const elog::file_reader file(one);
        FAIL() << "a file was opened";
    } catch (const elog::user_error& error) {
        EXPECT_TRUE(mentions(error.what(), "Allow more open files")) << error.what();
    }
}

TEST(copied_records, of_unknown_provider_count_as_lost) {
    elog::recording_host host;
    host.clock = EVENTLOG_CLOCK_MONOTONIC;
    host.ring_count = 2;
    elog::record_copier copier({path_of("copied.elog")}, host, {{0, 0, second}});
    const test::bytes bytes = test::make_records(1, 2);
    const std::vector<elog::record_view> records = test::decode_records(bytes);
    elog::merged_record first{0, 5, records.front()};
    elog::merged_record next{0, 0, records.back()};
    const elog::provider_map none;
    const elog::provider_map known{{0, test::mark_provider()}};
    copier.write(first, 0, none);
    copier.write(next, 0, known);
    // A loss of an unknown provider.
    copier.write_loss(elog::provider_loss(0, 0, 7, 0), 0, none);
    copier.write_loss(elog::trailing_loss(99, 1), 0, none);
    const elog::copy_summary summary = copier.finish();
    EXPECT_EQ(summary.records, 1U);
    EXPECT_EQ(summary.left_out, 1U);
    EXPECT_EQ(summary.lost, 5U + 1 + 7 + 1);
    EXPECT_TRUE(elog::check_file(path_of("copied.elog")).damages.empty());
    EXPECT_EQ(elog::check_file(path_of("copied.elog")).lost, summary.lost);
}

TEST(copied_records, have_one_loss_of_a_provider_that_many_files_name) {
    const std::string path = path_of("named_losses.elog");
    elog::record_copier copier({path}, EVENTLOG_CLOCK_MONOTONIC, 1);
    const elog::provider_map none;
    // As many providers and files as would have too many numbers if each pair had one.
    for (std::uint32_t source = 0; source < 200; ++source) {
        for (std::uint32_t provider = 0; provider < 100; ++provider) {
            elog::loss_report loss = elog::provider_loss(provider, 0, source < 2 ? 1 : 0, 0);
            loss.provider = "p";
            loss.pid = provider + 1;
            copier.write_loss(loss, source, none);
        }
    }
    EXPECT_EQ(copier.finish().lost, 200U);
    const elog::file_reader file(path);
    EXPECT_EQ(file.losses().size(), 100U);
    EXPECT_EQ(elog::check_file(path).damages, std::vector<std::string>{});
}

TEST(copied_records, keep_their_providers_with_numbers_of_more_than_16_bits) {
    const std::string path = path_of("large_numbers.elog");
    elog::record_copier copier({path}, EVENTLOG_CLOCK_MONOTONIC, 1);
    copier.add_reading({0, 0, second});
    const std::pair<std::uint32_t, std::uint32_t> of_source[] = {{0, 0x10000}, {1, 0}};
    for (const auto& [source, id] : of_source) {
        elog::provider_instance provider = test::mark_provider(id);
        provider.pid = 100 + source;
        const test::bytes bytes = test::make_records(source + 1, source + 1);
        elog::merged_record record{0, 0, test::decode_records(bytes).front()};
        record.record.provider = id;
        copier.write(record, source, {{id, provider}});
    }
    EXPECT_EQ(copier.finish().left_out, 0U);
    std::vector<std::uint32_t> pids;
    elog::file_reader file(path);
    file.read([&](const elog::merged_record& record) {
        pids.push_back(file.providers().at(record.record.provider).pid);
    });
    EXPECT_EQ(pids, (std::vector<std::uint32_t>{100, 101}));
}

}  // namespace
