// SPDX-License-Identifier: MIT
//
// Events of at most three words and one text, which have a way of their own into the ring.
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.h>
#include <eventlog/eventlog.hpp>

#include "scoped_environment.hpp"
#include "run_in_child.hpp"
#include "listener.hpp"
#include "ring/rseq.hpp"

namespace {

using eventlog::test::scoped_environment_variable;
using eventlog::test::received_record;
using eventlog::test::run_in_child;
using eventlog::test::event_listener;
using eventlog::test::pinned_to_one_cpu;

// By the size of what is in front of the text.
struct fixed_4 {
    std::string_view text;
};
struct fixed_8 {
    std::uint32_t number;
    std::string_view text;
};
struct fixed_12 {
    std::uint64_t number;
    std::string_view text;
};
struct fixed_16 {
    std::string_view text;
    std::uint64_t number;
    std::uint32_t second;
};
struct fixed_20 {
    std::uint64_t number;
    std::uint32_t second;
    std::uint32_t third;
    std::string_view text;
};
struct fixed_24 {
    std::uint32_t second;
    std::uint64_t number;
    std::string_view text;
    std::uint64_t third;
};
using brief_test =
    eventlog::provider<"brief_test", fixed_4, fixed_8, fixed_12, fixed_16, fixed_20, fixed_24>;

/// Fixed sizes that are odd, and one that takes the session's number.
struct fixed_5 {
    std::string_view text;
    bool yes;
};
struct in_session {
    std::uint16_t number;
    std::string_view text;
};

struct four_words {
    std::uint64_t first, second, third;
    std::string_view text;
};
struct two_texts {
    std::string_view first, second;
};
struct c_string {
    const char* text;
};
struct optional_text {
    std::optional<std::string_view> text;
};
struct bytes {
    std::span<const std::uint8_t> data;
};
struct no_text {
    std::uint64_t number;
};

}  // namespace

template <>
inline constexpr eventlog::event_traits eventlog::traits_of<in_session>{.session_bound = true};

namespace {

using odd_test = eventlog::provider<"brief_odd_test", fixed_5, in_session>;
using session = eventlog::session<odd_test>;

constexpr std::uint64_t number = 0x1122334455667788;
constexpr std::uint32_t second = 0x99aabbcc;
constexpr std::uint32_t third = 0xddeeff01;

void emit_all(std::string_view text) {
    brief_test::emit(fixed_4{text});
    brief_test::emit(fixed_8{second, text});
    brief_test::emit(fixed_12{number, text});
    brief_test::emit(fixed_16{text, number, second});
    brief_test::emit(fixed_20{number, second, third, text});
    brief_test::emit(fixed_24{second, number, text, third});
}

template <class Value>
void expect_field(const event_listener& listener, const received_record& record, std::string_view name,
                  Value value) {
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(record, name)), value) << name;
}

/// The records behind `first` are those of emit_all, whole and with nothing else in them.
void expect_all(const event_listener& listener, std::size_t first, std::string_view text) {
    ASSERT_GE(listener.records().size(), first + 6);
    for (std::size_t event = 0; event < 6; ++event) {
        const received_record& record = listener.records()[first + event];
        SCOPED_TRACE(listener.event_name(record) + ", " + std::to_string(text.size()) + " characters");
        EXPECT_EQ(record.header.event, event);
        EXPECT_EQ(record.header.flags, 0);
        EXPECT_EQ(record.payload.size(), 4 + 4 * event + text.size() + 1);
        EXPECT_EQ(std::get<std::string_view>(listener.field(record, "text")), text);
        EXPECT_EQ(record.payload.back(), 0);
        EXPECT_TRUE(std::all_of(record.padding.begin(), record.padding.end(),
                                [](std::uint8_t byte) { return byte == 0; }));
        if (event == 1) {
            expect_field(listener, record, "number", second);
        } else if (event != 0) {
            expect_field(listener, record, "number", number);
        }
        if (event > 2) {
            expect_field(listener, record, "second", second);
        }
        if (event > 3) {
            expect_field(listener, record, "third", third);
        }
    }
}

