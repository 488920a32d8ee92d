// SPDX-License-Identifier: MIT
//
// Files with random damage, from fixed seeds: a repaired file has no errors and prints as the
// damaged one, no block that is whole is lost, and all readers and copies have the same records.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "aggregate/aggregator.hpp"
#include "base/user_error.hpp"
#include "file/block_contents.hpp"
#include "file/file_check.hpp"
#include "file/file_reader.hpp"
#include "file/file_repair.hpp"
#include "file/record_copier.hpp"
#include "file_mutator.hpp"
#include "import/file_merge.hpp"
#include "random_source.hpp"
#include "recording_sample.hpp"
#include "scratch.hpp"
#include "trial_size.hpp"

namespace {

namespace test = eventlog::test;
using test::bytes;
using test::random_source;
using test::sample_kind;

/// What a reader prints of a record.
struct shown_record {
    std::string provider;  // with the process; empty: unknown
    std::uint32_t event = 0;
    std::int64_t realtime = 0;
    std::uint64_t time = 0;
    std::uint32_t thread = 0;
    std::uint32_t ring = 0;
    bytes payload{};

    bool operator==(const shown_record&) const = default;
    [[nodiscard]] auto all() const {
        return std::tie(provider, event, realtime, time, thread, ring, payload);
    }
    bool operator<(const shown_record& other) const { return all() < other.all(); }
};

/// A record without what other blocks say about it.
using plain_record = std::tuple<std::uint64_t, std::uint32_t, bytes>;

struct shown_file {
    std::vector<shown_record> records;
    std::vector<std::string> damages;
    std::uint64_t counted = 0;  // by agg 'count()'
};

shown_record shown(const elog::file_reader& file, const elog::merged_record& merged) {
    const elog::record_view& record = merged.record;
    shown_record found;
    const auto provider = file.providers().find(record.provider);
    if (provider != file.providers().end()) {
        found.provider = fmt::format("{} {} {}", provider->second.schema.name,
                                     provider->second.process, provider->second.pid);
        found.event = record.event;
    }
    found.realtime = file.clock().realtime(record.time);
    found.time = record.time;
    found.thread = record.thread;
    found.ring = merged.ring;
    found.payload.assign(record.payload.begin(), record.payload.end());
    return found;
}

/// nullopt if the file cannot be read.
std::optional<shown_file> show(const std::string& path) {
    try {
        elog::file_reader file(path);
        elog::aggregator counter(elog::aggregation::parse("test", "count()"), nullptr, 10);
        for (const auto& [id, provider] : file.providers()) {
            counter.add(provider);
        }
        shown_file found;
        file.read([&](const elog::merged_record& merged) {
            found.records.push_back(shown(file, merged));
            counter.take(merged.record, file.clock());
        });
        found.damages = file.damages();
        found.counted = counter.taken() + counter.damaged() + counter.unknown();
        return found;
    } catch (const elog::user_error&) {
        return std::nullopt;
    }
}

/// elog cut of the whole time.
void cut(const std::string& from, const std::string& to) {
    elog::file_reader file(from);
    elog::record_copier copier({to, 0}, file.host(), file.required_clock_readings());
    copier.write_offsets(file.clock().offsets());
    file.read(
        [&](const elog::merged_record& record) { copier.write(record, 0, file.providers()); });
    for (const elog::loss_report& loss : file.losses()) {
        copier.write_loss(loss, 0, file.providers());
    }
    copier.finish();
}

/// Describes the first difference; empty if there is none.
std::string difference(const std::vector<shown_record>& one, const std::vector<shown_record>& other,
                       const char* name) {
    for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
        if (one[i] != other[i]) {
            return fmt::format("{}: record {} differs: {} {} at {} {}, and {} {} at {} {}", name, i,
                               one[i].provider, one[i].event, one[i].time, one[i].realtime,
                               other[i].provider, other[i].event, other[i].time, other[i].realtime);
        }
    }
    return one.size() == other.size()
               ? ""
               : fmt::format("{}: {} records instead of {}", name, other.size(), one.size());
}

/// A sound file with these records.
std::string copy_problem(const std::string& path, std::vector<shown_record> records,
                         const char* name, bool has_order = true) {
    const std::vector<std::string> errors = elog::check_file(path).damages;
    if (!errors.empty()) {
        return fmt::format("{}: {}", name, errors.front());
    }
    std::optional<shown_file> found = show(path);
    if (!found || !found->damages.empty()) {
        return fmt::format("{}: {}", name, found ? found->damages.front() : "cannot be read");
    }
    if (!has_order) {
        std::sort(records.begin(), records.end());
        std::sort(found->records.begin(), found->records.end());
    }
    return difference(records, found->records, name);
}

// Further failures are mostly of the same defect.
constexpr std::size_t failures_max = 20;

class trial {
  public:
    trial(std::string name, const sample_kind& kind) : name_(std::move(name)) {
        write_recording(path("original"), kind);
        EXPECT_EQ(elog::check_file(path("original")).damages, std::vector<std::string>{});
        original_ = test::contents(path("original"));
        find_records();
    }

