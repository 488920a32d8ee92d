// SPDX-License-Identifier: MIT
//
// Files with random damage, from fixed seeds: a repaired file has no errors, and all records that
// the damaged one has.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "file/file_check.hpp"
#include "file/file_reader.hpp"
#include "file/file_repair.hpp"
#include "file/file_writer.hpp"
#include "random_source.hpp"
#include "record/event_numbers.hpp"
#include "record/ring_records.hpp"
#include "recording_sample.hpp"
#include "scratch.hpp"
#include "trial_size.hpp"

namespace {

namespace test = eventlog::test;
using test::bytes;
using test::random_source;

constexpr std::uint32_t rings = 3;

/// Differences between recorded files.
struct sample_kind {
    std::uint32_t clock = EVENTLOG_CLOCK_TSC;
    std::uint32_t part = 0;
    int compression = 0;
    bool is_verbatim = false;
    bool is_of_rings = false;  // with short records and numbers of events; verbatim
    bool has_end = true;
};

/// The records of `count` marks of a provider, the first one at `time`.
bytes records_of(std::uint32_t provider, std::uint64_t time, std::uint64_t count) {
    bytes records;
    for (std::uint64_t i = 0; i < count; ++i) {
        const test::mark payload{time + i, test::checksum_of(time + i)};
        elog::record_view record;
        record.provider = provider;
        record.time = time + i;
        record.thread = 42;
        record.flags = (time + i) % 7 == 0 ? EVENTLOG_RECORD_CUSTOM_TIME : 0;
        record.payload = {reinterpret_cast<const std::uint8_t*>(&payload), sizeof payload};
        elog::append_record(records, record);
    }
    return records;
}

/// The number of a provider's event in a file of rings.
constexpr std::uint32_t number_of(std::uint32_t provider) {
    return 100 * (provider + 1);
}

constexpr std::uint64_t thread_context = std::uint64_t{42} << EVENTLOG_THREAD_SHIFT;

/// The same as records of a ring. The first ones have the context before them.
bytes ring_records_of(std::uint32_t provider, std::uint64_t time, std::uint64_t count) {
    std::vector<std::uint64_t> words;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t size = sizeof(test::mark);
        const bool is_extended = (time + i) % 7 == 0;
        // Extended, with a context, or short.
        const std::uint64_t kind = is_extended ? 2 : i % 4 == 2 ? 1 : 0;
        words.push_back(std::uint64_t{number_of(provider)} << EVENTLOG_EVENT_SHIFT |
                        kind << EVENTLOG_KIND_SHIFT |
                        (is_extended ? 0 : size) << EVENTLOG_SHORT_SIZE_SHIFT | (time + i));
        if (kind != EVENTLOG_KIND_SHORT) {
            words.push_back(thread_context);
        }
        if (is_extended) {
            words.push_back(std::uint64_t{EVENTLOG_RECORD_CUSTOM_TIME} << EVENTLOG_FLAGS_SHIFT |
                            size);
        }
        words.push_back(time + i);
        words.push_back(test::checksum_of(time + i));
    }
    bytes records(words.size() * sizeof(std::uint64_t));
    std::memcpy(records.data(), words.data(), records.size());
    return records;
}

