// SPDX-License-Identifier: MIT
//
// Programs that request snapshots of flight recorders, and the processes that answer.
#include "memory/snapshot_requests.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "listener.hpp"
#include "memory/detached_subscription.hpp"
#include "ring/snapshot_reason.hpp"
#include "ring/subscription_slots.hpp"
#include "run_in_child.hpp"

namespace {

using elog::snapshot_requests;
using eventlog::core::shared;
using eventlog::test::event_listener;
using eventlog::test::run_in_child;

struct sign {
    std::uint64_t number;
};
using snapshot_test = eventlog::provider<"snapshot_test", sign>;

/// A recorder as elog flight start leaves it, with this program attached.
class flight_recorder {
  public:
    explicit flight_recorder(const std::string& name = "flight", bool overwrite = true) {
        elog::subscription_options options;
        options.patterns.add("snapshot_test:*");
        options.name = name;
        options.overwrite = overwrite;
        options.buffer_size = 128U << 10U;
        options.buffers_per_cpu = 2;
        elog::subscription made(options);
        made.detach();
        found_.emplace(name);
        requests_.emplace(found_->region());
        // The first event attaches, except during the retry interval after a failed attach to a
        // recorder that was ending.
        do {
            snapshot_test::emit(sign{0});
        } while (!is_attached());
    }
    ~flight_recorder() {
        requests_.reset();
        if (found_->still_exists()) {
            end();
        }
    }
    flight_recorder(const flight_recorder&) = delete;
    flight_recorder& operator=(const flight_recorder&) = delete;

    void end() {
        found_->end();
        EXPECT_TRUE(found_->remove());
    }
    [[nodiscard]] elog::detached_subscription& subscription() { return *found_; }
    [[nodiscard]] snapshot_requests& requests() { return *requests_; }
    /// Empty: no reason, or several.
    [[nodiscard]] std::string reason() const { return requests_->reason().value_or("(mixed)"); }

  private:
    [[nodiscard]] bool is_attached() const {
        const std::uint64_t serial = found_->region().header.serial;
        return std::any_of(eventlog::core::subscription_slots.begin(),
                           eventlog::core::subscription_slots.end(),
                           [serial](const auto& slot) { return slot.serial.load() == serial; });
    }

    std::optional<elog::detached_subscription> found_;
    std::optional<snapshot_requests> requests_;
};

/// The writable header of a recorder's region.
class mapped_header {
  public:
    explicit mapped_header(flight_recorder& recorder)
        : region_(static_cast<eventlog_region*>(
              ::mmap(nullptr, sizeof(eventlog_region), PROT_READ | PROT_WRITE, MAP_SHARED,
                     recorder.subscription().region().file.get(), 0))) {
        EXPECT_NE(static_cast<void*>(region_), MAP_FAILED);
    }
    ~mapped_header() { ::munmap(region_, sizeof(eventlog_region)); }
    mapped_header(const mapped_header&) = delete;
    mapped_header& operator=(const mapped_header&) = delete;

    eventlog_region* operator->() const { return region_; }
    [[nodiscard]] eventlog_region* get() const { return region_; }

