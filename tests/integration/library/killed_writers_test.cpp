// SPDX-License-Identifier: MIT
//
// Processes that are killed at any moment of writing. Events whose emit returned are received,
// complete and in order, followed by at most one more event. Other processes continue, and no emit
// waits for more than 100 ms. EVENTLOG_TEST_KILLS sets the number of killed processes.
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <iostream>
#include <map>
#include <new>
#include <random>
#include <thread>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "listener.hpp"
#include "ring/rseq.hpp"
#include "trial_size.hpp"

namespace {

using eventlog::test::event_listener;
using eventlog::test::received_record;
using eventlog::test::trial_size;

struct final_counts {
    std::uint32_t victim;
    std::uint64_t number;
    std::uint64_t check;
    std::string_view text;
};
struct survivor_alive {
    std::uint64_t number;
};
using killed_writers = eventlog::provider<"killed_writers", final_counts, survivor_alive>;

constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz";
constexpr std::uint64_t words_max = 10'000;  // of a victim: the capacity of the buffers
constexpr event_listener::options large_rings{2U << 20U, 4};

std::uint64_t check_of(std::uint64_t number, std::uint32_t victim) {
    return (number + victim) * 0x9e3779b97f4a7c15U;
}

/// Results that the processes share besides the events.
struct shared_notes {
    std::atomic<std::uint64_t> emitted{0};   // by the victim: emits that have returned
    std::atomic<std::uint64_t> survived{0};  // by the survivor, the same
    std::atomic<std::uint64_t> longest{0};   // longest time of one of its emits, in nanoseconds
    // The same for a process that only yields the CPU: the machine's share of the times.
    std::atomic<std::uint64_t> yielded{0};
    std::atomic<std::uint64_t> longest_yield{0};
    std::atomic<bool> enough{false};
};

[[noreturn]] void emit_until_killed(shared_notes& notes, std::uint32_t victim) {
    for (std::uint64_t number = 0; number < words_max; ++number) {
        killed_writers::emit(final_counts{victim, number, check_of(number, victim),
                                          letters.substr(0, number % letters.size())});
        notes.emitted.store(number + 1, std::memory_order_relaxed);
    }
    for (;;) {
        ::pause();
    }
}

/// Calls `action` repeatedly until the end; stores the longest duration and the number of calls.
template <class Action>
[[noreturn]] void go_on(const shared_notes& notes, std::atomic<std::uint64_t>& longest,
                        std::atomic<std::uint64_t>& count, Action action) {
    using clock = std::chrono::steady_clock;
    for (std::uint64_t number = 0; !notes.enough.load(); ++number) {
        const clock::time_point begin = clock::now();
        action(number);
        const auto took =
            static_cast<std::uint64_t>(std::chrono::nanoseconds(clock::now() - begin).count());
        if (took > longest.load(std::memory_order_relaxed)) {
            longest.store(took, std::memory_order_relaxed);
        }
        count.store(number + 1, std::memory_order_relaxed);
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    ::_exit(0);
}

/// Runs the action in another process.
template <class Action>
pid_t start(const shared_notes& notes, std::atomic<std::uint64_t>& longest,
            std::atomic<std::uint64_t>& count, Action action) {
    const pid_t child = ::fork();
    if (child == 0) {
        go_on(notes, longest, count, action);
    }
    return child;
}

void wait_for(pid_t child) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

class killed_processes : public ::testing::Test {
  protected:
    void SetUp() override {
        void* const memory = ::mmap(nullptr, sizeof(shared_notes), PROT_READ | PROT_WRITE,
                                    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        ASSERT_NE(memory, MAP_FAILED);
        notes = new (memory) shared_notes;
    }

    void TearDown() override { ::munmap(notes, sizeof(shared_notes)); }

    /// Lets a process emit for some time and kills it.
    void kill_one(std::uint32_t victim) {
        notes->emitted.store(0);
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            emit_until_killed(*notes, victim);
        }
        // From before it has published itself until it has emitted everything.
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 2500));
        ASSERT_EQ(::kill(child, SIGKILL), 0);
        ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    }

