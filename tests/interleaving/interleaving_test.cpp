// SPDX-License-Identifier: MIT
//
// Interrupts an emitting thread in front of each instruction of its sequences, in each possible
// way, and checks the results: attempted = read + lost, exactly; no torn record, no record twice;
// no time before that of the previous record.
//
// Interrupting a sequence, and the kernel's reaction (measured on Linux 6.18):
//
//   - The kernel restarts a sequence when its thread was preempted, received a signal or migrated.
//   A trap
//     (int3) and a single step are none of these, but the traced thread stops at them, and a
//     stopped thread yields the CPU. So after each stop in front of an instruction of a sequence,
//     the next instruction is always that of the abort handler. The test checks that at each stop:
//     with a trap in the handler and one step, or by the return address of a signal handler.
//   - So a single-stepped thread never reaches the second instruction of a sequence. To find the
//     instructions, the trace clears the descriptor in the thread's area at the first instruction
//     of each sequence, so that the kernel restarts nothing. The interrupted runs do not do that:
//     they are undisturbed up to the instruction.
//
// The emitter is a forked child of the test. Both share a subscription with the test process, which
// is also the "other process". No result depends on time: a thread that lost its CPU and did not
// reach the instruction repeats the attempt; a thread that spins is killed after a minute of CPU
// time.
#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "build_kind.hpp"
#include "coverage.hpp"
#include "interruption_run.hpp"
#include "scenario.hpp"
#include "sequences.hpp"

