// SPDX-License-Identifier: MIT
//
// Providers of this process with two events, and their parts in its process file.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include <eventlog/dynamic_provider.hpp>

#include "process_files.hpp"
#include "run_in_child.hpp"
#include "shm/process_file_layout.hpp"

namespace eventlog::test {

inline const eventlog_event_definition events[] = {{.name = "first"}, {.name = "second"}};

inline eventlog_definition definition_of(const char* name) {
    return {EVENTLOG_DEFINITION_SIZES, .name = name, .events = events, .event_count = 2};
}

inline dynamic_provider make(const char* name) {
    return dynamic_provider(definition_of(name));
}

inline bool has_own_gate(const char* name) {
    const auto found = find_published(::getpid(), name);
    return found && found->gate_mapped != 0;
}

inline eventlog_counters_page counters_of(const char* name) {
    eventlog_counters_page page{};
    const auto found = find_published(::getpid(), name);
    std::ifstream file(process_file_path(::getpid()), std::ios::binary);
    EXPECT_TRUE(found && read_struct(file, found->gate_offset + EVENTLOG_GATE_SIZE, page));
    return page;
}

/// Forbids opening files while it lives.
class no_descriptors {
  public:
    no_descriptors() {
        EXPECT_EQ(::getrlimit(RLIMIT_NOFILE, &before_), 0);
        const struct rlimit none { 0, before_.rlim_max };
        EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    }
    ~no_descriptors() { EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before_), 0); }
    no_descriptors(const no_descriptors&) = delete;
    no_descriptors& operator=(const no_descriptors&) = delete;

  private:
    struct rlimit before_ {};
};

/// Longer than failed attempts are not repeated.
inline void wait_for_retry() {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

/// The number, if it belongs to the present subscription of the slot.
inline std::uint64_t unattached_of(const char* name, unsigned slot) {
    const std::uint64_t word = counters_of(name).unattached[slot];
    eventlog_process_file header{};
    std::ifstream file(process_file_path(::getpid()), std::ios::binary);
    EXPECT_TRUE(read_struct(file, 0, header));
    return word >> EVENTLOG_UNATTACHED_COUNT_BITS ==
                   EVENTLOG_UNATTACHED_TAG(header.slot_serial[slot])
               ? word & EVENTLOG_UNATTACHED_COUNT_MASK
               : 0;
}

/// A child has a file of its own, whose shared gate has no notifications of other tests.
template <class Check>
void check_in_child(Check&& check) {
    EXPECT_EQ(run_in_child([&] {
                  check();
                  return ::testing::Test::HasFailure() ? 1 : 0;
              }),
              0);
}

}  // namespace eventlog::test
