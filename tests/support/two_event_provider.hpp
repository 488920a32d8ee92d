// SPDX-License-Identifier: MIT
//
// Providers of this process with two events, and their parts in its process file.
#pragma once

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
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

/// System calls of this thread that have read from files; 0: the kernel does not count them.
inline std::uint64_t count_reads() {
    std::ifstream file("/proc/thread-self/io");
    std::string name;
    std::uint64_t number = 0;
    while (file >> name >> number) {
        if (name == "syscr:") {
            return number;
        }
    }
    return 0;
}

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

enum class ending { regular, without_descriptors, killed };

/// A program that is not attached to a subscription that begins, loses events, and ends.
class short_program {
  public:
    /// Returns when the program has published its provider.
    explicit short_program(const char* name) {
        EXPECT_EQ(::pipe(&requests_[0]), 0);
        EXPECT_EQ(::pipe(&answers_[0]), 0);
        child_ = ::fork();
        EXPECT_GE(child_, 0);
        if (child_ == 0) {
            run(name);
        }
        char answer = 0;
        EXPECT_EQ(::read(answers_[0], &answer, 1), 1);
    }
    ~short_program() {
        for (const int each : {requests_[0], requests_[1], answers_[0], answers_[1]}) {
            static_cast<void>(::close(each));
        }
    }
    short_program(const short_program&) = delete;
    short_program& operator=(const short_program&) = delete;

    /// Waits for its end.
    void lose(char count, ending how) {
        const char request[] = {count, static_cast<char>(how)};
        EXPECT_EQ(::write(requests_[1], &request[0], sizeof request),
                  static_cast<ssize_t>(sizeof request));
        int status = 0;
        EXPECT_EQ(::waitpid(child_, &status, 0), child_);
    }

  private:
    [[noreturn]] void run(const char* name) {
        std::optional<dynamic_provider> one(definition_of(name));
        char request[2] = {};
        if (::write(answers_[1], "", 1) != 1 ||
            ::read(requests_[0], &request[0], sizeof request) != sizeof request) {
            ::_exit(1);
        }
        const auto how = static_cast<ending>(request[1]);
        std::optional<no_descriptors> closed;
        closed.emplace();
        for (char i = 0; i < request[0]; ++i) {
            static_cast<void>(one->emit(0));
        }
        if (how == ending::killed) {
            static_cast<void>(::raise(SIGKILL));
        }
        if (how == ending::regular) {
            closed.reset();
        }
        one.reset();
        ::_exit(0);
    }

    int requests_[2] = {-1, -1};
    int answers_[2] = {-1, -1};
    pid_t child_ = -1;
};

}  // namespace eventlog::test
