// SPDX-License-Identifier: MIT
//
// The context of a CPU's ring: which records have it, and which leave it out.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <variant>

#include <gtest/gtest.h>

#include <eventlog/eventlog.hpp>

#include "listener.hpp"
#include "memory/region_reader.hpp"
#include "ring/clock.hpp"
#include "ring/region.hpp"
#include "ring/rseq.hpp"
#include "ring/subscription_slots.hpp"
#include "ring_fixture.hpp"
#include "scoped_environment.hpp"

namespace {

using namespace eventlog::core;
using eventlog::test::event_listener;
using eventlog::test::received_record;
using eventlog::test::slot_of;

struct tiny {
    std::uint64_t number;
};
struct note {
    std::string_view text;
};
using context_test = eventlog::provider<"context_test", tiny, note>;

constexpr std::size_t buffer_size = 128U << 10U;
// Of a record of `tiny`.
constexpr std::uint64_t short_size = 16;
constexpr std::uint64_t context_size = 24;

std::uint32_t own_thread() {
    return static_cast<std::uint32_t>(::syscall(SYS_gettid));
}

/// The thread has one CPU, whose ring it writes to. Its provider is attached.
class ring_context : public ::testing::Test {
  protected:
    void SetUp() override {
        context_test::emit(tiny{0});
        slot = slot_of(listener);
        ASSERT_NE(slot, nullptr);
        if (slot->fast_cpus.load() == 0) {
            GTEST_SKIP() << "no restartable sequences here, or no processor clock";
        }
        listener.poll();
        listener.clear_records();
    }

    [[nodiscard]] eventlog_ring& ring() const {
        return *slot->ring(static_cast<std::uint32_t>(pinned.cpu()));
    }
    [[nodiscard]] control_word control() const { return {shared(ring().control).load()}; }
    [[nodiscard]] std::uint64_t context() const { return shared(ring().context).load(); }

    /// The bytes that the events take in the ring. A thread that is interrupted between a record
    /// and the store of its context leaves none: then the events are emitted again, by `prepare`
    /// and `emit`.
    std::uint64_t size_of(const std::function<void()>& prepare, const std::function<void()>& emit) {
        for (int attempt = 0; attempt < 100; ++attempt) {
            prepare();
            const std::uint64_t begin = control().position();
            const bool is_known = context() != 0;
            emit();
            if (is_known && context() != 0) {
                return control().position() - begin;
            }
        }
        ADD_FAILURE() << "the ring never has a context";
        return 0;
    }
    static void emit_tiny() { context_test::emit(tiny{1}); }
    static void emit_in_thread() {
        std::thread([] { context_test::emit(tiny{2}); }).join();
    }

