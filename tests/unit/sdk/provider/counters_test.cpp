// SPDX-License-Identifier: MIT
//
// The counters of a provider's events.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "listener.hpp"
#include "ring/gate_layout.hpp"
#include "ring/gate_pages.hpp"
#include "ring/rseq.hpp"
#include "ring/subscription_slots.hpp"
#include "ring_fixture.hpp"

namespace {

using namespace eventlog::core;
using eventlog::test::event_listener;
using eventlog::test::slot_of;

struct tick {
    std::uint64_t number;
};
struct speech {
    std::string_view text;
};
struct long_speech {
    std::string_view text;
};

}  // namespace

template <>
inline constexpr eventlog::event_info eventlog::event_info_of<long_speech> = {
    .oversize = eventlog::oversize::truncate};

namespace {

using counted = eventlog::provider<"counters_test", tick, speech, long_speech>;

eventlog_counters now() {
    return counted::status().routes[EVENTLOG_ROUTE_MEMORY].counters;
}

/// Counters continue from test to test: the difference since construction.
class since {
  public:
    [[nodiscard]] eventlog_counters operator()() const {
        const eventlog_counters after = now();
        return {after.written - before_.written,
                after.truncated - before_.truncated,
                after.lost_full - before_.lost_full,
                after.lost_too_large - before_.lost_too_large,
                after.lost_busy - before_.lost_busy,
                after.lost_unattached - before_.lost_unattached,
                after.lost_refused - before_.lost_refused};
    }