/// A recording with all types of blocks, losses of all kinds, and providers throughout.
void write_file(const std::string& path, const sample_kind& kind) {
    elog::file_options options{path, kind.clock, rings, 0, kind.part, kind.compression};
    options.command = "shop --all";
    elog::file_writer writer(options);
    writer.allow_compaction(!kind.is_verbatim && !kind.is_of_rings);
    elog::event_numbers numbers;
    writer.write_clock({1, 1, 1'000'000'000});
    writer.write_offsets({1, 5, 6});
    std::uint64_t sequences[rings] = {};
    std::uint64_t time = 100;
    for (std::uint32_t i = 0; i < 24; ++i) {
        if (i % 6 == 0) {
            elog::provider_instance provider = test::mark_provider(i / 6);
            provider.pid += i;
            provider.event_base = kind.is_of_rings ? number_of(provider.id) : 0;
            EXPECT_TRUE(numbers.add(provider));
            writer.write_provider(provider);
        }
        elog::record_run run;
        run.ring = i % rings;
        run.count = 1 + i % 9;
        run.lost_before = i % 5 == 4 ? i : 0;
        run.overwritten = i % 10 == 9;
        // Numbers of damaged records, which the loss of the ring counts.
        run.sequence = sequences[run.ring] + run.lost_before + (i == 12 ? 2 : 0);
        const bytes records = kind.is_of_rings ? ring_records_of(i / 6, time, run.count)
                                               : records_of(i / 6, time, run.count);
        run.bytes = records;
        run.context = kind.is_of_rings ? thread_context : 0;
        run.events = &numbers;
        writer.write_run(run);
        sequences[run.ring] = run.sequence + run.count;
        time += 100;
        if (i % 4 == 3) {
            writer.write_clock({time, time, time + 1'000'000'000}, time);
        }
    }
    writer.write_loss(elog::trailing_loss(0, 3, 0, 2));
    writer.write_loss(elog::provider_loss(1, 1, 2, 3));
    elog::recording_notes notes;
    notes.scope = elog::command_scope_counts{1, 2, 3};
    writer.write_notes(notes);
    if (kind.has_end) {
        writer.write_end();
    }
}

void flip_bits(bytes& file, random_source& random) {
    for (std::size_t left = 1 + random.below(4); left > 0; --left) {
        file[random.below(file.size())] ^= static_cast<std::uint8_t>(1U << random.below(8));
    }
}

void overwrite_range(bytes& file, random_source& random) {
    const std::size_t begin = random.below(file.size());
    const std::size_t size = 1 + random.below(std::min<std::size_t>(file.size() - begin, 1024));
    const bool is_zero = random.below(2) == 0;
    for (std::size_t i = begin; i < begin + size; ++i) {
        file[i] = is_zero ? 0 : static_cast<std::uint8_t>(random.below(256));
    }
}

void remove_range(bytes& file, random_source& random) {
    const std::size_t begin = random.below(file.size());
    const std::size_t size = 1 + random.below(std::min<std::size_t>(file.size() - begin, 2048));
    file.erase(file.begin() + static_cast<std::ptrdiff_t>(begin),
               file.begin() + static_cast<std::ptrdiff_t>(begin + size));
}

/// Removes, repeats or moves a block.
void move_block(bytes& file, random_source& random) {
    const std::vector<test::block_location> blocks = test::blocks_of(file);
    const test::block_location& from = random.pick(blocks);
    if (from.end > file.size()) {
        return;
    }
    const bytes block(file.begin() + static_cast<std::ptrdiff_t>(from.offset),
                      file.begin() + static_cast<std::ptrdiff_t>(from.end));
    const std::size_t to = random.pick(blocks).offset;
    const std::size_t kind = random.below(3);
    if (kind != 0) {
        file.insert(file.begin() + static_cast<std::ptrdiff_t>(to), block.begin(), block.end());
    }
    if (kind != 1) {
        const std::size_t at = from.offset + (kind == 2 && to <= from.offset ? block.size() : 0);
        file.erase(file.begin() + static_cast<std::ptrdiff_t>(at),
                   file.begin() + static_cast<std::ptrdiff_t>(at + block.size()));
    }
}

/// Changes the content of a block, whose checksums then fit it.
void change_content(bytes& file, random_source& random) {
    const test::block_location block = random.pick(test::blocks_of(file));
    if (block.end > file.size()) {
        return;
    }
    const std::size_t header = sizeof block.header;
    const std::size_t size = std::min<std::size_t>(block.header.size, random.below(2) ? 96 : 4096);
    for (std::size_t left = 1 + random.below(2); left > 0 && size != 0; --left) {
        std::uint8_t& changed = file[block.offset + header + random.below(size)];
        changed = random.below(2) == 0 ? static_cast<std::uint8_t>(random.below(256))
                                       : static_cast<std::uint8_t>(changed ^ 1U << random.below(8));
    }
    test::update_block_checksums(file, block.offset);
}

/// Changes the type, flags or number in the header of a block, whose checksum then fits it.
void change_header(bytes& file, random_source& random) {
    const test::block_location block = random.pick(test::blocks_of(file));
    if (block.end > file.size()) {
        return;
    }
    const std::vector<std::size_t> places{4, 6, 16, 17};
    const std::size_t at = block.offset + random.pick(places);
    file[at] = static_cast<std::uint8_t>(file[at] ^ 1U << random.below(4));
    test::update_block_checksums(file, block.offset);
}

void damage(bytes& file, random_source& random) {
    switch (random.below(8)) {
        case 0:
            return flip_bits(file, random);
        case 1:
            return overwrite_range(file, random);
        case 2:
            return remove_range(file, random);
        case 3:
            return move_block(file, random);
        case 4:
            return change_header(file, random);
        case 5:
            file.resize(1 + random.below(file.size()));
            return;
        default:
            return change_content(file, random);
    }
}

using shown_record = std::tuple<std::uint32_t, std::uint64_t, std::uint32_t, bytes>;

struct shown_file {
    std::vector<shown_record> records;  // sorted
    std::vector<std::string> damages;
};

/// nullopt if the file cannot be read.
std::optional<shown_file> show(const std::string& path) {
    try {
        elog::file_reader file(path);
        shown_file shown;
        file.read([&](const elog::merged_record& merged) {
            const elog::record_view& record = merged.record;
            const bool is_known = file.providers().contains(record.provider);
            shown.records.emplace_back(is_known ? record.provider : UINT32_MAX, record.time,
                                       record.thread,
                                       bytes(record.payload.begin(), record.payload.end()));
        });
        std::sort(shown.records.begin(), shown.records.end());
        shown.damages = file.damages();
        return shown;
    } catch (const elog::user_error&) {
        return std::nullopt;
    }
}

std::string repair_problem(const std::string& from, const std::string& to) {
    const std::optional<shown_file> before = show(from);
    try {
        static_cast<void>(elog::repair_file(from, to));
    } catch (const elog::user_error& error) {
        return before ? error.what() : "";
    }
    const std::vector<std::string> errors = elog::check_file(to).damages;
    if (!errors.empty()) {
        return errors.front();
    }
    const std::optional<shown_file> after = show(to);
    if (!after || !after->damages.empty()) {
        return after ? after->damages.front() : "cannot be read";
    }
    return !before || before->records == after->records ? "" : "has other records";
}

void damage_and_repair(const std::string& name, const sample_kind& kind, std::uint32_t first_seed) {
    const std::string original = test::scratch_directory() + "/" + name + ".elog";
    const std::string damaged = test::scratch_directory() + "/" + name + "-damaged.elog";
    const std::string repaired = test::scratch_directory() + "/" + name + "-repaired.elog";
    write_file(original, kind);
    ASSERT_EQ(elog::check_file(original).damages, std::vector<std::string>{});
    const bytes sound = test::contents(original);
    const std::uint64_t trials = test::trial_size("EVENTLOG_TEST_REPAIRS", 400);
    std::size_t failures = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + trials && failures < 10; ++seed) {
        random_source random(seed);
        bytes changed = sound;
        for (std::size_t left = 1 + random.below(3); left > 0 && changed.size() > 200; --left) {
            damage(changed, random);
        }
        test::replace(damaged, changed);
        const std::string problem = repair_problem(damaged, repaired);
        EXPECT_EQ(problem, "") << "seed " << seed;
        failures += problem.empty() ? 0U : 1U;
    }
}

TEST(repair_trial, leaves_no_error_in_compacted_file) {
    damage_and_repair("compacted", {}, 1'000'000);
}

TEST(repair_trial, leaves_no_error_in_verbatim_file) {
    sample_kind kind;
    kind.is_verbatim = true;
    damage_and_repair("verbatim", kind, 2'000'000);
}

TEST(repair_trial, leaves_no_error_in_file_of_rings) {
    sample_kind kind;
    kind.is_of_rings = true;
    damage_and_repair("rings", kind, 6'000'000);
}

TEST(repair_trial, leaves_no_error_in_compressed_file) {
    sample_kind kind;
    kind.compression = 3;
    kind.clock = EVENTLOG_CLOCK_MONOTONIC;
    damage_and_repair("compressed", kind, 3'000'000);
}

TEST(repair_trial, leaves_no_error_in_later_file_of_recording) {
    sample_kind kind;
    kind.part = 2;
    damage_and_repair("part", kind, 4'000'000);
}

TEST(repair_trial, leaves_no_error_in_file_without_end) {
    sample_kind kind;
    kind.has_end = false;
    damage_and_repair("without_end", kind, 5'000'000);
}

}  // namespace
