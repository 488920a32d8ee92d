// SPDX-License-Identifier: MIT
//
// The descriptor of libelog's sources: when it is readable, and that it misses nothing.
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <elog/elog.hpp>
#include <eventlog/eventlog.hpp>

#include "platform/unique_fd.hpp"
#include "recording_sample.hpp"
#include "scratch.hpp"

namespace {

namespace test = eventlog::test;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct beat {
    std::uint32_t number;
};

using heart = eventlog::provider<"library_descriptor", beat>;

constexpr int patience = 30'000;  // milliseconds, far longer than any wait here

bool is_readable(int descriptor, int wait = 0) {
    pollfd waiting{descriptor, POLLIN, 0};
    return ::poll(&waiting, 1, wait) == 1 && waiting.revents == POLLIN;
}

/// Reads all there is, and returns the number of records.
std::size_t read_all(elog::source& source) {
    std::size_t count = 0;
    while (source.try_get()) {
        ++count;
    }
    return count;
}

std::string make_sample(const std::string& name) {
    std::string path = test::scratch_directory() + "/descriptor_" + name;
    test::write_sample(path);
    return path;
}

TEST(library_descriptor, is_readable_when_buffers_are_due) {
    elog::source source =
        elog::open("memory:library_descriptor", {.latency = std::chrono::seconds(1)});
    const int descriptor = source.descriptor();
    EXPECT_EQ(source.descriptor(), descriptor);
    EXPECT_NE(::fcntl(descriptor, F_GETFD) & FD_CLOEXEC, 0);
    EXPECT_TRUE(is_readable(descriptor));  // nothing has been asked for yet
    EXPECT_EQ(read_all(source), 0U);
    EXPECT_FALSE(is_readable(descriptor));
    EXPECT_FALSE(is_readable(descriptor, 100));
    const steady_clock::time_point begin = steady_clock::now();
    EXPECT_TRUE(is_readable(descriptor, patience));  // without an event, too
    EXPECT_LT(steady_clock::now() - begin, std::chrono::seconds(20));
    EXPECT_TRUE(is_readable(descriptor));  // level-triggered
}

TEST(library_descriptor, stays_readable_until_all_records_are_read) {
    elog::source source = elog::open("memory:library_descriptor");
    const int descriptor = source.descriptor();
    heart::emit(beat{1});
    heart::emit(beat{2});
    std::size_t count = 0;
    for (; count == 0 && is_readable(descriptor, patience); count += source.try_get() ? 1 : 0) {
    }
    ASSERT_EQ(count, 1U);
    EXPECT_TRUE(is_readable(descriptor));
    EXPECT_EQ(read_all(source), 1U);
}

/// Edge-triggered, as the most demanding way to wait.
TEST(library_descriptor, delivers_each_event_of_another_thread) {
    constexpr std::uint32_t wanted = 300;
    elog::source source = elog::open("memory:library_descriptor", {.latency = milliseconds(2)});
    const eventlog::core::unique_fd loop(::epoll_create1(EPOLL_CLOEXEC));
    epoll_event event{};
    event.events = EPOLLIN | EPOLLET;
    ASSERT_EQ(::epoll_ctl(loop.get(), EPOLL_CTL_ADD, source.descriptor(), &event), 0);
    std::thread emitter([] {
        for (std::uint32_t number = 0; number < wanted; ++number) {
            heart::emit(beat{number});
            std::this_thread::sleep_for(std::chrono::microseconds(number % 7 * 300));
        }
    });
    std::size_t count = 0;
    while (count < wanted && ::epoll_wait(loop.get(), &event, 1, patience) == 1) {
        count += read_all(source);
    }
    emitter.join();
    EXPECT_EQ(count, wanted);
    EXPECT_EQ(source.totals().lost, 0U);
}

TEST(library_descriptor, is_readable_after_stop_in_another_thread) {
    for (int i = 0; i < 100; ++i) {
        elog::source source =
            elog::open("memory:library_descriptor", {.latency = std::chrono::minutes(2)});
        const int descriptor = source.descriptor();
        heart::emit(beat{1});
        std::thread stopper([&] { source.stop(); });
        // Whether it stops before, while or after the descriptor is set.
        std::size_t count = read_all(source);
        while (!source.is_over() && is_readable(descriptor, patience)) {
            count += read_all(source);
        }
        stopper.join();
        ASSERT_TRUE(source.is_over());
        EXPECT_EQ(count, 1U);
        EXPECT_TRUE(is_readable(descriptor));
    }
}

TEST(library_descriptor, of_a_file_is_always_readable) {
    elog::source source = elog::open(make_sample("file.elog"));
    const int descriptor = source.descriptor();
    EXPECT_TRUE(is_readable(descriptor));
    ASSERT_TRUE(source.try_get().has_value());
    EXPECT_TRUE(is_readable(descriptor));
    EXPECT_GT(read_all(source), 0U);
    EXPECT_TRUE(source.is_over());
    EXPECT_TRUE(is_readable(descriptor));
}

TEST(library_descriptor, of_merged_sources_waits_for_the_live_one) {
    std::vector<elog::source> parts;
    parts.push_back(elog::open(make_sample("merged.elog")));
    parts.push_back(elog::open("memory:library_descriptor", {.latency = std::chrono::seconds(1)}));
    elog::source merged = elog::merge(std::move(parts));
    const int descriptor = merged.descriptor();
    // The records of the file are older than any that the subscription can return.
    std::size_t count = 0;
    while (count < 60 && is_readable(descriptor, patience)) {
        count += read_all(merged);
    }
    EXPECT_EQ(count, 60U);
    EXPECT_FALSE(is_readable(descriptor));
    heart::emit(beat{1});
    merged.stop();
    EXPECT_TRUE(is_readable(descriptor));
    EXPECT_EQ(read_all(merged), 1U);
    EXPECT_TRUE(merged.is_over());
}

TEST(library_descriptor, stays_readable_after_an_exception) {
    bool is_thrown = false;
    elog::source source = elog::open(make_sample("thrown.elog"), {.on_loss = [&](const auto&) {
                                         if (!std::exchange(is_thrown, true)) {
                                             throw std::runtime_error("enough");
                                         }
                                     }});
    const int descriptor = source.descriptor();
    EXPECT_THROW(static_cast<void>(read_all(source)), std::runtime_error);
    EXPECT_TRUE(is_readable(descriptor));
    EXPECT_GT(read_all(source), 0U);
}

}  // namespace
