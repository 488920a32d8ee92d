// SPDX-License-Identifier: MIT
//
// Subscriptions follow each other while threads emit continuously: each receives exactly the events
// of its patterns, whatever fails in between.
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "listener.hpp"
#include "ring/rseq.hpp"
#include "two_event_provider.hpp"

namespace {

using eventlog::test::event_listener;
using eventlog::test::received_record;

struct left {
    std::uint64_t number;
};
struct right {
    std::uint64_t number;
};
using sides = eventlog::provider<"sides", left, right>;

/// Threads that emit both events until it is destroyed.
class crowd {
  public:
    explicit crowd(int size) {
        for (int i = 0; i < size; ++i) {
            threads_.emplace_back([this] {
                for (std::uint64_t number = 0; !stop_; ++number) {
                    sides::emit(left{number});
                    sides::emit(right{number});
                }
            });
        }
    }
    ~crowd() {
        stop_ = true;
        for (std::thread& thread : threads_) {
            thread.join();
        }
    }
    crowd(const crowd&) = delete;
    crowd& operator=(const crowd&) = delete;

  private:
    std::atomic<bool> stop_{false};
    std::vector<std::thread> threads_;
};

bool eventually(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

TEST(subscriptions, reusing_slot_each_receive_their_own_events_only) {
    const crowd emitters(6);
    for (int round = 0; round < 30; ++round) {
        const bool wants_left = round % 2 == 0;
        event_listener listener(wants_left ? "sides:left" : "sides:right");
        ASSERT_TRUE(eventually([&] {
            listener.poll();
            return !listener.records().empty();
        })) << "round "
            << round;
        listener.finish();
        for (const received_record& record : listener.records()) {
            ASSERT_EQ(listener.event_name(record), wants_left ? "left" : "right")
                << "round " << round;
        }
    }
}

TEST(subscriptions, attach_on_retry_after_failed_open) {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    event_listener listener("sides:left");
    // Without free descriptors attaching fails, silently.
    const rlimit none{0, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    errno = 0;
    sides::emit(left{1});
    const int seen = errno;
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(seen, 0);
    listener.poll();
    EXPECT_TRUE(listener.records().empty());
    EXPECT_TRUE(eventually([&] {
        sides::emit(left{2});
        listener.poll();
        return !listener.records().empty();
    }));
}

/// The clock of the program, which is read in the middle of an emit.
class replacing_clock {
  public:
    explicit replacing_clock(std::function<void()> action) : action_(std::move(action)) {
        const eventlog_clock_source source{sizeof source, 64, 1'000'000'000, &read, this};
        EXPECT_TRUE(eventlog_set_clock(&source));
    }
    ~replacing_clock() { eventlog_set_clock(nullptr); }
    replacing_clock(const replacing_clock&) = delete;
    replacing_clock& operator=(const replacing_clock&) = delete;

  private:
    static std::uint64_t read(void* self) {
        static_cast<replacing_clock*>(self)->action_();
        return 1;
    }
    std::function<void()> action_;
};

TEST(subscriptions, replaced_twice_during_one_emit_count_the_event) {
    if (!eventlog::core::rseq_available()) {
        GTEST_SKIP() << "the shared ring cannot be unmapped where the clock is read";
    }
    std::optional<event_listener> listener(std::in_place, "sides:left");
    sides::emit(left{0});
    int replacements = 2;
    {
        const replacing_clock clock([&] {
            if (replacements < 2) {
                ++replacements;
                listener.reset();
                listener.emplace("sides:left");
            }
        });
        replacements = 0;  // the clock was read when it was set
        sides::emit(left{1});
        EXPECT_EQ(replacements, 2);
        EXPECT_EQ(eventlog::test::unattached_of("sides", 0), 1U);
        sides::emit(left{2});
    }
    listener->finish();
    EXPECT_EQ(listener->records().size(), 1U);
}

TEST(subscriptions, keep_header_readable_for_late_processes) {
    std::optional<event_listener> listener(std::in_place, "sides:left");
    sides::emit(left{1});
    const int copy = ::dup(listener->source().file().get());
    ASSERT_GE(copy, 0);
    listener.reset();
    eventlog_region header{};
    ASSERT_EQ(::pread(copy, &header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
    EXPECT_EQ(header.magic, EVENTLOG_REGION_MAGIC);
    EXPECT_EQ(header.state, static_cast<std::uint32_t>(EVENTLOG_REGION_ENDED));
    ::close(copy);
}

TEST(provider_handle, use_after_unregister_is_harmless) {
    static constinit eventlog::detail::gate_page gate{};
    const auto& schema = sides::schema();
    const eventlog_raw_provider definition{
        sizeof definition, 2, gate.words, sizeof gate, schema.data(), schema.size()};
    std::atomic<eventlog_provider*> handle{eventlog_raw_provider_register(&definition)};
    std::atomic<bool> stop{false};
    std::thread late([&] {
        const std::uint64_t payload = 1;
        while (!stop) {
            eventlog_emit_raw(handle.load(), 0, &payload, sizeof payload);
        }
    });
    for (int i = 0; i < 300; ++i) {
        eventlog_raw_provider_unregister(handle.load());
        handle = eventlog_raw_provider_register(&definition);
    }
    stop = true;
    late.join();
    eventlog_raw_provider_unregister(handle.load());
}

TEST(provider_handle, ignores_invalid_arguments) {
    eventlog_emit_raw(nullptr, 0, nullptr, 0);
    eventlog_raw_provider_unregister(nullptr);
    EXPECT_EQ(eventlog_raw_provider_register(nullptr), nullptr);
    EXPECT_EQ(eventlog_provider_status(nullptr, nullptr, 0), EVENTLOG_STATUS_UNREGISTERED);
    static constinit eventlog::detail::gate_page gate{};
    const auto& schema = sides::schema();
    eventlog_raw_provider definition{sizeof definition, 2, gate.words, sizeof gate, schema.data(),
                                     schema.size()};
    eventlog_provider* handle = eventlog_raw_provider_register(&definition);
    event_listener listener("sides:*");
    const std::uint64_t payload = 7;
    eventlog_emit_raw(handle, 99, &payload, sizeof payload);
    eventlog_emit_raw(handle, 0, nullptr, 8);
    eventlog_emit_raw_parts(handle, 0, nullptr, 0, 0);
    listener.poll();
    EXPECT_TRUE(listener.records().empty());
    eventlog_emit_raw(handle, 0, nullptr, 0);
    listener.poll();
    ASSERT_EQ(listener.records().size(), 1U);
    EXPECT_TRUE(listener.records()[0].payload.empty());
    eventlog_raw_provider_unregister(handle);
    definition.event_count = 3;  // the schema has 2
    handle = eventlog_raw_provider_register(&definition);
    EXPECT_EQ(eventlog_provider_status(handle, nullptr, 0), EVENTLOG_STATUS_BAD_SCHEMA);
    eventlog_raw_provider_unregister(handle);
}

}  // namespace
