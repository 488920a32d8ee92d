// SPDX-License-Identifier: MIT
//
// The path of small events into the ring: interruptions, fallbacks, and rseq_cs.
#include <sys/time.h>

#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif

#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.h>
#include <eventlog/eventlog.hpp>

#include "listener.hpp"
#include "ring/rseq.hpp"
#include "scoped_environment.hpp"
#include "small_events.hpp"

namespace {

using namespace small_event_test;
using eventlog::test::pinned_to_one_cpu;
using eventlog::test::scoped_environment_variable;

/// A signal interrupts the threads of this process every 50 microseconds while the object lives.
class frequent_signals {
  public:
    frequent_signals() {
        struct sigaction action {};
        action.sa_handler = [](int) {};
        action.sa_flags = SA_RESTART;
        ::sigaction(SIGALRM, &action, &before_);
        const itimerval every{{0, 50}, {0, 50}};
        EXPECT_EQ(::setitimer(ITIMER_REAL, &every, nullptr), 0);
    }
    ~frequent_signals() {
        const itimerval never{};
        ::setitimer(ITIMER_REAL, &never, nullptr);
        ::sigaction(SIGALRM, &before_, nullptr);
    }
    frequent_signals(const frequent_signals&) = delete;
    frequent_signals& operator=(const frequent_signals&) = delete;

  private:
    struct sigaction before_ {};
};

TEST(small_event, is_counted_when_interrupted_at_any_point) {
    event_listener listener("brief_test:*", {.buffer_size = 1U << 20U});
    const auto counters = [] {
        return brief_test::status().routes[EVENTLOG_ROUTE_MEMORY].counters;
    };
    const eventlog_counters before = counters();
    constexpr std::uint64_t threads = 3;
    constexpr std::uint64_t events = 40'000;
    std::atomic<std::uint64_t> working{threads};
    std::vector<std::thread> workers;
    {
        const frequent_signals signals;
        for (std::uint64_t i = 0; i < threads; ++i) {
            workers.emplace_back([&] {
                for (std::uint64_t event = 0; event < events; ++event) {
                    brief_test::emit(fixed_12{event, "interrupted"});
                }
                --working;
            });
        }
        while (working.load() != 0) {
            listener.poll();
            listener.clear_records();
        }
        for (std::thread& worker : workers) {
            worker.join();
        }
    }
    listener.finish();
    const eventlog_counters after = counters();
    const std::uint64_t lost = after.lost_full - before.lost_full + after.lost_busy -
                               before.lost_busy + after.lost_unattached - before.lost_unattached;
    EXPECT_EQ(after.written - before.written + lost, threads * events);
    EXPECT_EQ(listener.totals().read, after.written - before.written);
}

#if defined(__x86_64__) && defined(RSEQ_SIG)
/// rseq_cs: the restartable sequence that the kernel believes the thread is in.
std::uint64_t rseq_cs_value() {
    std::uint64_t copied = 0;
    asm volatile("movq %%fs:8(%[area]), %[copied]"
                 : [copied] "=r"(copied)
                 : [area] "r"(__rseq_offset));
    return copied;
}

unsigned slow_path_count = 0;

/// Emits that many events of a dynamic provider through a site whose slow path only counts. Returns
/// how many events the subscription received.
std::size_t emit_by_hand(std::uint64_t events) {
    constexpr std::array<eventlog_field_definition, 2> fields{
        {{.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_64},
         {.name = "text", .type = EVENTLOG_TYPE_TEXT}}};
    const eventlog_event_definition event{
        .name = "event", .fields = fields.data(), .field_count = fields.size()};
    const eventlog_definition definition{EVENTLOG_DEFINITION_SIZES, .name = "brief_by_hand",
                                         .events = &event, .event_count = 1};
    eventlog_provider* provider = nullptr;
    EXPECT_EQ(eventlog_provider_create(&definition, &provider, nullptr, 0), EVENTLOG_ERROR_NONE);
    event_listener listener("brief_by_hand:*");
    const pinned_to_one_cpu pinned;
    const std::array values{eventlog_unsigned(5), eventlog_text("attaches")};
    EXPECT_EQ(eventlog_emit(provider, 0, values.data(), values.size()), EVENTLOG_ERROR_NONE);

    slow_path_count = 0;
    const eventlog_site site{provider,
                             [](const eventlog_site*, std::uint64_t, std::uint64_t, std::uint64_t,
                                const void*, std::size_t) { ++slow_path_count; },
                             24 + 12, 12, *reinterpret_cast<std::uint32_t* const*>(provider)};
    for (std::uint64_t i = 0; i < events; ++i) {
        eventlog_emit_raw_text(&site, i, 9U << 16U, 0, "by hand!", 9);
        EXPECT_EQ(rseq_cs_value(), 0U);
    }
    listener.poll();
    if (slow_path_count != events) {
        EXPECT_EQ(std::get<std::string_view>(listener.field(listener.records().back(), "text")),
                  "by hand!");
    }
    eventlog_provider_destroy(provider);
    return listener.records().size() - 1;
}

TEST(small_event, uses_fast_path_and_clears_rseq_cs) {
    if (!eventlog::core::rseq_available()) {
        GTEST_SKIP() << "there are no restartable sequences here";
    }
    const scoped_environment_variable tsc("EVENTLOG_TSC", "on");
    constexpr std::uint64_t events = 200;
    const std::size_t received = emit_by_hand(events);
    EXPECT_EQ(received, events - slow_path_count);
    // An interrupted thread takes the slow path.
    EXPECT_LT(slow_path_count, events / 2);
}

TEST(small_event, falls_back_with_clock_unreadable_in_sequence) {
    const scoped_environment_variable tsc("EVENTLOG_TSC", "off");
    EXPECT_EQ(emit_by_hand(200), 0U);
    EXPECT_EQ(slow_path_count, 200U);
}
#endif

}  // namespace