    [[nodiscard]] std::string problem_of(std::uint32_t seed) const {
        random_source random(seed);
        bytes changed = original_;
        damage_recording(changed, random);
        test::replace(path("damaged"), changed);
        const std::optional<shown_file> before = show(path("damaged"));
        try {
            static_cast<void>(elog::repair_file(path("damaged"), path("repaired")));
        } catch (const elog::user_error& error) {
            return before ? error.what() : unreadable_problem(changed, error.what());
        }
        if (!before) {
            return copy_problem(path("repaired"), show(path("repaired"))->records, "repair");
        }
        std::string problem = copy_problem(path("repaired"), before->records, "repair");
        if (problem.empty()) {
            problem = missing(changed, *before);
        }
        if (problem.empty() && before->counted != before->records.size()) {
            problem = "agg counts other records";
        }
        return problem.empty() ? copies_problem(*before) : problem;
    }

  private:
    struct block_records {
        test::block_location place;
        std::vector<plain_record> records;
    };

    [[nodiscard]] std::string path(const char* which) const {
        return test::scratch_directory() + "/" + name_ + "-" + which + ".elog";
    }

    /// The records of each block of the original.
    void find_records() {
        const elog::file_reader known(path("original"));
        for (const test::block_location& place : test::blocks_of(original_)) {
            elog::block_file file(path("original"));
            const auto at = file.block_at(place.offset);
            const auto payload = at ? file.load(*at) : std::nullopt;
            const bool is_records = at && at->type() == elog::block_type::records;
            const auto head =
                is_records ? elog::block_head<elog::records_block>(*payload) : std::nullopt;
            if (!head) {
                continue;
            }
            bytes decoded;
            const auto sound = known.decoder().decode(*head, elog::body_of(*payload), decoded);
            block_records& found = blocks_.emplace_back(block_records{place, {}});
            elog::run_reader reader = sound->records(head->ring, known.decoder().events());
            for (elog::record_view record; reader.next(record);) {
                found.records.emplace_back(record.time, record.thread,
                                           bytes(record.payload.begin(), record.payload.end()));
            }
        }
    }

    /// Whether a block is in the changed file as it was.
    [[nodiscard]] bool is_untouched(const bytes& changed, const block_records& block) const {
        const std::string_view all(reinterpret_cast<const char*>(changed.data()), changed.size());
        const std::string_view wanted(reinterpret_cast<const char*>(original_.data()) +
                                          block.place.offset,
                                      block.place.end - block.place.offset);
        for (std::size_t at = all.find(wanted); at != std::string_view::npos;
             at = all.find(wanted, at + 1)) {
            if (at >= sizeof(elog::file_header) && at % elog::block_alignment == 0 &&
                !is_covered(at)) {
                return true;
            }
        }
        return false;
    }

    /// Whether an offset of the damaged file is inside of another whole block.
    [[nodiscard]] bool is_covered(std::uint64_t offset) const {
        elog::block_file file(path("damaged"));
        std::optional<elog::block_location> place = file.find_block(sizeof(elog::file_header));
        while (place && place->offset < offset) {
            if (place->end() > offset && file.has_sound_payload(*place)) {
                return true;
            }
            place = file.find_block(place->offset + elog::block_alignment);
        }
        return false;
    }

    /// Records of a block that is whole, and which the reader does not show.
    [[nodiscard]] std::string missing(const bytes& changed, const shown_file& found) const {
        std::set<plain_record> left;
        for (const shown_record& record : found.records) {
            left.emplace(record.time, record.thread, record.payload);
        }
        for (const block_records& block : blocks_) {
            for (const plain_record& record : block.records) {
                if (!left.contains(record) && is_untouched(changed, block)) {
                    return fmt::format("a record at {} of the whole block at {} is missing",
                                       std::get<0>(record), block.place.offset);
                }
            }
        }
        return "";
    }

    [[nodiscard]] std::string unreadable_problem(const bytes& changed,
                                                 const std::string& reason) const {
        // What a newer version has written is rejected.
        if (reason.find("Use a newer elog") != std::string::npos ||
            reason.find("Use an elog that knows it") != std::string::npos) {
            return "";
        }
        const bool has_any = std::any_of(blocks_.begin(), blocks_.end(), [&](const auto& block) {
            return is_untouched(changed, block);
        });
        return has_any ? reason : "";
    }

    /// Copies leave out records without a known provider, and count them as lost. The time of such
    /// a record may have held back its ring.
    [[nodiscard]] std::string copies_problem(const shown_file& before) const {
        std::vector<shown_record> known;
        std::copy_if(before.records.begin(), before.records.end(), std::back_inserter(known),
                     [](const shown_record& record) { return !record.provider.empty(); });
        const bool has_all = known.size() == before.records.size();
        cut(path("damaged"), path("cut"));
        std::string problem = copy_problem(path("cut"), known, "cut", has_all);
        if (problem.empty()) {
            static_cast<void>(elog::merge_files({path("damaged")}, {path("merged"), 0}));
            problem = copy_problem(path("merged"), known, "merge", has_all);
        }
        return problem;
    }

    std::string name_;
    bytes original_;
    std::vector<block_records> blocks_;
};

void damage_and_repair(const std::string& name, const sample_kind& kind, std::uint32_t first_seed) {
    const trial tried(name, kind);
    // In the full tier, six tests make more than 100,000 mutants.
    const std::uint64_t trials =
        test::trial_size("EVENTLOG_TEST_REPAIRS", test::is_full_tier() ? 17'000 : 1000);
    std::size_t failures = 0;
    for (std::uint32_t seed = first_seed; seed < first_seed + trials && failures < failures_max;
         ++seed) {
        const std::string problem = tried.problem_of(seed);
        if (!problem.empty()) {
            ADD_FAILURE() << "seed " << seed << ": " << problem;
            ++failures;
        }
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