  private:
    eventlog_counters before_ = now();
};

TEST(counters, do_not_count_disabled_events) {
    const since begin;
    counted::emit(tick{1});
    EXPECT_EQ(begin().written, 0U);
}

TEST(counters, count_event_once_per_listener) {
    const since begin;
    event_listener first("counters_test:*");
    counted::emit(tick{1});
    EXPECT_EQ(begin().written, 1U);
    {
        event_listener second("counters_test:tick");
        counted::emit(tick{2});
        EXPECT_EQ(begin().written, 3U);
        counted::emit(speech{"for the first alone"});
        EXPECT_EQ(begin().written, 4U);
    }
    counted::emit(tick{3});
    EXPECT_EQ(begin().written, 5U);
    EXPECT_EQ(begin().lost_full, 0U);
}

TEST(counters, count_ring_full_losses) {
    const since begin;
    event_listener listener("counters_test:*");
    constexpr std::uint64_t attempted = 40'000;  // 32 bytes each: more than twice 128 KiB
    for (std::uint64_t i = 0; i < attempted; ++i) {
        counted::emit(tick{i});
    }
    const eventlog_counters result = begin();
    EXPECT_GT(result.lost_full, 0U);
    EXPECT_EQ(result.written + result.lost_full + result.lost_busy, attempted);
    listener.finish();
    EXPECT_EQ(listener.totals().read, result.written);
    EXPECT_EQ(listener.totals().lost, result.lost_full);
}

TEST(counters, count_per_subscription_writes) {
    const since begin;
    event_listener small("counters_test:*");
    event_listener large("counters_test:*", {8U << 20U, 2});
    event_listener newest("counters_test:tick", {128U << 10U, 2, true});
    constexpr std::uint64_t attempted = 40'000;  // too many for the small buffers
    for (std::uint64_t i = 0; i < attempted; ++i) {
        counted::emit(tick{i});
    }
    const eventlog_counters result = begin();
    EXPECT_EQ(result.written + result.lost_full + result.lost_busy, 3 * attempted);
    for (event_listener* listener : {&small, &large, &newest}) {
        listener->finish();
    }
    EXPECT_GT(small.totals().lost, 0U);
    EXPECT_EQ(large.totals().lost, 0U);
    EXPECT_GT(newest.totals().overwritten, 0U);
    EXPECT_EQ(small.totals().lost, result.lost_full);
    EXPECT_EQ(small.totals().read + large.totals().read + newest.totals().read +
                  newest.totals().overwritten,
              result.written);
}

TEST(counters, count_oversized_and_truncated_events) {
    const since begin;
    event_listener listener("counters_test:*");
    const std::string text(100'000, 'x');
    counted::emit(speech{text});
    EXPECT_EQ(begin().lost_too_large, 1U);
    EXPECT_EQ(begin().written, 0U);
    counted::emit(long_speech{text});
    EXPECT_EQ(begin().truncated, 1U);
    EXPECT_EQ(begin().written, 1U);
    EXPECT_EQ(begin().lost_too_large, 1U);
}

TEST(counters, count_unattached_events) {
    const since begin;
    event_listener listener("counters_test:*");
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none{0, before.rlim_max};
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
    counted::emit(tick{1});
    ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(begin().lost_unattached, 1U);
    EXPECT_EQ(begin().written, 0U);
    // Wait for the retry of the attach here, so that it does not happen in a later test of this
    // process.
    while (begin().written == 0) {
        counted::emit(tick{2});
    }
}

/// Without restartable sequences all threads share a ring, and may find it locked.
class without_sequences {
  public:
    without_sequences() { configure_rseq(false); }
    ~without_sequences() { configure_rseq(register_membarrier()); }
    without_sequences(const without_sequences&) = delete;
    without_sequences& operator=(const without_sequences&) = delete;
};

TEST(counters, count_shared_ring_lock_timeouts) {
    const without_sequences here;
    const since begin;
    event_listener listener("counters_test:*");
    counted::emit(tick{0});
    subscription_slot* slot = slot_of(listener);
    ASSERT_NE(slot, nullptr);
    std::atomic_ref<__u64> lock = shared(slot->ring(slot->ring_count.load() - 1)->lock);
    const std::uint64_t own_namespace = listener.source().header().owner_pid_namespace << 32U;
    // A live process that does not release the lock; then this thread itself, as in a signal
    // handler.
    for (const pid_t holder : {::getppid(), ::gettid()}) {
        lock.store(own_namespace | static_cast<std::uint32_t>(holder));
        counted::emit(tick{1});
        counted::emit(speech{"and all other events"});
    }
    lock.store(0);
    EXPECT_EQ(begin().written, 1U);
    EXPECT_EQ(begin().lost_busy, 4U);
    counted::emit(tick{2});
    EXPECT_EQ(begin().written, 2U);
    EXPECT_EQ(begin().lost_busy, 4U);
    listener.finish();
    EXPECT_EQ(listener.totals().read, 2U);
    EXPECT_EQ(listener.totals().lost, 0U);
    EXPECT_EQ(listener.lost_by_providers(), 4U);
}

std::uint64_t emitted_by_handler = 0;

/// Threads on all CPUs, an interrupting signal handler and a slow listener at the same time.
TEST(counters, are_exact_under_load) {
    const since begin;
    event_listener listener("counters_test:*");
    constexpr std::uint64_t each = 60'000;
    constexpr unsigned threads = 4;
    struct sigaction handler {};
    handler.sa_handler = [](int) {
        counted::emit(tick{7});
        ++emitted_by_handler;
    };
    struct sigaction previous {};
    ASSERT_EQ(::sigaction(SIGUSR1, &handler, &previous), 0);
    emitted_by_handler = 0;
    {
        const pthread_t target = ::pthread_self();
        std::vector<std::jthread> emitters;
        for (unsigned thread = 0; thread < threads; ++thread) {
            emitters.emplace_back([=] {
                for (std::uint64_t i = 0; i < each; ++i) {
                    counted::emit(tick{i});
                    if (i % 100 == 0) {
                        static_cast<void>(::pthread_kill(target, SIGUSR1));
                    }
                }
            });
        }
        for (std::uint64_t i = 0; i < each; ++i) {
            counted::emit(tick{i});
            if (i % 1000 == 0) {
                listener.poll();
            }
        }
    }
    ASSERT_EQ(::sigaction(SIGUSR1, &previous, nullptr), 0);
    const eventlog_counters result = begin();
    // The first events may be emitted while another thread attaches.
    EXPECT_EQ(result.written + result.lost_full + result.lost_busy + result.lost_unattached,
              (threads + 1) * each + emitted_by_handler);
    listener.finish();
    EXPECT_EQ(listener.totals().read, result.written);
    EXPECT_EQ(listener.totals().lost, result.lost_full);
}

TEST(counters, are_reset_in_forked_child) {
    event_listener listener("counters_test:*");
    counted::emit(tick{1});
    ASSERT_GT(now().written, 0U);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const std::uint64_t before = now().written;
        counted::emit(tick{2});
        ::_exit(before == 0 && now().written == 1 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

TEST(counters, describe_listener_count) {
    event_listener listener("counters_test:speech");
    const eventlog::route_status route = counted::status().routes[EVENTLOG_ROUTE_MEMORY];
    EXPECT_EQ(route.code, EVENTLOG_STATUS_OK);
    EXPECT_STREQ(route.text.data(), "1 subscription listens to provider counters_test.");
}

TEST(counters, of_unknown_route_are_zero) {
    std::array<char, 128> text{};
    eventlog_counters counters{};
    std::memset(&counters, 0xff, sizeof counters);
    EXPECT_EQ(eventlog_provider_route_status(nullptr, 77, &counters, sizeof counters, text.data(),
                                             text.size()),
              EVENTLOG_STATUS_NO_ROUTE);
    EXPECT_EQ(counters.written, 0U);
    EXPECT_NE(std::string_view(text.data()).find("eventlog_route"), std::string_view::npos);
}

TEST(counters, of_null_provider_are_zero) {
    eventlog_counters counters{};
    std::memset(&counters, 0xff, sizeof counters);
    EXPECT_EQ(eventlog_provider_route_status(nullptr, EVENTLOG_ROUTE_MEMORY, &counters,
                                             sizeof counters, nullptr, 0),
              EVENTLOG_STATUS_UNREGISTERED);
    EXPECT_EQ(counters.written, 0U);
}

TEST(counters, support_older_and_newer_struct_sizes) {
    struct {
        std::uint64_t written;
        std::uint64_t guard;
    } fewer{1, 2};
    static_cast<void>(eventlog_provider_route_status(nullptr, EVENTLOG_ROUTE_MEMORY,
                                                     reinterpret_cast<eventlog_counters*>(&fewer),
                                                     sizeof fewer.written, nullptr, 0));
    EXPECT_EQ(fewer.written, 0U);
    EXPECT_EQ(fewer.guard, 2U);

    std::array<std::uint64_t, sizeof(eventlog_counters) / 8 + 1> more{};
    more.back() = 1;
    static_cast<void>(eventlog_provider_route_status(
        nullptr, EVENTLOG_ROUTE_MEMORY, reinterpret_cast<eventlog_counters*>(more.data()),
        sizeof more, nullptr, 0));
    EXPECT_EQ(more.back(), 0U);
}

TEST(counters, fit_their_page_for_any_cpu_count) {
    using eventlog::core::counter_layout_for;
    for (std::uint64_t cpus = 1; cpus < 10'000; ++cpus) {
        const eventlog::core::counter_layout spread = counter_layout_for(cpus);
        EXPECT_LE(spread.cpus, cpus);
        EXPECT_LE(std::uint64_t{spread.cpus} * spread.stride,
                  sizeof(eventlog_counters_page::written_by_cpu));
        EXPECT_GE(spread.stride, sizeof(std::uint64_t));
    }
}

}  // namespace
