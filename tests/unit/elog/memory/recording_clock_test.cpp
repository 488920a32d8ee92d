// SPDX-License-Identifier: MIT
//
// A recording whose clock is reset, as the processor's counter is on some machines when they sleep.
#include <cstdint>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "base/user_error.hpp"
#include "file/file_check.hpp"
#include "file/file_reader.hpp"
#include "file/file_sink.hpp"
#include "memory/recording.hpp"
#include "memory/subscription.hpp"
#include "ring/clock.hpp"
#include "scratch.hpp"

namespace {

struct tick {
    std::uint64_t number;
};
using slept = eventlog::provider<"slept", tick>;

bool has_slept = false;

/// Returns half the clock after a sleep.
std::uint64_t read_clock(std::uint32_t clock) noexcept {
    const std::uint64_t now = eventlog::core::read_clock(clock);
    return has_slept ? now / 2 : now;
}

elog::subscription_options options_of(bool overwrite) {
    elog::subscription_options options;
    options.patterns.add("slept:*");
    options.buffer_size = 128U << 10U;
    options.overwrite = overwrite;
    return options;
}

class recording_clock : public ::testing::Test {
  protected:
    recording_clock() { has_slept = false; }

    /// The error that ends the recording.
    static std::string failure_of(const std::function<void()>& work) {
        try {
            work();
        } catch (const elog::user_error& error) {
            return error.what();
        }
        return {};
    }

    const std::string path = eventlog::test::scratch_directory() + "/slept.elog";
    elog::file_sink sink{{path}};
};

TEST_F(recording_clock, reset_ends_recording) {
    elog::subscription source(options_of(false));
    elog::recording process(source, sink, read_clock);
    int asked = 0;
    const auto stop = [&asked] {
        ++asked;  // counts the calls: once before the first poll, several times between polls
        for (std::uint64_t number = 0; asked <= 2 && number < 3; ++number) {
            slept::emit(tick{number});
        }
        has_slept = asked >= 2;
        return asked == 1000;
    };
    const std::string said = failure_of([&] { static_cast<void>(process.run(stop)); });
    EXPECT_NE(said.find("began anew"), std::string::npos) << said;
    EXPECT_LT(asked, 1000);
    const elog::file_check_result found = elog::check_file(path);
    EXPECT_TRUE(found.has_end);
    EXPECT_EQ(found.damages, std::vector<std::string>{});
    EXPECT_EQ(found.records, 3U);
    EXPECT_EQ(found.lost, 3U);
    EXPECT_EQ(process.current_summary().events, 3U);
    EXPECT_EQ(process.current_summary().damaged, 3U);
}

TEST_F(recording_clock, reset_before_end_is_detected) {
    elog::subscription source(options_of(false));
    elog::recording process(source, sink, read_clock);
    slept::emit(tick{1});
    process.poll();
    slept::emit(tick{2});
    has_slept = true;
    const std::string said = failure_of([&] { static_cast<void>(process.end()); });
    EXPECT_NE(said.find("began anew"), std::string::npos) << said;
    const elog::file_check_result found = elog::check_file(path);
    EXPECT_TRUE(found.has_end);
    EXPECT_EQ(found.records, 1U);
    EXPECT_EQ(found.lost, 1U);
}

TEST_F(recording_clock, reset_is_reported_to_custom_loop) {
    elog::subscription source(options_of(false));
    elog::recording process(source, sink, read_clock);
    process.poll();
    has_slept = true;
    EXPECT_NE(failure_of([&] { process.poll(); }), "");
    EXPECT_NE(failure_of([&] { process.poll(); }), "");
}

TEST_F(recording_clock, reset_is_ignored_by_flight_recorder) {
    elog::subscription source(options_of(true));
    // The clock goes backwards at each reading, as if the machine slept between polls.
    elog::recording process(source, sink, [](std::uint32_t /*clock*/) noexcept {
        static std::uint64_t now = std::uint64_t{1} << 60U;
        return now -= std::uint64_t{1} << 30U;
    });
    slept::emit(tick{1});
    slept::emit(tick{2});
    EXPECT_EQ(process.run([] { return true; }).events, 2U);
}

}  // namespace