    const eventlog::test::pinned_to_one_cpu pinned;
    // Its clock is that of sequences which read no other.
    const eventlog::test::scoped_environment_variable tsc{"EVENTLOG_TSC", "on"};
    event_listener listener{"context_test:*", {buffer_size, 4}};
    subscription_slot* slot = nullptr;
};

TEST_F(ring_context, of_its_thread_is_left_out) {
    EXPECT_EQ(size_of(emit_tiny, emit_tiny), short_size);
    EXPECT_EQ(context() >> 32U, own_thread());
    EXPECT_EQ(context() & 0xffffffffU, read_clock(EVENTLOG_CLOCK_TSC) >> 32U);
}

TEST_F(ring_context, of_another_thread_is_written) {
    EXPECT_EQ(size_of(emit_in_thread, emit_tiny), context_size);
    EXPECT_EQ(context() >> 32U, own_thread());
    EXPECT_EQ(size_of(emit_tiny, emit_in_thread), context_size);
    EXPECT_NE(context() >> 32U, own_thread());
}

TEST_F(ring_context, of_another_upper_time_is_written) {
    const auto age = [this] {
        emit_tiny();
        shared(ring().context).store(context() == 0 ? 0 : context() - 1);
    };
    EXPECT_EQ(size_of(age, emit_tiny), context_size);
    EXPECT_EQ(size_of(emit_tiny, emit_tiny), short_size);
}

TEST_F(ring_context, is_unchanged_by_records_with_three_words) {
    const std::string text(300, 'x');
    const std::string long_text(2000, 'x');
    const auto emit_others = [&] {
        context_test::emit(note{text});
        std::thread([&] { context_test::emit(note{long_text}); }).join();
        emit_tiny();
    };
    // Three words, a text's word, the text and its NUL, in whole words.
    const std::uint64_t others = 24 + (4 + 301 + 7) / 8 * 8 + 24 + (4 + 2001 + 7) / 8 * 8;
    EXPECT_EQ(size_of(emit_tiny, emit_others), others + short_size);
}

TEST_F(ring_context, is_unknown_at_the_begin_of_a_buffer) {
    for (int buffer = 0; buffer < 3; ++buffer) {
        const std::uint64_t generation = control().generation();
        while (control().generation() == generation) {
            emit_tiny();
        }
        EXPECT_EQ(control().position(), context_size);
    }
}

TEST_F(ring_context, is_kept_by_a_reader_between_its_polls) {
    std::uint64_t time = 0;
    for (int i = 0; i < 100; ++i) {
        if (i % 10 == 9) {
            emit_in_thread();
        } else {
            emit_tiny();
        }
        listener.poll();
        ASSERT_EQ(listener.records().size(), 1U);
        const received_record& record = listener.records().front();
        EXPECT_EQ(record.header.thread == own_thread(), i % 10 != 9);
        EXPECT_EQ(record.header.cpu, static_cast<std::uint16_t>(pinned.cpu()));
        EXPECT_GE(record.header.time, time);
        time = record.header.time;
        listener.clear_records();
    }
    EXPECT_LE(time, read_clock(EVENTLOG_CLOCK_TSC));
}

struct first {
    std::uint64_t number;
};
struct second {
    std::uint64_t number;
};
using one_provider = eventlog::provider<"numbered_one", first, second>;
using another_provider = eventlog::provider<"numbered_another", first, second>;
using late_provider = eventlog::provider<"numbered_late", first, second>;

TEST(event_number, is_consecutive_in_the_region) {
    event_listener listener("numbered_*:*");
    one_provider::emit(first{1});
    another_provider::emit(second{2});
    listener.poll();
    ASSERT_EQ(listener.providers().size(), 2U);
    const elog::provider_instance& one = listener.providers().at(0);
    const elog::provider_instance& another = listener.providers().at(1);
    EXPECT_EQ(one.event_base, 1U);
    EXPECT_EQ(another.event_base, 1 + one.schema.events.size());
    ASSERT_EQ(listener.records().size(), 2U);
    for (const received_record& record : listener.records()) {
        const bool is_first = listener.event_name(record) == "first";
        EXPECT_EQ(record.header.provider, is_first ? 0U : 1U);
    }
}

TEST(event_number, is_refused_when_there_are_no_more) {
    event_listener listener("numbered_*:*");
    one_provider::emit(first{1});
    const subscription_slot* const slot = slot_of(listener);
    ASSERT_NE(slot, nullptr);
    listener.poll();
    ASSERT_EQ(listener.providers().size(), 1U);
    const std::uint64_t count = listener.providers().at(0).schema.events.size();
    // One number too few for all events of a provider, then just enough.
    shared(slot->region()->event_numbers).store(EVENTLOG_EVENT_NUMBER_MAX - count + 1);
    another_provider::emit(first{2});
    const std::uint32_t refused = listener.reader().providers_refused();
    EXPECT_GT(refused, 0U);
    shared(slot->region()->event_numbers).store(EVENTLOG_EVENT_NUMBER_MAX - count);
    late_provider::emit(first{3});
    EXPECT_EQ(listener.reader().providers_refused(), refused);
    listener.poll();
    ASSERT_EQ(listener.providers().size(), 2U);
    ASSERT_EQ(listener.records().size(), 2U);
    const received_record& last = listener.records().back();
    EXPECT_EQ(listener.providers().at(last.header.provider).event_base,
              EVENTLOG_EVENT_NUMBER_MAX - count + 1);
    EXPECT_EQ(std::get<std::uint64_t>(listener.field(last, "number")), 3U);
}

}  // namespace
