// SPDX-License-Identifier: MIT
//
// A thread that emits is interrupted in front of every instruction of its sequences, in every way
// in which a thread can be, and nothing comes of it that is wrong: attempted = read + lost,
// exactly; nothing torn, nothing twice; no time before the one in front of it.
//
// How to interrupt a sequence, and what the kernel makes of it (measured on Linux 6.18):
//
//   - The kernel starts a sequence over when its thread was preempted, got a signal or was moved. A
//     trap (int3) and a single step are none of these. But the traced thread stops at them, and who
//     stops gives the CPU away. So behind each stop in front of an instruction of a sequence the
//     next instruction that runs is that of the abort handler, always, even if nothing happens
//     meanwhile. That is seen at each of them: with a trap in the handler and one step, or in the
//     place to which a signal handler will return.
//   - So a thread that is single-stepped comes to the second instruction of no sequence. The trace
//     that finds the instructions takes the descriptor back, in the thread's area, at each
//     sequence's first one: then the kernel knows of none, and nothing starts over. That is for
//     finding them only: they are interrupted in runs that are undisturbed up to there.
//
// The emitter is a forked child of the test; both share a subscription with the test's own
// process, which is also "another process". Nothing depends on time: a thread that lost its CPU by
// itself, and did not come to the instruction, tries again; one that spins is killed when it has
// had a minute of CPU time.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <set>
#include <sstream>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "build_kind.hpp"
#include "coverage.hpp"
#include "scenario.hpp"
#include "sequences.hpp"
#include "stage.hpp"

namespace eventlog::test {
namespace {

constexpr std::size_t interruption_count = 10;
constexpr std::array<const char*, interruption_count> interruption_names{
    "preempted", "signalled", "nested",   "moved", "displaced",
    "succeeded", "replaced",  "narrowed", "read",  "killed"};

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

TEST(sequences, are_met_by_these_tests_with_each_instruction) {
    if (const std::string obstacle = stage::obstacle(); !obstacle.empty()) {
        GTEST_SKIP() << obstacle;
    }
    stage here;
    coverage met;
    for (const scenario& way : scenarios()) {
        for (const std::size_t size : way.sizes) {
            SCOPED_TRACE(way.name);
            met.add(here.follow(way, size));
        }
    }
    EXPECT_FALSE(sequences().empty());
    for (const sequence& each : sequences()) {
        EXPECT_EQ(met.gap_in(each), "");
        std::printf("sequence %td: %zu instructions\n", &each - sequences().data(),
                    met.count(each));
    }
}

/// What an event of the scenarios in front of that one meets outside of all sequences.
std::set<std::uint64_t> met_before(stage& here, std::size_t scenario) {
    std::set<std::uint64_t> met;
    for (std::size_t before = 0; before < scenario; ++before) {
        const auto& way = scenarios()[before];
        const trace usual = here.follow(way, way.sizes.front());
        for (const traced_step& step : usual.steps()) {
            if (sequence_at(step.address) == nullptr) {
                met.insert(step.address);
            }
        }
    }
    return met;
}

class instructions : public testing::TestWithParam<std::tuple<std::size_t, interruption>> {};

TEST_P(instructions, may_each_be_the_one_in_front_of_which_a_thread_is_interrupted) {
    if (const std::string obstacle = stage::obstacle(); !obstacle.empty()) {
        GTEST_SKIP() << obstacle;
    }
    const scenario& way = scenarios().at(std::get<0>(GetParam()));
    const interruption what = std::get<1>(GetParam());
    const bool moves = what == interruption::moved || what == interruption::displaced;
    if (moves && !stage::has_two_cpus()) {
        GTEST_SKIP() << "there is only one CPU to run on";
    }
    stage here;
    std::set<std::uint64_t> met = met_before(here, std::get<0>(GetParam()));
    std::size_t count = 0;
    std::size_t inside = 0;
    for (const std::size_t size : way.sizes) {
        const trace usual = here.follow(way, size);
        for (const traced_step& step : usual.steps()) {
            const bool in_sequence = sequence_at(step.address) != nullptr;
            if ((in_sequence || !is_slow) && met.insert(step.address).second) {
                SCOPED_TRACE(place_of(step.address) + ", size " + std::to_string(size));
                ++count;
                inside += in_sequence ? 1 : 0;
                here.interrupt(way, size, usual, step.address, what);
                ASSERT_FALSE(HasFailure());
            }
        }
    }
    std::printf("%zu instructions, %zu of them in sequences, %zu times started over\n", count,
                inside, here.aborted());
    // Who is killed does not start over.
    EXPECT_EQ(here.aborted(), what == interruption::killed ? 0 : inside);
}

INSTANTIATE_TEST_SUITE_P(
    all, instructions,
    testing::Combine(testing::Values(0, 1, 2, 3, 4),
                     testing::Values(interruption::preempted, interruption::signalled,
                                     interruption::nested, interruption::moved,
                                     interruption::displaced, interruption::succeeded,
                                     interruption::replaced, interruption::narrowed,
                                     interruption::read, interruption::killed)),
    [](const auto& tested) {
        return std::string(scenarios().at(std::get<0>(tested.param)).name) + "_" +
               interruption_names.at(static_cast<std::size_t>(std::get<1>(tested.param)));
    });

}  // namespace
}  // namespace eventlog::test