std::string some_text(std::size_t size) {
    std::string text(size, ' ');
    for (std::size_t i = 0; i < size; ++i) {
        text[i] = static_cast<char>('!' + i % 93);
    }
    return text;
}

/// Memory between two pages that nobody may touch.
class fenced_memory {
  public:
    fenced_memory()
        : pages_(static_cast<char*>(
              ::mmap(nullptr, 3 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
        EXPECT_NE(static_cast<void*>(pages_), MAP_FAILED);
        EXPECT_EQ(::mprotect(pages_ + page_, page_, PROT_READ | PROT_WRITE), 0);
    }
    ~fenced_memory() { ::munmap(pages_, 3 * page_); }
    fenced_memory(const fenced_memory&) = delete;
    fenced_memory& operator=(const fenced_memory&) = delete;

    [[nodiscard]] std::string_view at_the_begin(std::string_view text) const {
        std::memcpy(pages_ + page_, text.data(), text.size());
        return {pages_ + page_, text.size()};
    }
    [[nodiscard]] std::string_view at_the_end(std::string_view text) const {
        char* const place = pages_ + 2 * page_ - text.size();
        std::memcpy(place, text.data(), text.size());
        return {place, text.size()};
    }

  private:
    std::size_t page_ = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    char* pages_;
};

/// While it lives, a signal interrupts the threads of this process every 50 microseconds.
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

TEST(small_event, has_few_words_and_at_most_one_text) {
    using namespace eventlog::detail;
    EXPECT_TRUE(is_small_event<fixed_4> && is_small_event<fixed_8> && is_small_event<fixed_12> &&
                is_small_event<fixed_16> && is_small_event<fixed_20> && is_small_event<fixed_24>);
    EXPECT_FALSE(is_small_event<four_words> || is_small_event<two_texts> ||
                 is_small_event<c_string> || is_small_event<optional_text> ||
                 is_small_event<bytes> || is_small_event<no_text>);
}

TEST(small_event, delivers_texts_of_every_size) {
    event_listener listener("brief_test:*");
    const pinned_to_one_cpu pinned;
    for (std::size_t size = 0; size <= 600; ++size) {
        const std::string text = some_text(size);
        listener.clear_records();
        emit_all(text);
        listener.poll();
        expect_all(listener, 0, text);
        ASSERT_FALSE(HasFailure());
    }
}

TEST(small_event, delivers_large_texts) {
    event_listener listener("brief_test:*", {.buffer_size = 1U << 20U});
    const pinned_to_one_cpu pinned;
    const std::string text = some_text(60'000);
    emit_all(text);
    listener.poll();
    expect_all(listener, 0, text);
}

TEST(small_event, reads_only_text_bytes) {
    event_listener listener("brief_test:*");
    const pinned_to_one_cpu pinned;
    const fenced_memory memory;
    for (std::size_t size = 0; size <= 70; ++size) {
        const std::string text = some_text(size);
        listener.clear_records();
        emit_all(memory.at_the_begin(text));
        emit_all(memory.at_the_end(text));
        listener.poll();
        expect_all(listener, 0, text);
        expect_all(listener, 6, text);
        ASSERT_FALSE(HasFailure());
    }
}

TEST(small_event, switches_buffer_at_every_offset) {
    event_listener listener("brief_test:*");
    const pinned_to_one_cpu pinned;
    for (std::size_t round = 0; round < 40; ++round) {
        // Different sizes in front of each end of a buffer.
        const std::string text = some_text(7 + round);
        const std::size_t size = 6 * (24 + 14 + text.size() + 1 + 4);
        listener.clear_records();
        std::size_t rounds = 0;
        for (std::size_t written = 0; written < std::size_t{128} << 10U; written += size) {
            emit_all(text);
            ++rounds;
        }
        listener.poll();
        ASSERT_EQ(listener.records().size(), 6 * rounds);
        for (std::size_t i = 0; i < rounds; ++i) {
            expect_all(listener, 6 * i, text);
            ASSERT_FALSE(HasFailure());
        }
    }
    EXPECT_EQ(listener.totals().lost, 0U);
}

TEST(small_event, increments_provider_counter) {
    event_listener listener("brief_test:*");
    const pinned_to_one_cpu pinned;
    const auto written = [] {
        return brief_test::status().routes[EVENTLOG_ROUTE_MEMORY].counters.written;
    };
    const std::uint64_t before = written();
    for (int i = 0; i < 100; ++i) {
        emit_all("counted");
    }
    EXPECT_EQ(written() - before, 600U);
    listener.poll();
    EXPECT_EQ(listener.records().size(), 600U);
}

TEST(small_event, reaches_all_listeners) {
    const pinned_to_one_cpu pinned;
    event_listener first("brief_test:*");
    emit_all("one");
    event_listener latter("brief_test:*");
    emit_all("two");
    latter.finish();
    emit_all("one again");
    first.poll();
    ASSERT_EQ(first.records().size(), 18U);
    expect_all(first, 0, "one");
    expect_all(first, 6, "two");
    expect_all(first, 12, "one again");
    ASSERT_EQ(latter.records().size(), 6U);
    expect_all(latter, 0, "two");
}

TEST(small_event, delivers_odd_sizes_and_sessions) {
    event_listener listener("brief_odd_test:*");
    const pinned_to_one_cpu pinned;
    const session own(77);
    for (std::size_t size = 0; size <= 40; ++size) {
        const std::string text = some_text(size);
        listener.clear_records();
        odd_test::emit(fixed_5{text, true});
        own.emit(in_session{1234, text});
        listener.poll();
        const auto& records = listener.records();
        const std::size_t first = records.size() - 2;
        EXPECT_EQ(std::get<std::string_view>(listener.field(records.at(first), "text")), text);
        EXPECT_TRUE(std::get<bool>(listener.field(records[first], "yes")));
        EXPECT_EQ(std::get<std::string_view>(listener.field(records.at(first + 1), "text")), text);
        expect_field(listener, records[first + 1], "session", 77U);
        expect_field(listener, records[first + 1], "number", 1234U);
        ASSERT_FALSE(HasFailure());
    }
}

TEST(small_event, rejects_invalid_sizes) {
    event_listener listener("brief_test:*");
    const pinned_to_one_cpu pinned;
    const auto refused = [] {
        return brief_test::status().routes[EVENTLOG_ROUTE_MEMORY].counters.lost_too_large;
    };
    const std::uint64_t before = refused();
    emit_all("before");
    // What does not fit into a record, and where 32 or 48 bits would not tell.
    std::uint64_t attempted = 0;
    for (const std::size_t around :
         {std::size_t{65'508 + 64}, std::size_t{1} << 32U, std::size_t{1} << 48U, SIZE_MAX / 2}) {
        for (std::size_t size = around - 64; size != around + 8; ++size) {
            brief_test::emit(fixed_4{{"nobody reads this", size}});
            ++attempted;
        }
    }
    emit_all("after");
    listener.poll();
    EXPECT_EQ(refused() - before, attempted);
    ASSERT_EQ(listener.records().size(), 12U);
    expect_all(listener, 0, "before");
    expect_all(listener, 6, "after");
}

TEST(small_event, first_event_of_thread_and_child_has_correct_ids) {
    event_listener listener("brief_test:*");
    emit_all("here");
    std::uint32_t thread = 0;
    std::thread([&] {
        thread = static_cast<std::uint32_t>(::gettid());
        emit_all("there");
    }).join();
    listener.poll();
    ASSERT_EQ(listener.records().size(), 12U);
    for (const received_record& record : listener.records()) {
        const bool there = std::get<std::string_view>(listener.field(record, "text")) == "there";
        EXPECT_EQ(record.header.thread, there ? thread : static_cast<std::uint32_t>(::gettid()));
    }
    listener.clear_records();
    EXPECT_EQ(run_in_child([] {
                  emit_all("child");
                  return 0;
              }),
              0);
    listener.poll();
    ASSERT_EQ(listener.records().size(), 6U);
    for (const received_record& record : listener.records()) {
        EXPECT_NE(record.header.thread, static_cast<std::uint32_t>(::gettid()));
        EXPECT_EQ(std::get<std::string_view>(listener.field(record, "text")), "child");
    }
}

TEST(small_event, goes_to_current_listener_of_reused_slot) {
    const pinned_to_one_cpu pinned;
    for (int round = 0; round < 20; ++round) {
        event_listener listener(round % 2 == 0 ? "brief_test:*" : "brief*:*");
        emit_all("successor");
        listener.finish();
        ASSERT_EQ(listener.records().size(), 6U);
        expect_all(listener, 0, "successor");
        ASSERT_FALSE(HasFailure());
    }
}

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
/// What the thread tells the kernel of the sequence that it is in.
std::uint64_t rseq_cs_value() {
    std::uint64_t told = 0;
    asm volatile("movq %%fs:8(%[area]), %[told]" : [told] "=r"(told) : [area] "r"(__rseq_offset));
    return told;
}

unsigned slow_path_count = 0;

/// Emits that many events of a provider by hand, of which each that takes a longer way is counted
/// there instead. Returns how many the subscription has heard.
std::size_t emit_by_hand(std::uint64_t events) {
    constexpr std::array<eventlog_field_definition, 2> fields{
        {{.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_64},
         {.name = "text", .type = EVENTLOG_TYPE_TEXT}}};
    const eventlog_event_definition event{
        .name = "event", .fields = fields.data(), .field_count = fields.size()};
    const eventlog_definition definition{EVENTLOG_DEFINITION_SIZES, .name = "brief_by_hand",
                                         .events = &event, .event_count = 1};
    eventlog_provider* provider = nullptr;
    EXPECT_EQ(eventlog_define_provider(&definition, &provider, nullptr, 0), EVENTLOG_ERROR_NONE);
    event_listener listener("brief_by_hand:*");
    const pinned_to_one_cpu pinned;
    const std::array values{eventlog_unsigned(5), eventlog_text("attaches")};
    EXPECT_EQ(eventlog_emit_values(provider, 0, values.data(), values.size()), EVENTLOG_ERROR_NONE);

    slow_path_count = 0;
    const eventlog_site site{provider,
                             [](const eventlog_site*, std::uint64_t, std::uint64_t, std::uint64_t,
                                const void*, std::size_t) { ++slow_path_count; },
                             24 + 12, 12, *reinterpret_cast<std::uint32_t* const*>(provider)};
    for (std::uint64_t i = 0; i < events; ++i) {
        eventlog_emit_text(&site, i, 9U << 16U, 0, "by hand!", 9);
        EXPECT_EQ(rseq_cs_value(), 0U);
    }
    listener.poll();
    if (slow_path_count != events) {
        EXPECT_EQ(std::get<std::string_view>(listener.field(listener.records().back(), "text")),
                  "by hand!");
    }
    eventlog_provider_unregister(provider);
    return listener.records().size() - 1;
}

TEST(small_event, uses_fast_path_and_clears_rseq_cs) {
    if (!eventlog::core::rseq_available()) {
        GTEST_SKIP() << "there are no restartable sequences here";
    }
    const scoped_environment_variable tsc("EVENTLOG_TSC", "on");
    constexpr std::uint64_t events = 200;
    const std::size_t heard = emit_by_hand(events);
    EXPECT_EQ(heard, events - slow_path_count);
    // A thread that is interrupted goes the longer way.
    EXPECT_LT(slow_path_count, events / 2);
}

TEST(small_event, falls_back_with_clock_unreadable_in_sequence) {
    const scoped_environment_variable tsc("EVENTLOG_TSC", "off");
    EXPECT_EQ(emit_by_hand(200), 0U);
    EXPECT_EQ(slow_path_count, 200U);
}
#endif

}  // namespace
