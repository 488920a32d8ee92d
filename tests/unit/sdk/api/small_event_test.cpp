// SPDX-License-Identifier: MIT
//
// Small events are delivered whole, whatever the size and the address of their text.
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <variant>

#include <gtest/gtest.h>

#include <eventlog/eventlog.h>
#include <eventlog/eventlog.hpp>

#include "listener.hpp"
#include "run_in_child.hpp"
#include "small_events.hpp"

namespace {

using namespace small_event_test;
using eventlog::test::pinned_to_one_cpu;
using eventlog::test::run_in_child;

/// Fixed parts of odd size, and one with the session id.
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
inline constexpr eventlog::event_info eventlog::event_info_of<in_session>{.session_bound = true};

namespace {

using odd_test = eventlog::provider<"brief_odd_test", fixed_5, in_session>;
using session = eventlog::session<odd_test>;

/// Memory between two inaccessible pages.
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
        // Each buffer ends after another remainder.
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
    // Sizes beyond a record, and sizes whose low 32 or 48 bits would look valid.
    std::uint64_t attempted = 0;
    for (const std::size_t around :
         {std::size_t{65'508 + 64}, std::size_t{1} << 32U, std::size_t{1} << 48U, SIZE_MAX / 2}) {
        for (std::size_t size = around - 64; size != around + 8; ++size) {
            brief_test::emit(fixed_4{{"not readable", size}});
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

}  // namespace