    /// Reads all records. Returns the number of records of this victim; there may be no others.
    std::uint64_t collect_final_counts(event_listener& listener, std::uint32_t victim) {
        std::uint64_t count = 0;
        listener.poll();
        // A thread may change between rings, which are read one after the other.
        std::map<std::uint32_t, std::uint64_t> next;
        for (const received_record& record : listener.records()) {
            const auto number = std::get<std::uint64_t>(listener.field(record, "number"));
            if (listener.event_name(record) == "survivor_alive") {
                ++survivor_received;
                continue;
            }
            const auto check = std::get<std::uint64_t>(listener.field(record, "check"));
            const auto text = std::get<std::string_view>(listener.field(record, "text"));
            EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, "victim")), victim);
            EXPECT_EQ(check, check_of(number, victim));
            EXPECT_EQ(text, letters.substr(0, number % letters.size()));
            EXPECT_GE(number, next[record.ring]);
            next[record.ring] = number + 1;
            ++count;
        }
        listener.clear_records();
        for (const auto& [ring, end] : next) {
            EXPECT_LE(end, notes->emitted.load() + 1) << "on ring " << ring;
        }
        return count;
    }

    std::mt19937_64 random{1};
    shared_notes* notes = nullptr;
    std::uint64_t survivor_received = 0;
};

TEST_F(killed_processes, leave_all_committed_records_and_no_torn_record) {
    const std::uint64_t kills = trial_size("EVENTLOG_TEST_KILLS", 300);
    event_listener listener("killed_writers:*", large_rings);
    const pid_t survivor = start(*notes, notes->longest, notes->survived, [](std::uint64_t number) {
        killed_writers::emit(survivor_alive{number});
    });
    ASSERT_GE(survivor, 0);
    const pid_t idler = start(*notes, notes->longest_yield, notes->yielded,
                              [](std::uint64_t) { static_cast<void>(::sched_yield()); });
    ASSERT_GE(idler, 0);
    std::uint64_t emitted = 0;
    std::uint64_t received = 0;
    for (std::uint32_t victim = 0; victim < kills && !HasFailure(); ++victim) {
        kill_one(victim);
        const std::uint64_t least = notes->emitted.load();
        const std::uint64_t lost_before = listener.totals().lost + listener.lost_by_providers();
        const std::uint64_t words = collect_final_counts(listener, victim);
        const std::uint64_t lost =
            listener.totals().lost + listener.lost_by_providers() - lost_before;
        // A process killed between commit and return has emitted one event more than it counted.
        ASSERT_GE(words + lost, least) << "of victim " << victim;
        ASSERT_LE(words, least + 1) << "of victim " << victim;
        emitted += least;
        received += words;
    }
    notes->enough.store(true);
    wait_for(survivor);
    wait_for(idler);
    listener.source().end();
    EXPECT_EQ(collect_final_counts(listener, UINT32_MAX), 0U);
    static_cast<void>(listener.reader().finish());
    const std::uint64_t lost = listener.totals().lost + listener.lost_by_providers();
    EXPECT_EQ(listener.totals().damaged, 0U);
    EXPECT_GE(received + survivor_received + lost, emitted + notes->survived.load());
    EXPECT_LE(received + survivor_received + lost, emitted + notes->survived.load() + kills);
    if (eventlog::core::rseq_available()) {
        EXPECT_EQ(lost, 0U);
    }
    constexpr std::uint64_t stall_max = 100'000'000;
    EXPECT_LE(notes->longest.load(), stall_max + notes->longest_yield.load()) << "nanoseconds";
    std::cout << kills << " killed, " << emitted << " events emitted, " << received << " received, "
              << lost << " lost; the longest emit of " << notes->survived.load()
              << " beside them took " << notes->longest.load() / 1000 << " us, the longest of "
              << notes->yielded.load() << " yields " << notes->longest_yield.load() / 1000
              << " us\n";
}

}  // namespace
