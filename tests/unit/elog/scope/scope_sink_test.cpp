// SPDX-License-Identifier: MIT
//
// A recording of a command has the records and losses of its processes, and the losses of full
// rings. It counts the records and losses of others.
#include "scope/scope_sink.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "decoded_records.hpp"
#include "fake_processes.hpp"

namespace {

using eventlog::test::fake_processes;

constexpr std::uint32_t command = 300;
constexpr std::uint64_t started = 2000;
// Numbers of providers.
constexpr std::uint32_t inside = 0;
constexpr std::uint32_t outside = 1;
constexpr std::uint32_t undecided = 2;
constexpr std::uint32_t of_kernel = 3;

constexpr std::uint64_t record_size = elog::usual_ring_size(0, 0);

struct passed_run {
    std::uint32_t ring;
    std::uint64_t lost_before;
    std::uint64_t sequence;
    std::vector<std::uint32_t> providers;

    friend bool operator==(const passed_run&, const passed_run&) = default;
};

class recording_sink : public elog::record_sink {
  public:
    void start(const elog::region_view& /*source*/) override {}
    void take_clock(const eventlog_clock_sample& /*pair*/) override {}
    void take_provider(const elog::provider_instance& provider) override {
        providers.push_back(provider.id);
    }
    void take_run(const elog::record_run& run) override {
        passed_run passed{run.ring, run.lost_before, run.sequence, {}};
        for (const elog::record_view& record : eventlog::test::decode_records(run)) {
            passed.providers.push_back(record.provider);
        }
        EXPECT_EQ(passed.providers.size(), run.count);
        runs.push_back(passed);
    }
    void take_loss(const elog::loss_report& loss) override { losses.push_back(loss); }
    void advance(std::uint64_t /*time*/, std::uint64_t /*present*/) override {}
    void check() override { ++checks; }
    void finish() override { ended = true; }

    std::vector<std::uint32_t> providers;
    std::vector<passed_run> runs;
    std::vector<elog::loss_report> losses;
    std::size_t checks = 0;
    bool ended = false;
};

class scoped : public ::testing::Test {
  protected:
    scoped() {
        auto machine = std::make_unique<fake_processes>();
        fake_processes& processes = *machine;
        processes.now = started;
        scope = std::make_unique<elog::command_scope>(std::move(machine));
        processes.fork(fake_processes::elog_pid, command);
        scope->begin(command);
        processes.fork(fake_processes::shell, 400);
        sink = std::make_unique<elog::scope_sink>(*scope, kept);
        geometry.ring_count = 2;
        sink->start({file, header, geometry});
        take_provider(inside, command, started);
        take_provider(outside, 400, started);
        take_provider(undecided, 500, started);  // has ended
        take_provider(of_kernel, 0, 0);
    }

    void take_provider(std::uint32_t id, std::uint32_t pid, std::uint64_t start_time) {
        elog::provider_instance provider;
        provider.id = id;
        provider.pid = pid;
        provider.start_time = start_time;
        sink->take_provider(provider);
    }

    void take(std::uint32_t ring, std::uint64_t lost_before, std::uint64_t sequence,
              const std::vector<std::uint32_t>& providers, std::uint32_t thread = command) {
        std::vector<std::uint8_t> bytes;
        for (const std::uint32_t provider : providers) {
            elog::record_view record;
            record.provider = provider;
            record.thread = thread;
            elog::append_record(bytes, record);
        }
        sink->take_run({ring, lost_before, sequence, providers.size(), bytes});
    }

