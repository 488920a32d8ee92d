// SPDX-License-Identifier: MIT
//
// The fixture of the tests of detaching: a provider, and no mapped region when a test starts.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "listener.hpp"
#include "process_files.hpp"
#include "ring/subscription_slots.hpp"
#include "scratch.hpp"

/// A named namespace: the files of the suite share one provider, and so one gate.
namespace detach_test {

using eventlog::core::slot_user;
using eventlog::core::subscription_slot;
using eventlog::core::subscription_slots;
using eventlog::test::event_listener;
using eventlog::test::eventlog_directory;

struct wanted {
    std::uint64_t number;
};
struct unwanted {
    std::uint64_t number;
};
using detach_provider = eventlog::provider<"leaving_test", wanted, unwanted>;

/// The number of regions that this process has mapped as a producer. Producers open a region by its
/// name; the mappings of this process's listeners are older than the name.
inline int mapped_regions() {
    std::ifstream maps("/proc/self/maps");
    const std::string file = eventlog_directory() + "/subscriptions/";
    int count = 0;
    for (std::string line; std::getline(maps, line);) {
        const std::size_t at = line.find(file);
        count += at != std::string::npos && line[at + file.size()] != '#' ? 1 : 0;
    }
    return count;
}

/// The own gate words in the process's file, which other processes read.
inline std::array<std::uint32_t, 2> gate_of(pid_t process) {
    const std::vector<std::uint32_t> found = eventlog::test::own_gate_of(process, "leaving_test");
    std::array<std::uint32_t, 2> words{};
    EXPECT_EQ(found.size(), words.size());
    std::ranges::copy(std::span(found).first(std::min(found.size(), words.size())), words.begin());
    return words;
}

inline bool is_gate_closed() {
    return gate_of(::getpid()) == std::array<std::uint32_t, 2>{};
}

/// Emits until the condition is true, for a minute at most.
inline bool at_some_emit(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        detach_provider::emit(unwanted{0});
    }
    return true;
}

inline bool are_all_detached() {
    return mapped_regions() == 0 && is_gate_closed();
}

inline subscription_slot& slot_of(event_listener& listener) {
    for (subscription_slot& slot : subscription_slots) {
        if (slot.serial.load() == listener.source().header().serial) {
            return slot;
        }
    }
    throw std::out_of_range("not attached");
}
class detach : public testing::Test {
  protected:
    void SetUp() override {
        // Regions of earlier tests, whose providers emit no longer: attaching unmaps them.
        {
            const event_listener any("leaving_test:*");
            detach_provider::emit(unwanted{0});
        }
        ASSERT_TRUE(at_some_emit(are_all_detached));
    }
};

}  // namespace detach_test
