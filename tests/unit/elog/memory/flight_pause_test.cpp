// SPDX-License-Identifier: MIT
//
// A paused flight recorder: programs write nothing to it and lose nothing, whatever their writer,
// and record again when it is resumed. integration.flight_pause does the same under load.
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "base/user_error.hpp"
#include "detached_recorder.hpp"
#include "memory/pause_log.hpp"
#include "memory/snapshot_requests.hpp"
#include "process_files.hpp"
#include "ring/record_header.hpp"
#include "ring/ring_writer.hpp"
#include "ring/subscription_slots.hpp"
#include "shm/process_file.hpp"
#include "shm/subscription_file.hpp"

namespace {

namespace core = eventlog::core;
using eventlog::test::detached_recorder;
using numbers = std::vector<std::uint64_t>;

struct dip {
    std::uint64_t number;
};
struct speech {
    std::uint64_t number;
    std::string_view text;
};
using flight_pause_test = eventlog::provider<"flight_pause_test", dip, speech>;

eventlog_counters counters() {
    return flight_pause_test::status().routes[EVENTLOG_ROUTE_MEMORY].counters;
}

std::uint64_t lost_by_program() {
    const eventlog_counters all = counters();
    return all.lost_full + all.lost_too_large + all.lost_busy + all.lost_unattached;
}

/// The subscriptions with a bit in the gate of the test's first event.
std::uint32_t listeners() {
    const std::vector<std::uint32_t> gate =
        eventlog::test::own_gate_of(::getpid(), "flight_pause_test");
    return gate.empty() ? 0 : gate[0] & EVENTLOG_GATE_SUBSCRIPTIONS;
}

core::subscription_slot* slot_of(const detached_recorder& recorder) {
    for (core::subscription_slot& each : core::subscription_slots) {
        if (each.serial.load() == recorder.serial()) {
            return &each;
        }
    }
    return nullptr;
}

unsigned index_of(const core::subscription_slot& slot) {
    return static_cast<unsigned>(&slot - core::subscription_slots.data());
}

/// As a program does that found the recorder live a moment before a pause.
void set_bit_late(unsigned slot) {
    const auto own = eventlog::test::find_published(::getpid(), "flight_pause_test");
    ASSERT_TRUE(own.has_value());
    core::directory where;
    core::error_text error;
    const core::directory_path path = core::current_directory();
    ASSERT_TRUE(where.open(path, core::if_missing::fail, error));
    core::folder_listing names(where.processes);
    while (const char* name = names.next()) {
        core::process_file file;
        if (!std::string_view(name).starts_with(std::to_string(::getpid()) + ".") ||
            !file.open(where, name, error)) {
            continue;
        }
        for (core::published_provider provider(file); provider.next();) {
            if (provider.entry().gate_offset == own->gate_offset) {
                ASSERT_TRUE(provider.set_bit(0, slot));
            }
        }
    }
}

TEST(flight_pause, drops_events_without_loss) {
    detached_recorder recorder("flight_pause_test:*");
    flight_pause_test::emit(dip{1});
    const std::uint64_t lost = lost_by_program();
    recorder.subscription().pause();
    EXPECT_EQ(recorder.state(), std::uint32_t{EVENTLOG_REGION_PAUSED});
    const eventlog_counters before = counters();
    for (std::uint64_t i = 0; i < 5; ++i) {
        flight_pause_test::emit(dip{100 + i});
    }
    EXPECT_EQ(counters().written, before.written);
    EXPECT_EQ(recorder.read().numbers, numbers{1});
    recorder.subscription().resume();
    flight_pause_test::emit(dip{2});
    const auto found = recorder.read();
    EXPECT_EQ(found.numbers, (numbers{1, 2}));
    EXPECT_EQ(found.summary.lost + found.summary.overwritten, 0U);
    EXPECT_EQ(found.damaged_sequences, 0U);
    EXPECT_EQ(lost_by_program(), lost);
}

TEST(flight_pause, closes_the_gates_of_running_programs) {
    detached_recorder recorder("flight_pause_test:*");
    flight_pause_test::emit(dip{1});
    EXPECT_NE(listeners(), 0U);
    EXPECT_TRUE(flight_pause_test::enabled<dip>());
    recorder.subscription().pause();
    flight_pause_test::emit(dip{2});  // runs the notification
    EXPECT_EQ(listeners(), 0U);
    EXPECT_FALSE(flight_pause_test::enabled<dip>());
    EXPECT_NE(slot_of(recorder), nullptr) << "the region is still mapped";
    recorder.subscription().resume();
    EXPECT_NE(listeners(), 0U);
    EXPECT_TRUE(flight_pause_test::enabled<dip>());
}

TEST(flight_pause, is_respected_by_later_providers) {
    detached_recorder recorder("later_*:*");
    recorder.subscription().pause();
    using later = eventlog::provider<"later_one", dip>;
    static constinit eventlog::detail::gate_page gate{};
    const auto& schema = later::schema();
    const eventlog_raw_provider definition{
        sizeof definition, 1, gate.words, sizeof gate, schema.data(), schema.size()};
    eventlog_provider* const provider = eventlog_raw_provider_register(&definition);
    ASSERT_NE(provider, nullptr);
    const auto emit = [provider](std::uint64_t number) {
        eventlog_emit_raw(provider, 0, &number, sizeof number);
    };
    EXPECT_FALSE(eventlog_has_listener(provider, 0));
    emit(1);
    EXPECT_TRUE(recorder.read().numbers.empty());
    recorder.subscription().resume();
    EXPECT_TRUE(eventlog_has_listener(provider, 0));
    emit(2);
    emit(3);
    const auto found = recorder.read();
    EXPECT_EQ(found.numbers, (numbers{2, 3}));
    EXPECT_EQ(found.summary.lost, 0U);
    eventlog_raw_provider_unregister(provider);
}

TEST(flight_pause, late_gate_bits_record_and_lose_nothing) {
    detached_recorder recorder("flight_pause_test:*");
    flight_pause_test::emit(dip{1});
    recorder.subscription().pause();
    core::subscription_slot* const slot = slot_of(recorder);
    ASSERT_NE(slot, nullptr);
    set_bit_late(index_of(*slot));
    const std::uint64_t lost = lost_by_program();
    for (std::uint64_t i = 0; i < 100; ++i) {
        flight_pause_test::emit(dip{100 + i});
    }
    EXPECT_EQ(listeners(), 1U << index_of(*slot)) << "they stay";
    EXPECT_EQ(lost_by_program(), lost);
    recorder.subscription().resume();
    flight_pause_test::emit(dip{2});
    EXPECT_EQ(recorder.read().numbers, (numbers{1, 2}));
}

TEST(flight_pause, stops_all_writers) {
    detached_recorder recorder("flight_pause_test:*");
    flight_pause_test::emit(dip{1});
    recorder.subscription().pause();
    core::subscription_slot* const slot = slot_of(recorder);
    ASSERT_NE(slot, nullptr);
    const std::uint64_t number = 7;
    const std::array<eventlog_part, 1> parts{{{&number, sizeof number}}};
    const core::event_payload block{0, sizeof number, &number};
    const core::event_payload pieces{0, sizeof number, nullptr, parts};
    for (const core::event_payload& payload : {block, pieces}) {
        EXPECT_EQ(core::write_record(*slot, recorder.serial(), core::provider_part(1), payload),
                  core::write_result::stale);
        EXPECT_EQ(
            core::write_record_shared(*slot, recorder.serial(), core::provider_part(1), payload),
            core::write_result::stale);
    }
    EXPECT_EQ(recorder.read().numbers, numbers{1});
}

TEST(flight_pause, counts_no_oversized_event) {
    detached_recorder recorder("flight_pause_test:*");
    flight_pause_test::emit(dip{1});
    recorder.subscription().pause();
    core::subscription_slot* const slot = slot_of(recorder);
    ASSERT_NE(slot, nullptr);
    set_bit_late(index_of(*slot));
    const std::string large(EVENTLOG_RECORD_SIZE_MAX, 'x');
    const eventlog_counters before = counters();
    flight_pause_test::emit(speech{2, large});
    EXPECT_EQ(counters().lost_too_large, before.lost_too_large);
    recorder.subscription().resume();
    flight_pause_test::emit(speech{3, large});
    EXPECT_EQ(counters().lost_too_large, before.lost_too_large + 1);
    EXPECT_EQ(recorder.read().summary.lost, 1U);
}

TEST(flight_pause, is_respected_with_a_custom_clock) {
    detached_recorder recorder("flight_pause_test:*");
    flight_pause_test::emit(dip{1});
    recorder.subscription().pause();
    core::subscription_slot* const slot = slot_of(recorder);
    ASSERT_NE(slot, nullptr);
    set_bit_late(index_of(*slot));
    eventlog::set_clock<std::chrono::steady_clock>();
    flight_pause_test::emit(dip{2});
    EXPECT_EQ(recorder.read().numbers, numbers{1});
    recorder.subscription().resume();
    flight_pause_test::emit(dip{3});
    eventlog::reset_clock();
    EXPECT_EQ(recorder.read().numbers, (numbers{1, 3}));
}

TEST(flight_pause, is_rejected_in_other_states) {
    detached_recorder recorder("flight_pause_test:*");
    EXPECT_THROW(recorder.subscription().resume(), elog::user_error);
    recorder.subscription().pause();
    EXPECT_THROW(recorder.subscription().pause(), elog::user_error);
    EXPECT_EQ(recorder.state(), std::uint32_t{EVENTLOG_REGION_PAUSED});
    recorder.subscription().resume();
    EXPECT_THROW(recorder.subscription().resume(), elog::user_error);
    EXPECT_EQ(recorder.state(), std::uint32_t{EVENTLOG_REGION_LIVE});
    recorder.subscription().end();
    EXPECT_THROW(recorder.subscription().pause(), elog::user_error);
    EXPECT_THROW(recorder.subscription().resume(), elog::user_error);
    EXPECT_EQ(recorder.state(), std::uint32_t{EVENTLOG_REGION_ENDED});
}

TEST(flight_pause, allows_snapshots_and_an_end) {
    detached_recorder recorder("flight_pause_test:*");
    flight_pause_test::emit(dip{1});
    recorder.subscription().pause();
    const elog::snapshot_requests requests(recorder.subscription().region());
    EXPECT_TRUE(requests.accepts_requests());
    EXPECT_EQ(eventlog::request_snapshot("paused"), 1U);
    EXPECT_EQ(requests.wanted(), 1U);
    flight_pause_test::emit(dip{2});  // takes the notification of the pause
    recorder.subscription().end();
    EXPECT_FALSE(requests.accepts_requests());
    EXPECT_EQ(recorder.read().numbers, numbers{1});
    EXPECT_FALSE(elog::read_pauses(recorder.file()).goes_on()) << "it ended with the recorder";
    flight_pause_test::emit(dip{3});
    EXPECT_EQ(slot_of(recorder), nullptr) << "unmapped by the next event";
}

/// As after a process was killed between the steps of a resume: live, with closed gates.
TEST(flight_pause, interrupted_resume_is_completed_by_the_next) {
    detached_recorder recorder("flight_pause_test:*");
    flight_pause_test::emit(dip{1});
    recorder.subscription().pause();
    core::mark_live(recorder.file());
    flight_pause_test::emit(dip{2});
    EXPECT_TRUE(elog::read_pauses(recorder.file()).goes_on());
    recorder.subscription().resume();
    flight_pause_test::emit(dip{3});
    EXPECT_EQ(recorder.read().numbers, (numbers{1, 3}));
    const elog::pause_history pauses = elog::read_pauses(recorder.file());
    EXPECT_EQ(pauses.count, 1U);
    EXPECT_FALSE(pauses.goes_on());
}

/// As after a process was killed between the steps of a pause.
TEST(flight_pause, interrupted_pause_is_completed_by_the_next) {
    detached_recorder recorder("flight_pause_test:*");
    flight_pause_test::emit(dip{1});
    elog::begin_pause(recorder.file(), 1000);  // the log, but not the state
    flight_pause_test::emit(dip{2});
    recorder.subscription().pause();
    ASSERT_EQ(elog::read_pauses(recorder.file()).count, 1U);
    EXPECT_EQ(elog::read_pauses(recorder.file()).last[0].begin, 1000U);
    // And the state, but not the gates.
    core::subscription_slot* const slot = slot_of(recorder);
    ASSERT_NE(slot, nullptr);
    set_bit_late(index_of(*slot));
    EXPECT_THROW(recorder.subscription().pause(), elog::user_error);
    EXPECT_EQ(listeners(), 0U);
    recorder.subscription().resume();
    EXPECT_EQ(recorder.read().numbers, (numbers{1, 2}));
}

}  // namespace
