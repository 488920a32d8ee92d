// SPDX-License-Identifier: MIT
//
// Tests restartable sequences on a kernel that supports them: they are used, they restart after
// signals, and no event is then lost or recorded twice.
#include <pthread.h>
#include <sched.h>
#include <ucontext.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <string>
#include <string_view>
#include <thread>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "listener.hpp"
#include "ring/clock.hpp"
#include "ring/rseq.hpp"

// struct rseq_cs of linux/rseq.h. The linker defines these symbols by the section's name.
struct sequence_descriptor {
    std::uint32_t version;
    std::uint32_t flags;
    std::uint64_t start;
    std::uint64_t length;
    std::uint64_t abort_handler;
};
extern "C" {
extern const sequence_descriptor first_sequence asm("__start___rseq_cs");
extern const sequence_descriptor end_of_sequences asm("__stop___rseq_cs");
}

namespace {

using eventlog::test::event_listener;
using eventlog::test::received_record;

struct block {
    std::uint64_t number;
    std::uint64_t check;
    std::uint32_t worker;
};
struct text {
    std::uint64_t number;
    std::uint32_t worker;
    std::string_view letters;
};
struct interruption {
    std::uint64_t number;
};
using sequences = eventlog::provider<"sequences", block, text, interruption>;

constexpr std::size_t sequences_max = 64;
constexpr std::uint64_t salt = 0x9e3779b97f4a7c15U;

std::array<std::atomic<std::uint64_t>, sequences_max> aborts{};
std::atomic<std::uint64_t> interruptions{0};

/// Counts aborts: the return address is an abort handler if the kernel aborted a sequence.
extern "C" void emit_where_interrupted(int /*signal*/, siginfo_t* /*info*/, void* context) {
    const std::uint64_t returns_to = static_cast<ucontext_t*>(context)->uc_mcontext.pc;
    const sequence_descriptor* each = &first_sequence;
    for (std::size_t i = 0; each != &end_of_sequences && i < sequences_max; ++each, ++i) {
        if (each->abort_handler == returns_to) {
            aborts[i].fetch_add(1);
        }
    }
    sequences::emit(interruption{interruptions.fetch_add(1)});
}

/// Emits on one CPU: small events, and some that are copied in pieces.
class worker {
  public:
    worker(std::uint32_t cpu, const std::atomic<bool>& stop)
        : cpu_(cpu), thread_([this, &stop] { work(stop); }) {}

    void interrupt() { ::pthread_kill(thread_.native_handle(), SIGUSR1); }
    std::uint64_t finish() {
        thread_.join();
        return emitted_;
    }

  private:
    void work(const std::atomic<bool>& stop) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(cpu_, &set);
        EXPECT_EQ(::sched_setaffinity(0, sizeof set, &set), 0);
        const std::string letters(1000, static_cast<char>('a' + cpu_));
        while (!stop.load()) {
            for (int i = 0; i < 50; ++i, ++emitted_) {
                if (i % 10 == 9) {
                    sequences::emit(text{emitted_, cpu_, letters});
                } else {
                    sequences::emit(block{emitted_, (emitted_ + cpu_) * salt, cpu_});
                }
            }
        }
    }

    std::uint64_t emitted_ = 0;
    std::uint32_t cpu_;
    std::thread thread_;
};

/// Reads all records and checks each.
class checker {
  public:
    explicit checker(event_listener& listener) : listener_(listener) {}

    void read_all() {
        listener_.poll();
        for (const received_record& record : listener_.records()) {
            check(record);
        }
        listener_.clear_records();
    }
    [[nodiscard]] std::uint64_t handled() const { return handled_; }

  private:
    std::uint64_t number(const received_record& record, const char* field) {
        return std::get<std::uint64_t>(listener_.field(record, field));
    }

    void check(const received_record& record) {
        const std::uint64_t index = number(record, "number");
        if (listener_.event_name(record) == "interruption") {
            ++handled_;
            return;
        }
        const std::uint64_t by = number(record, "worker");
        if (listener_.event_name(record) == "block") {
            ASSERT_EQ(number(record, "check"), (index + by) * salt);
        } else {
            const auto letters = std::get<std::string_view>(listener_.field(record, "letters"));
            ASSERT_EQ(letters, std::string(1000, static_cast<char>('a' + by)));
        }
        // In order and none twice, in the ring of the thread's CPU.
        if (record.ring == by) {
            ASSERT_GE(index, next_[by]);
            next_[by] = index + 1;
            ASSERT_EQ(record.header.cpu, by);
        }
        if (eventlog::core::best_clock() == EVENTLOG_CLOCK_TSC) {
            ASSERT_GE(record.header.time, time_[record.ring]);
        }
        time_[record.ring] = record.header.time;
    }

    event_listener& listener_;
    std::map<std::uint64_t, std::uint64_t> next_;
    std::map<std::uint32_t, std::uint64_t> time_;
    std::uint64_t handled_ = 0;
};

TEST(sequences, restart_after_signals_without_losing_events) {
    if (!eventlog::core::rseq_available()) {
        GTEST_SKIP() << "the kernel has no restartable sequences";
    }
    // Few reads of many records, because reading is slow on an emulated processor.
    constexpr int rounds = 10;
    constexpr int signals_per_round = 80;
    struct sigaction action {};
    action.sa_sigaction = emit_where_interrupted;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    ASSERT_EQ(::sigaction(SIGUSR1, &action, nullptr), 0);
    event_listener listener("sequences:*", {.buffer_size = 128U << 10U, .buffers_per_cpu = 4});
    checker check(listener);
    sequences::emit(interruption{0});  // attaches
    std::atomic<bool> stop{false};
    std::uint64_t attempted = 1;
    {
        worker first(0, stop);
        worker second(1, stop);
        for (int round = 0; round < rounds; ++round) {
            for (int i = 0; i < signals_per_round; ++i) {
                first.interrupt();
                second.interrupt();
                std::this_thread::sleep_for(std::chrono::microseconds(200));
            }
            check.read_all();
        }
        stop.store(true);
        attempted += first.finish() + second.finish() + interruptions.load();
    }
    listener.source().end();
    check.read_all();
    static_cast<void>(listener.reader().finish());

    const elog::ring_totals totals = listener.totals();
    EXPECT_EQ(totals.damaged, 0U);
    EXPECT_EQ(totals.read + totals.lost + listener.lost_by_providers(), attempted);
    const auto& rings = listener.reader().rings();
    const std::uint64_t by_lock = rings[listener.reader().shared_ring()].read;
    EXPECT_GT(rings[0].read, 0U);
    EXPECT_GT(rings[1].read, 0U);
    // A thread that is interrupted repeatedly writes to the shared ring at last.
    EXPECT_LE(by_lock, totals.read / 1000);
    std::cout << "attempted " << attempted << ", read " << totals.read << " (CPU 0 "
              << rings[0].read << ", CPU 1 " << rings[1].read << ", by lock " << by_lock
              << "), lost " << totals.lost << "\n";
    std::uint64_t all = 0;
    unsigned kinds = 0;
    for (const std::atomic<std::uint64_t>& each : aborts) {
        all += each.load();
        kinds += each.load() != 0 ? 1 : 0;
    }
    std::cout << all << " of " << interruptions.load() << " signals interrupted a sequence, in "
              << kinds << " different ones\n";
    EXPECT_GT(all, 0U);
    EXPECT_GE(kinds, 2U);
}

}  // namespace
