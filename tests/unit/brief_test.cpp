// SPDX-License-Identifier: MIT
//
// Events of at most three words and one text, which have a way of their own into the ring.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "listener.hpp"

namespace {

using eventlog::test::heard_record;
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

TEST(brief, is_what_has_few_words_and_one_text) {
    using namespace eventlog::detail;
    EXPECT_TRUE(is_brief<fixed_4> && is_brief<fixed_8> && is_brief<fixed_12> &&
                is_brief<fixed_16> && is_brief<fixed_20> && is_brief<fixed_24>);
    EXPECT_FALSE(is_brief<four_words> || is_brief<two_texts> || is_brief<c_string> ||
                 is_brief<optional_text> || is_brief<bytes> || is_brief<no_text>);
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

}  // namespace