    eventlog::core::unique_fd file;
    eventlog_region header{};
    eventlog::core::region_geometry geometry;
    recording_sink kept;
    std::unique_ptr<elog::command_scope> scope;
    std::unique_ptr<elog::scope_sink> sink;
};

TEST_F(scoped, passes_checks_on) {
    sink->check();
    EXPECT_EQ(kept.checks, 1U);
}

TEST_F(scoped, counts_each_record_that_arrives_once) {
    take(0, 0, 0, {inside, outside, undecided, inside, outside});
    take(1, 0, 0, {outside, 77});
    const std::vector<passed_run> expected{{0, 0, 0, {inside, undecided, inside}}, {1, 0, 0, {77}}};
    EXPECT_EQ(kept.runs, expected);
    EXPECT_EQ(sink->outside(), 3U);
    EXPECT_EQ(sink->undecided(), 2U);  // 77 is unknown
    EXPECT_EQ(sink->undecided_processes(), 2U);
    elog::recording_summary summary;
    summary.events = 7;
    summary.bytes = 7 * record_size;
    summary.rings = {{5, 5 * record_size}, {2, 2 * record_size}};
    sink->subtract_outside(summary);
    EXPECT_EQ(summary.events, 4U);
    EXPECT_EQ(summary.bytes, 4 * record_size);
    EXPECT_EQ(summary.rings[0].read, 3U);
    EXPECT_EQ(summary.rings[1].bytes, record_size);
}

TEST_F(scoped, kernels_records_are_decided_by_thread) {
    take(0, 0, 0, {of_kernel});
    take(0, 0, 1, {of_kernel}, 400);
    take(0, 0, 2, {of_kernel}, 0);  // an idle CPU
    const std::vector<passed_run> expected{{0, 0, 0, {of_kernel}}};
    EXPECT_EQ(kept.runs, expected);
    EXPECT_EQ(sink->outside(), 2U);
}

TEST_F(scoped, losses_before_records_of_others_are_kept) {
    take(0, 5, 5, {outside, outside});
    take(0, 3, 10, {outside, inside});
    take(0, 0, 12, {outside});
    take(0, 2, 15, {outside});
    const std::vector<passed_run> expected{{0, 8, 8, {inside}}};
    EXPECT_EQ(kept.runs, expected);
    sink->finish();
    ASSERT_EQ(kept.losses.size(), 1U);
    EXPECT_EQ(kept.losses[0].full, 2U);
    EXPECT_TRUE(kept.ended);
}

TEST_F(scoped, overwritten_records_are_kept_apart) {
    sink->take_run({0, 4, 4, 0, {}, true});
    sink->take_loss(elog::trailing_loss(0, 1, 0, 0));
    ASSERT_EQ(kept.losses.size(), 1U);
    EXPECT_EQ(kept.losses[0].full, 5U);
    EXPECT_EQ(elog::overwritten_count(kept.losses[0]), 4U);
}

TEST_F(scoped, provider_of_another_process_is_named_only_for_its_losses) {
    const std::vector<std::uint32_t> before{inside, undecided, of_kernel};
    EXPECT_EQ(kept.providers, before);
    sink->take_loss(elog::provider_loss(outside, 5, 3, 0));
    const std::vector<std::uint32_t> after{inside, undecided, of_kernel, outside};
    EXPECT_EQ(kept.providers, after);
    ASSERT_EQ(kept.losses.size(), 1U);
    EXPECT_EQ(kept.losses[0].full, 5U);  // the ring has it as well
    EXPECT_EQ(kept.losses[0].too_large, 0U);
}

TEST_F(scoped, losses_that_other_processes_count_are_subtracted) {
    sink->take_loss(elog::provider_loss(inside, 0, 3, 0));
    elog::loss_report other = elog::provider_loss(outside, 0, 0, 4);
    sink->note_loss(other);
    sink->take_loss(other);
    other.index = 7;  // has not attached
    other.pid = 400;
    other.start_time = started;
    other.busy = 0;
    other.unattached = 2;
    other.provider = "shop";
    sink->take_loss(other);
    ASSERT_EQ(kept.losses.size(), 1U);
    EXPECT_EQ(sink->lost_outside(), 6U);
    elog::recording_summary summary;
    summary.lost = 9;
    summary.too_large = 3;
    summary.busy = 4;
    summary.unattached = 2;
    summary.lossy_providers = {{"shop", "cart", 400, {.unattached = 2}},
                               {"mail", "post", command, {.too_large = 3}}};
    sink->subtract_outside(summary);
    EXPECT_EQ(summary.lost, 3U);
    EXPECT_EQ(summary.too_large, 3U);
    EXPECT_EQ(summary.busy + summary.unattached, 0U);
    ASSERT_EQ(summary.lossy_providers.size(), 1U);
    EXPECT_EQ(summary.lossy_providers[0].provider, "mail");
}

}  // namespace