namespace eventlog::test {
namespace {

constexpr std::size_t interruption_count = 11;
constexpr std::array<const char*, interruption_count> interruption_names{
    "preempted", "signalled", "nested", "moved",  "displaced", "succeeded",
    "replaced",  "narrowed",  "read",   "killed", "overtaken"};

std::string place_of(std::uint64_t address) {
    std::ostringstream text;
    if (const sequence* const in = sequence_at(address)) {
        text << "sequence " << in - sequences().data() << " + 0x" << std::hex
             << address - in->start;
    } else {
        text << "0x" << std::hex << address << ", in no sequence";
    }
    return text.str();
}

/// The traces of undisturbed events of the scenario, for each of its sizes. Cached in the process.
const std::vector<trace>& traces_of(std::size_t scenario) {
    static std::map<std::size_t, std::vector<trace>> known;
    std::vector<trace>& found = known[scenario];
    if (found.empty()) {
        const auto& way = scenarios().at(scenario);
        interruption_run here(way.tsc);
        for (const std::size_t size : way.sizes) {
            found.push_back(here.follow(way, size));
        }
    }
    return found;
}

TEST(sequences, are_fully_covered_by_scenarios) {
    if (const std::string skip_reason = interruption_run::skip_reason(); !skip_reason.empty()) {
        GTEST_SKIP() << skip_reason;
    }
    coverage met;
    for (std::size_t scenario = 0; scenario < scenarios().size(); ++scenario) {
        SCOPED_TRACE(scenarios()[scenario].name);
        for (const trace& usual : traces_of(scenario)) {
            met.add(usual);
        }
    }
    EXPECT_FALSE(sequences().empty());
    for (const sequence& each : sequences()) {
        EXPECT_EQ(met.first_uncovered_in(each), "");
        std::printf("sequence %td: %zu instructions\n", &each - sequences().data(),
                    met.count(each));
    }
}

/// The instructions outside of sequences that events of earlier scenarios execute.
std::set<std::uint64_t> met_before(std::size_t scenario) {
    std::set<std::uint64_t> met;
    for (std::size_t before = 0; before < scenario; ++before) {
        for (const executed_step& step : traces_of(before).front().steps()) {
            if (sequence_at(step.address) == nullptr) {
                met.insert(step.address);
            }
        }
    }
    return met;
}

/// Whether the instruction is in the vDSO. Its path depends on the time, and need not repeat.
bool is_of_kernel(std::uint64_t address) {
    Dl_info object{};
    return ::dladdr(reinterpret_cast<void*>(address), &object) != 0 &&
           std::string_view(object.dli_fname).find("vdso") != std::string_view::npos;
}

class instructions : public testing::TestWithParam<std::tuple<std::size_t, interruption>> {};

TEST_P(instructions, tolerate_interruption_before_each_instruction) {
    if (const std::string skip_reason = interruption_run::skip_reason(); !skip_reason.empty()) {
        GTEST_SKIP() << skip_reason;
    }
    const scenario& way = scenarios().at(std::get<0>(GetParam()));
    const interruption what = std::get<1>(GetParam());
    const bool moves = what == interruption::migrated || what == interruption::cpu_contended;
    if (moves && !interruption_run::has_two_cpus()) {
        GTEST_SKIP() << "there is only one CPU to run on";
    }
    std::set<std::uint64_t> met = met_before(std::get<0>(GetParam()));
    const std::vector<trace>& traces = traces_of(std::get<0>(GetParam()));
    interruption_run here(way.tsc);
    std::size_t count = 0;
    std::size_t inside = 0;
    for (std::size_t i = 0; i < traces.size(); ++i) {
        const std::size_t size = way.sizes[i];
        for (const executed_step& step : traces[i].steps()) {
            const bool in_sequence = sequence_at(step.address) != nullptr;
            const bool counts = in_sequence || !(is_slow || is_of_kernel(step.address));
            if (counts && met.insert(step.address).second) {
                SCOPED_TRACE(place_of(step.address) + ", size " + std::to_string(size));
                ++count;
                inside += in_sequence ? 1 : 0;
                here.interrupt(way, size, traces[i], step.address, what);
                ASSERT_FALSE(HasFailure());
            }
        }
    }
    std::printf("%zu instructions, %zu of them in sequences, %zu times started over\n", count,
                inside, here.aborted());
    // A killed thread does not restart.
    EXPECT_EQ(here.aborted(), what == interruption::killed ? 0 : inside);
}

auto every_interruption_of(std::size_t scenario) {
    return testing::Combine(
        testing::Values(scenario),
        testing::Values(interruption::preempted, interruption::signalled, interruption::nested,
                        interruption::migrated, interruption::cpu_contended,
                        interruption::slot_reused, interruption::slot_remapped,
                        interruption::slot_mapped_by_neighbour, interruption::read,
                        interruption::killed, interruption::overtaken));
}

std::string name_of_case(const testing::TestParamInfo<instructions::ParamType>& tested) {
    return interruption_names.at(static_cast<std::size_t>(std::get<1>(tested.param)));
}

// A suite per scenario, named like it: the cases of a suite run in one process.
INSTANTIATE_TEST_SUITE_P(small, instructions, every_interruption_of(0), name_of_case);
INSTANTIATE_TEST_SUITE_P(block, instructions, every_interruption_of(1), name_of_case);
INSTANTIATE_TEST_SUITE_P(pieces, instructions, every_interruption_of(2), name_of_case);
INSTANTIATE_TEST_SUITE_P(block_in_the_next_buffer, instructions, every_interruption_of(3),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(block_without_room, instructions, every_interruption_of(4), name_of_case);
INSTANTIATE_TEST_SUITE_P(block_by_another_clock, instructions, every_interruption_of(5),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(small_after_another_thread, instructions, every_interruption_of(6),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(block_after_another_thread, instructions, every_interruption_of(7),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(small_extended, instructions, every_interruption_of(8), name_of_case);
INSTANTIATE_TEST_SUITE_P(large, instructions, every_interruption_of(9), name_of_case);
INSTANTIATE_TEST_SUITE_P(large_in_the_next_buffer, instructions, every_interruption_of(10),
                         name_of_case);
INSTANTIATE_TEST_SUITE_P(block_on_two_routes, instructions, every_interruption_of(11),
                         name_of_case);

TEST(sequences, are_aborted_in_every_scenario) {
    const testing::UnitTest& all = *testing::UnitTest::GetInstance();
    std::set<std::string> suites;
    for (int i = 0; i < all.total_test_suite_count(); ++i) {
        suites.insert(all.GetTestSuite(i)->name());
    }
    for (const scenario& way : scenarios()) {
        EXPECT_TRUE(suites.contains(std::string(way.name) + "/instructions")) << way.name;
    }
}

}  // namespace
}  // namespace eventlog::test