  private:
    eventlog_region* region_;
};

TEST(snapshot_request, reaches_exactly_the_flight_recorders_that_record_the_process) {
    EXPECT_EQ(eventlog::request_snapshot("no recorder"), 0U);
    flight_recorder first("first");
    flight_recorder second("second");
    flight_recorder keeps_the_oldest("oldest", false);
    event_listener listener("snapshot_test:*", {128U << 10U, 2, true});
    snapshot_test::emit(sign{1});
    EXPECT_EQ(eventlog::request_snapshot("why"), 2U);
    for (flight_recorder* each : {&first, &second}) {
        EXPECT_EQ(each->requests().wanted(), 1U);
        EXPECT_EQ(each->reason(), "why");
    }
    EXPECT_EQ(keeps_the_oldest.requests().wanted(), 0U);
}

TEST(snapshot_request, does_not_reach_ended_recorder) {
    flight_recorder recorder;
    EXPECT_EQ(eventlog::request_snapshot("before"), 1U);
    recorder.end();
    EXPECT_EQ(eventlog::request_snapshot("afterwards"), 0U);
    EXPECT_EQ(recorder.requests().wanted(), 1U);
    EXPECT_FALSE(recorder.requests().accepts_requests());
}

TEST(snapshot_request, has_a_reason_of_whole_characters_or_none) {
    flight_recorder recorder;
    const std::string full(EVENTLOG_SNAPSHOT_REASON_SIZE, 'x');
    const std::string most = full.substr(1);
    const struct {
        std::string given;
        std::string kept;
    } cases[] = {
        {"deadline missed", "deadline missed"},
        {"", ""},
        {full, full},
        {full + "y", full},
        {full + "\xc3\xa4", full},
        {most + "\xc3\xa4", most},
        {full.substr(2) + "\xe2\x82\xac", full.substr(2)},
        {full.substr(3) + "\xf0\x9f\x92\xa5", full.substr(3)},
        {full.substr(3) + "\xe2\x82\xac", full.substr(3) + "\xe2\x82\xac"},
        {std::string(40, '\x80'), std::string(36, '\x80')},
        {std::string("one\0two", 7), "one"},
    };
    for (const auto& [given, kept] : cases) {
        EXPECT_EQ(eventlog::request_snapshot(given), 1U);
        EXPECT_EQ(recorder.reason(), kept) << given;
    }
    EXPECT_EQ(eventlog_request_snapshot(nullptr), 1U);
    EXPECT_EQ(recorder.reason(), "");
    EXPECT_EQ(recorder.requests().wanted(), std::size(cases) + 1);
}

TEST(snapshot_request, with_torn_reason_is_counted_and_next_request_restores_it) {
    flight_recorder recorder;
    const mapped_header header(recorder);
    EXPECT_EQ(eventlog::request_snapshot("one"), 1U);
    // As after a process died with half of its reason stored.
    header->snapshot_tickets += 1;
    header->snapshot_reason[0] = std::uint64_t{2} << EVENTLOG_SNAPSHOT_TICKET_SHIFT | 'o';
    EXPECT_EQ(recorder.requests().reason(), std::nullopt);
    EXPECT_EQ(recorder.requests().wanted(), 1U);
    EXPECT_EQ(eventlog::request_snapshot("two"), 1U);
    EXPECT_EQ(recorder.reason(), "two");
    EXPECT_EQ(recorder.requests().wanted(), 2U);
}

TEST(snapshot_request, slow_does_not_replace_reason_of_later_request) {
    flight_recorder recorder;
    const mapped_header header(recorder);
    // As after 65534 requests: the words contain the low 16 bits of a ticket.
    header->snapshot_tickets = 65534;
    for (__u64& word : header->snapshot_reason) {
        word = std::uint64_t{65534} << EVENTLOG_SNAPSHOT_TICKET_SHIFT;
    }
    EXPECT_EQ(eventlog::request_snapshot("ticket 65535"), 1U);
    EXPECT_EQ(recorder.reason(), "ticket 65535");
    EXPECT_EQ(eventlog::request_snapshot("ticket 65536"), 1U);
    EXPECT_EQ(recorder.reason(), "ticket 65536");
    // The request took its ticket before the previous one.
    header->snapshot_tickets = 65534;
    EXPECT_EQ(eventlog::request_snapshot("slow"), 1U);
    EXPECT_EQ(recorder.reason(), "ticket 65536");
    EXPECT_EQ(recorder.requests().wanted(), 3U);
}

TEST(snapshot_request, very_slow_does_not_replace_reason_of_later_request) {
    using eventlog::core::pack_reason;
    flight_recorder recorder;
    const mapped_header header(recorder);
    header->snapshot_tickets = 99'999;
    for (__u64& word : header->snapshot_reason) {
        word = std::uint64_t{99'999 & 0xffff} << EVENTLOG_SNAPSHOT_TICKET_SHIFT;
    }
    EXPECT_EQ(eventlog::request_snapshot("new"), 1U);
    // By its low 16 bits, the older ticket is ahead.
    for (const std::uint32_t ticket : {60'000U, 100'000U - 32'768U, 100'000U - 65'000U}) {
        eventlog::core::store_reason(*header.get(), pack_reason("old"), ticket);
        EXPECT_EQ(recorder.reason(), "new");
    }
    EXPECT_EQ(eventlog::request_snapshot("newest"), 1U);
    EXPECT_EQ(recorder.reason(), "newest");
}

TEST(snapshot_request, of_many_threads_is_counted_exactly_with_one_reason) {
    flight_recorder recorder;
    constexpr unsigned threads = 4;
    constexpr unsigned each_asks = 500;
    std::vector<std::thread> all;
    for (unsigned i = 0; i < threads; ++i) {
        all.emplace_back([i] {
            const std::string reason(36, static_cast<char>('a' + i));
            for (unsigned asked = 0; asked < each_asks; ++asked) {
                EXPECT_EQ(eventlog::request_snapshot(reason), 1U);
            }
        });
    }
    for (std::thread& each : all) {
        each.join();
    }
    EXPECT_EQ(recorder.requests().wanted(), threads * each_asks);
    const std::string reason = recorder.reason();
    EXPECT_EQ(reason, std::string(36, reason.front()));
    EXPECT_LT(static_cast<unsigned>(reason.front() - 'a'), threads);
}

TEST(snapshot_request, preserves_errno) {
    flight_recorder recorder;
    errno = EDOM;
    EXPECT_EQ(eventlog::request_snapshot("why"), 1U);
    EXPECT_EQ(errno, EDOM);
}

TEST(snapshot_request, works_in_signal_handler_and_forked_child) {
    flight_recorder recorder;
    struct sigaction action {};
    struct sigaction before {};
    action.sa_handler = [](int) { static_cast<void>(eventlog::request_snapshot("signal")); };
    ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
    EXPECT_EQ(::raise(SIGUSR1), 0);
    EXPECT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
    EXPECT_EQ(recorder.reason(), "signal");
    EXPECT_EQ(run_in_child([] { return static_cast<int>(eventlog::request_snapshot("child")); }),
              1);
    EXPECT_EQ(recorder.reason(), "child");
    EXPECT_EQ(recorder.requests().wanted(), 2U);
}

TEST(snapshot_request, skips_region_being_unmapped) {
    flight_recorder recorder;
    for (eventlog::core::subscription_slot& slot : eventlog::core::subscription_slots) {
        const std::uint64_t serial = slot.serial.load();
        if (serial == recorder.subscription().region().header.serial) {
            // Between the two steps of unmap_slot, with a thread inside.
            const eventlog::core::slot_user user(slot, serial);
            EXPECT_FALSE(unmap_slot(slot));
            EXPECT_EQ(eventlog::request_snapshot("late"), 0U);
        }
    }
    EXPECT_EQ(recorder.requests().wanted(), 0U);
    snapshot_test::emit(sign{1});  // attaches again
    EXPECT_EQ(eventlog::request_snapshot("again"), 1U);
}

TEST(snapshot_request, works_while_recorders_start_and_end) {
    std::atomic<bool> done{false};
    std::atomic<std::uint64_t> asked{0};
    std::thread asker([&] {
        while (!done) {
            snapshot_test::emit(sign{1});
            asked += eventlog::request_snapshot("under load");
        }
    });
    std::vector<std::unique_ptr<flight_recorder>> recorders;
    for (int turn = 0; turn < 20; ++turn) {
        recorders.push_back(std::make_unique<flight_recorder>());
        while (recorders.back()->requests().wanted() == 0) {
            std::this_thread::yield();
        }
        recorders.back()->end();
    }
    done = true;
    asker.join();
    std::uint64_t counted = 0;
    for (const auto& each : recorders) {
        counted += each->requests().wanted();
    }
    EXPECT_EQ(asked.load(), counted);
}

TEST(snapshot_request, is_harmless_in_corrupted_region) {
    flight_recorder recorder;
    const mapped_header header(recorder);
    std::mt19937_64 random(1);
    for (int round = 0; round < 2000; ++round) {
        shared(header->snapshot_tickets).store(static_cast<std::uint32_t>(random()));
        shared(header->snapshots_requested).store(static_cast<std::uint32_t>(random()));
        shared(header->snapshots_completed).store(static_cast<std::uint32_t>(random()));
        shared(header->snapshot_reason[random() % EVENTLOG_SNAPSHOT_REASON_WORDS]).store(random());
        EXPECT_EQ(eventlog::request_snapshot("why"), 1U);
        const elog::request_counts counts = recorder.requests().counts();
        EXPECT_TRUE(counts.open() <= INT32_MAX || counts.answered == 0);
        static_cast<void>(recorder.requests().reason());
        recorder.requests().answer(counts.wanted);
        EXPECT_EQ(recorder.requests().counts().open(), 0U);
    }
}

TEST(snapshot_answer, covers_all_earlier_requests) {
    flight_recorder recorder;
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(eventlog::request_snapshot("why"), 1U);
    }
    EXPECT_EQ(recorder.requests().counts().open(), 5U);
    recorder.requests().answer(4);
    EXPECT_EQ(recorder.requests().counts().open(), 1U);
    recorder.requests().answer(2);  // a slower answer
    EXPECT_EQ(recorder.requests().counts().open(), 1U);
    recorder.requests().answer(5);
    EXPECT_EQ(recorder.requests().counts().open(), 0U);
}

TEST(snapshot_answer, wraps_after_maximum_number) {
    flight_recorder recorder;
    const mapped_header header(recorder);
    header->snapshots_requested = UINT32_MAX;
    header->snapshots_completed = UINT32_MAX;
    EXPECT_EQ(eventlog::request_snapshot("why"), 1U);
    EXPECT_EQ(recorder.requests().counts().open(), 1U);
    recorder.requests().answer(0);
    EXPECT_EQ(recorder.requests().counts().open(), 0U);
    EXPECT_EQ(recorder.requests().counts().answered, 0U);
}

TEST(snapshot_answer, sleeps_until_next_request) {
    flight_recorder recorder;
    std::atomic<bool> is_woken{false};
    std::thread waiting([&] {
        while (recorder.requests().wanted() == 0) {
            recorder.requests().wait(0, std::chrono::hours(1));
        }
        is_woken = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // probably asleep by then
    EXPECT_FALSE(is_woken);
    EXPECT_EQ(eventlog::request_snapshot("why"), 1U);
    waiting.join();
    // Neither an earlier request nor an expired time sleeps.
    recorder.requests().wait(0, std::chrono::hours(1));
    recorder.requests().wait(1, std::chrono::nanoseconds(1));
}

}  // namespace
