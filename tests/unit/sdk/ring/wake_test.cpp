// SPDX-License-Identifier: MIT
//
// The writer that switches buffers wakes a sleeping reader; for both writers, see ring_test.cpp.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "ring/region.hpp"
#include "ring_fixture.hpp"

namespace {

using namespace eventlog::core;
using eventlog::test::plain;
using std::chrono::seconds;
using std::chrono::steady_clock;

/// Whether a thread of this process sleeps in the kernel.
bool is_asleep(pid_t thread) {
    std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(')');
    return name_end != std::string::npos && text.compare(name_end, 3, ") S") == 0;
}

class wake : public eventlog::test::ring_fixture {
  protected:
    static constexpr std::size_t payload_size = 1000;
    static constexpr std::uint64_t buffer_size = 128U << 10U;

    void write() {
        static const std::vector<std::uint8_t> payload(payload_size + 8);
        ASSERT_EQ(plain(GetParam().write(*slot, mapping, eventlog::test::first_provider,
                                         {0, payload_size, payload.data(), {}})),
                  write_result::written);
    }
};

TEST_P(wake, wakes_sleeping_reader_when_buffer_is_full) {
    start_listener({buffer_size, 2});
    write();  // the ring has a buffer that is being filled
    listener->poll();
    std::atomic<pid_t> reading{0};
    std::thread reader([&] {
        reading = ::gettid();
        listener->reader().wait(seconds(30));
    });
    while (reading == 0 || shared(slot->region()->waiting).load() == 0 || !is_asleep(reading)) {
        std::this_thread::yield();
    }
    const steady_clock::time_point begin = steady_clock::now();
    for (std::uint64_t written = 0; written < buffer_size; written += payload_size) {
        write();
    }
    reader.join();
    EXPECT_LT(steady_clock::now() - begin, seconds(15));
    listener->poll();
    EXPECT_EQ(listener->totals().lost, 0U);
    EXPECT_EQ(shared(slot->region()->waiting).load(), 0U);
}

INSTANTIATE_TEST_SUITE_P(writers, wake, ::testing::ValuesIn(eventlog::test::ring_writers),
                         eventlog::test::ring_writer_name);

}  // namespace
