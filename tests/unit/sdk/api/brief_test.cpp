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

#include "environment_variable.hpp"
#include "in_child.hpp"
#include "listener.hpp"
#include "ring/rseq.hpp"

namespace {

using eventlog::test::environment_variable;
using eventlog::test::heard_record;
using eventlog::test::in_child;
using eventlog::test::listener;
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
void expect_field(const listener& ears, const heard_record& record, std::string_view name,
                  Value value) {
    EXPECT_EQ(std::get<std::uint64_t>(ears.field(record, name)), value) << name;
}

/// The records behind `first` are those of emit_all, whole and with nothing else in them.
void expect_all(const listener& ears, std::size_t first, std::string_view text) {
    ASSERT_GE(ears.records().size(), first + 6);
    for (std::size_t event = 0; event < 6; ++event) {
        const heard_record& record = ears.records()[first + event];
        SCOPED_TRACE(ears.event_name(record) + ", " + std::to_string(text.size()) + " characters");
        EXPECT_EQ(record.header.event, event);
        EXPECT_EQ(record.header.flags, 0);
        EXPECT_EQ(record.payload.size(), 4 + 4 * event + text.size() + 1);
        EXPECT_EQ(std::get<std::string_view>(ears.field(record, "text")), text);
        EXPECT_EQ(record.payload.back(), 0);
        EXPECT_TRUE(std::all_of(record.padding.begin(), record.padding.end(),
                                [](std::uint8_t byte) { return byte == 0; }));
        if (event == 1) {
            expect_field(ears, record, "number", second);
        } else if (event != 0) {
            expect_field(ears, record, "number", number);
        }
        if (event > 2) {
            expect_field(ears, record, "second", second);
        }
        if (event > 3) {
            expect_field(ears, record, "third", third);
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

TEST(brief, is_what_has_few_words_and_one_text) {
    using namespace eventlog::detail;
    EXPECT_TRUE(is_small_event<fixed_4> && is_small_event<fixed_8> && is_small_event<fixed_12> &&
                is_small_event<fixed_16> && is_small_event<fixed_20> && is_small_event<fixed_24>);
    EXPECT_FALSE(is_small_event<four_words> || is_small_event<two_texts> ||
                 is_small_event<c_string> || is_small_event<optional_text> ||
                 is_small_event<bytes> || is_small_event<no_text>);
}

TEST(brief, texts_of_every_size_arrive) {
    listener ears("brief_test:*");
    const pinned_to_one_cpu pinned;
    for (std::size_t size = 0; size <= 600; ++size) {
        const std::string text = some_text(size);
        ears.forget_records();
        emit_all(text);
        ears.poll();
        expect_all(ears, 0, text);
        ASSERT_FALSE(HasFailure());
    }
}

TEST(brief, large_texts_arrive) {
    listener ears("brief_test:*", {.buffer_size = 1U << 20U});
    const pinned_to_one_cpu pinned;
    const std::string text = some_text(60'000);
    emit_all(text);
    ears.poll();
    expect_all(ears, 0, text);
}

TEST(brief, reads_nothing_but_the_text) {
    listener ears("brief_test:*");
    const pinned_to_one_cpu pinned;
    const fenced_memory memory;
    for (std::size_t size = 0; size <= 70; ++size) {
        const std::string text = some_text(size);
        ears.forget_records();
        emit_all(memory.at_the_begin(text));
        emit_all(memory.at_the_end(text));
        ears.poll();
        expect_all(ears, 0, text);
        expect_all(ears, 6, text);
        ASSERT_FALSE(HasFailure());
    }
}

TEST(brief, goes_on_in_the_next_buffer_wherever_one_ends) {
    listener ears("brief_test:*");
    const pinned_to_one_cpu pinned;
    for (std::size_t round = 0; round < 40; ++round) {
        // Different sizes in front of each end of a buffer.
        const std::string text = some_text(7 + round);
        const std::size_t size = 6 * (24 + 14 + text.size() + 1 + 4);
        ears.forget_records();
        std::size_t rounds = 0;
        for (std::size_t written = 0; written < std::size_t{128} << 10U; written += size) {
            emit_all(text);
            ++rounds;
        }
        ears.poll();
        ASSERT_EQ(ears.records().size(), 6 * rounds);
        for (std::size_t i = 0; i < rounds; ++i) {
            expect_all(ears, 6 * i, text);
            ASSERT_FALSE(HasFailure());
        }
    }
    EXPECT_EQ(ears.totals().lost, 0U);
}

TEST(brief, is_counted_by_its_provider) {
    listener ears("brief_test:*");
    const pinned_to_one_cpu pinned;
    const auto written = [] {
        return brief_test::status().routes[EVENTLOG_ROUTE_MEMORY].counters.written;
    };
    const std::uint64_t before = written();
    for (int i = 0; i < 100; ++i) {
        emit_all("counted");
    }
    EXPECT_EQ(written() - before, 600U);
    ears.poll();
    EXPECT_EQ(ears.records().size(), 600U);
}

TEST(brief, reaches_all_who_listen) {
    const pinned_to_one_cpu pinned;
    listener first("brief_test:*");
    emit_all("one");
    listener latter("brief_test:*");
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

TEST(brief, odd_sizes_and_sessions_arrive) {
    listener ears("brief_odd_test:*");
    const pinned_to_one_cpu pinned;
    const session own(77);
    for (std::size_t size = 0; size <= 40; ++size) {
        const std::string text = some_text(size);
        ears.forget_records();
        odd_test::emit(fixed_5{text, true});
        own.emit(in_session{1234, text});
        ears.poll();
        const auto& records = ears.records();
        const std::size_t first = records.size() - 2;
        EXPECT_EQ(std::get<std::string_view>(ears.field(records.at(first), "text")), text);
        EXPECT_TRUE(std::get<bool>(ears.field(records[first], "yes")));
        EXPECT_EQ(std::get<std::string_view>(ears.field(records.at(first + 1), "text")), text);
        expect_field(ears, records[first + 1], "session", 77U);
        expect_field(ears, records[first + 1], "number", 1234U);
        ASSERT_FALSE(HasFailure());
    }
}

TEST(brief, absurd_sizes_are_refused_and_harm_nobody) {
    listener ears("brief_test:*");
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
    ears.poll();
    EXPECT_EQ(refused() - before, attempted);
    ASSERT_EQ(ears.records().size(), 12U);
    expect_all(ears, 0, "before");
    expect_all(ears, 6, "after");
}

TEST(brief, first_event_of_a_thread_and_of_a_child_says_whose_it_is) {
    listener ears("brief_test:*");
    emit_all("here");
    std::uint32_t thread = 0;
    std::thread([&] {
        thread = static_cast<std::uint32_t>(::gettid());
        emit_all("there");
    }).join();
    ears.poll();
    ASSERT_EQ(ears.records().size(), 12U);
    for (const heard_record& record : ears.records()) {
        const bool there = std::get<std::string_view>(ears.field(record, "text")) == "there";
        EXPECT_EQ(record.header.thread, there ? thread : static_cast<std::uint32_t>(::gettid()));
    }
    ears.forget_records();
    EXPECT_EQ(in_child([] {
                  emit_all("child");
                  return 0;
              }),
              0);
    ears.poll();
    ASSERT_EQ(ears.records().size(), 6U);
    for (const heard_record& record : ears.records()) {
        EXPECT_NE(record.header.thread, static_cast<std::uint32_t>(::gettid()));
        EXPECT_EQ(std::get<std::string_view>(ears.field(record, "text")), "child");
    }
}

TEST(brief, goes_to_who_listens_now_in_the_place_of_another) {
    const pinned_to_one_cpu pinned;
    for (int round = 0; round < 20; ++round) {
        listener ears(round % 2 == 0 ? "brief_test:*" : "brief*:*");
        emit_all("successor");
        ears.finish();
        ASSERT_EQ(ears.records().size(), 6U);
        expect_all(ears, 0, "successor");
        ASSERT_FALSE(HasFailure());
    }
}

TEST(brief, every_event_is_counted_wherever_its_thread_is_interrupted) {
    listener ears("brief_test:*", {.buffer_size = 1U << 20U});
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
            ears.poll();
            ears.forget_records();
        }
        for (std::thread& worker : workers) {
            worker.join();
        }
    }
    ears.finish();
    const eventlog_counters after = counters();
    const std::uint64_t lost = after.lost_full - before.lost_full + after.lost_busy -
                               before.lost_busy + after.lost_unattached - before.lost_unattached;
    EXPECT_EQ(after.written - before.written + lost, threads * events);
    EXPECT_EQ(ears.totals().read, after.written - before.written);
}

#if defined(__x86_64__) && defined(RSEQ_SIG)
/// What the thread tells the kernel of the sequence that it is in.
std::uint64_t told_sequence() {
    std::uint64_t told = 0;
    asm volatile("movq %%fs:8(%[area]), %[told]" : [told] "=r"(told) : [area] "r"(__rseq_offset));
    return told;
}

unsigned longer_ways = 0;

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
    listener ears("brief_by_hand:*");
    const pinned_to_one_cpu pinned;
    const std::array values{eventlog_unsigned(5), eventlog_text("attaches")};
    EXPECT_EQ(eventlog_emit_values(provider, 0, values.data(), values.size()), EVENTLOG_ERROR_NONE);

    longer_ways = 0;
    const eventlog_site site{provider,
                             [](const eventlog_site*, std::uint64_t, std::uint64_t, std::uint64_t,
                                const void*, std::size_t) { ++longer_ways; },
                             24 + 12, 12, *reinterpret_cast<std::uint32_t* const*>(provider)};
    for (std::uint64_t i = 0; i < events; ++i) {
        eventlog_emit_text(&site, i, 9U << 16U, 0, "by hand!", 9);
        EXPECT_EQ(told_sequence(), 0U);
    }
    ears.poll();
    if (longer_ways != events) {
        EXPECT_EQ(std::get<std::string_view>(ears.field(ears.records().back(), "text")),
                  "by hand!");
    }
    eventlog_provider_unregister(provider);
    return ears.records().size() - 1;
}

TEST(brief, goes_the_shortest_way_and_leaves_no_sequence_behind) {
    if (!eventlog::core::rseq_available()) {
        GTEST_SKIP() << "there are no restartable sequences here";
    }
    const environment_variable tsc("EVENTLOG_TSC", "on");
    constexpr std::uint64_t events = 200;
    const std::size_t heard = emit_by_hand(events);
    EXPECT_EQ(heard, events - longer_ways);
    // A thread that is interrupted goes the longer way.
    EXPECT_LT(longer_ways, events / 2);
}

TEST(brief, goes_no_short_way_by_a_clock_that_sequences_cannot_read) {
    const environment_variable tsc("EVENTLOG_TSC", "off");
    EXPECT_EQ(emit_by_hand(200), 0U);
    EXPECT_EQ(longer_ways, 200U);
}
#endif

}  // namespace
