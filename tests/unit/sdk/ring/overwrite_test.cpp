// SPDX-License-Identifier: MIT
//
// Overwrite mode: what is new takes the place of the oldest, nobody is handed half of either, and
// every event is accounted for: attempted = read + overwritten + still unread.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "listener.hpp"
#include "memory/region_reader.hpp"
#include "ring_fixture.hpp"

namespace {

using namespace eventlog::core;
using eventlog::test::received_record;
using eventlog::test::plain;
using eventlog::test::ring_test;
using eventlog::test::tick;
using eventlog::test::ring_writer_param;

constexpr std::size_t buffer_size = 128U << 10U;

// Sizes that leave another remainder in each buffer.
constexpr std::size_t words_max = 200;
constexpr std::size_t words_of(std::uint64_t number) noexcept {
    return 1 + number * 7 % words_max;
}

/// A payload of which every word says whose it is and where it stands.
struct marked_payload {
    std::array<std::uint64_t, words_max> words{};
    std::size_t size = 0;

    marked_payload(std::uint64_t thread, std::uint64_t number) noexcept
        : size(words_of(number) * sizeof(std::uint64_t)) {
        for (std::size_t i = 0; i < words_of(number); ++i) {
            words[i] = (thread << 48U | number) + (std::uint64_t{i} << 32U);
        }
    }
};

struct mark {
    std::uint64_t thread = 0;
    std::uint64_t number = 0;
};

/// Whose record it is; fails the test if it is not whole.
mark mark_of(const received_record& record) {
    std::uint64_t first = 0;
    EXPECT_GE(record.payload.size(), sizeof first);
    std::memcpy(&first, record.payload.data(), sizeof first);
    const mark found{first >> 48U, first & 0xffffffffU};
    const marked_payload expected(found.thread, found.number);
    EXPECT_EQ(record.payload.size(), expected.size);
    EXPECT_EQ(std::memcmp(record.payload.data(), expected.words.data(),
                          std::min(record.payload.size(), expected.size)),
              0);
    return found;
}

/// Recorded in all rings so far, by what the producers say.
std::uint64_t recorded_in(subscription_slot& slot) {
    std::uint64_t recorded = 0;
    for (std::uint32_t i = 0; i < slot.ring_count.load(); ++i) {
        eventlog_ring* ring = slot.ring(i);
        if (shared(ring->backed).load() != 0) {
            const control_word control{shared(ring->control).load()};
            recorded += descriptors_of(ring)[control.generation() & slot.buffer_mask.load()]
                            .records_before +
                        control.count();
        }
    }
    return recorded;
}

class overwriting_ring : public eventlog::test::ring_fixture {
  protected:
    bool write(std::uint64_t thread, std::uint64_t number) {
        const marked_payload payload(thread, number);
        return plain(GetParam().write(*slot, serial, 0,
                                      {0, payload.size, payload.words.data(), {}})) ==
               write_result::written;
    }

    /// The records one by one: whole, and of each ring none left out or told twice.
    void check_sequences(std::uint64_t first) {
        std::map<std::uint32_t, std::uint64_t> expected;
        expected[written_ring()] = first;
        for (const received_record& record : listener->records()) {
            std::uint64_t& next = expected[record.ring];
            next += record.lost_before;
            EXPECT_EQ(record.sequence, next);
            ++next;
        }
    }

    [[nodiscard]] std::uint32_t written_ring() const {
        return contains_attaching_event() && rseq_available() ? static_cast<std::uint32_t>(pinned.cpu())
                                                         : slot->ring_count.load() - 1;
    }
    [[nodiscard]] static std::uint64_t attached() { return contains_attaching_event() ? 1 : 0; }
};

TEST_P(overwriting_ring, accepts_all_and_keeps_newest) {
    for (const std::uint32_t buffers : {2U, 4U, 64U}) {
        start_listener({buffer_size, buffers, true});
        const std::uint64_t attempted = std::uint64_t{buffers} * 400;
        for (std::uint64_t number = 0; number < attempted; ++number) {
            ASSERT_TRUE(write(1, number));
        }
        listener->finish();
        ASSERT_FALSE(listener->records().empty());
        // From the first that is left to the last one: without a gap.
        std::uint64_t expected = attempted - listener->records().size();
        for (const received_record& record : listener->records()) {
            EXPECT_EQ(mark_of(record).number, expected);
            EXPECT_EQ(record.sequence, expected + attached());
            ++expected;
        }
        // At least what fits into all buffers but one.
        std::uint64_t bytes = 0;
        for (const received_record& record : listener->records()) {
            bytes += sizeof(eventlog_record) + record.payload.size();
        }
        EXPECT_GT(bytes, (buffers - 1) * (buffer_size - 2000));
        EXPECT_LE(bytes, buffers * buffer_size);
        listener.reset();
    }
}

TEST_P(overwriting_ring, reports_overwritten_before_remaining_records) {
    start_listener({buffer_size, 2, true});
    for (std::uint64_t number = 0; number < 1000; ++number) {
        ASSERT_TRUE(write(1, number));
    }
    listener->poll();
    ASSERT_FALSE(listener->records().empty());
    const std::uint64_t gone = 1000 - listener->records().size();
    EXPECT_GT(gone, 0U);
    EXPECT_EQ(listener->records().front().lost_before, gone);
    EXPECT_EQ(listener->totals().overwritten, gone);
    EXPECT_EQ(listener->totals().lost, 0U);
    for (std::size_t i = 1; i < listener->records().size(); ++i) {
        EXPECT_EQ(listener->records()[i].lost_before, 0U);
    }
    listener->finish();
    EXPECT_EQ(listener->totals().overwritten, gone);
}

TEST_P(overwriting_ring, loses_nothing_with_fast_reader) {
    start_listener({buffer_size, 2, true});
    for (std::uint64_t number = 0; number < 20000; ++number) {
        ASSERT_TRUE(write(1, number));
        if (number % 50 == 0) {
            listener->poll();
        }
    }
    listener->finish();
    ASSERT_EQ(listener->records().size(), 20000U);
    for (std::uint64_t number = 0; number < 20000; ++number) {
        ASSERT_EQ(mark_of(listener->records()[number]).number, number);
    }
    EXPECT_EQ(listener->totals().overwritten, 0U);
}

TEST_P(overwriting_ring, reports_each_gap_in_place_with_slow_reader) {
    start_listener({buffer_size, 4, true});
    std::uint64_t attempted = 0;
    for (const unsigned burst : {100U, 3000U, 1U, 1500U, 700U, 0U, 5000U, 80U}) {
        for (unsigned i = 0; i < burst; ++i) {
            ASSERT_TRUE(write(1, attempted));
            ++attempted;
        }
        listener->poll();
        const elog::ring_totals totals = listener->totals();
        EXPECT_EQ(totals.read + totals.overwritten, attempted + 1);
    }
    EXPECT_GT(listener->totals().overwritten, 0U);
    check_sequences(attached());
    for (const received_record& record : listener->records()) {
        EXPECT_EQ(mark_of(record).number, record.sequence - attached());
    }
}

TEST_P(overwriting_ring, counts_unread_records) {
    start_listener({buffer_size, 2, true});
    for (std::uint64_t number = 0; number < 700; ++number) {
        ASSERT_TRUE(write(1, number));
    }
    EXPECT_EQ(listener->totals().read, 1U);
    EXPECT_EQ(recorded_in(*slot), 701U);
    // Somebody who comes later finds all of them, those that are gone as a number.
    elog::region_reader late(listener->source().region(), elog::producer_policy::never_wait);
    late.poll([](const elog::record_run&) {});
    const elog::ring_totals& totals = late.rings()[written_ring()];
    EXPECT_EQ(totals.read + totals.overwritten, 700 + attached());
    EXPECT_GT(totals.overwritten, 0U);
}

TEST_P(overwriting_ring, gives_same_result_to_each_reader) {
    start_listener({buffer_size, 4, true});
    for (std::uint64_t number = 0; number < 3000; ++number) {
        ASSERT_TRUE(write(1, number));
    }
    std::vector<std::uint64_t> sequences;
    for (int reader = 0; reader < 3; ++reader) {
        elog::region_reader other(listener->source().region(), elog::producer_policy::never_wait);
        std::uint64_t sum = 0;
        other.poll([&](const elog::record_run& run) { sum += run.sequence * 1000 + run.count; });
        sequences.push_back(sum);
    }
    EXPECT_EQ(sequences[0], sequences[1]);
    EXPECT_EQ(sequences[0], sequences[2]);
}

TEST_P(overwriting_ring, is_exact_after_generation_wrap) {
    start_listener({buffer_size, 2, true});
    // As it would be after a long time, just before the word's 18 bits begin anew.
    eventlog_ring* ring = slot->ring(written_ring());
    const std::uint64_t generation = 3 * (EVENTLOG_GENERATION_MASK + 1) - 2;
    eventlog_buffer* descriptors = descriptors_of(ring);
    descriptors[0] = {generation, 1'000'000, 0, 0};
    descriptors[1] = {generation - 1, 999'000, 0, 0};
    shared(ring->control).store(control_word::first_of(generation).value);
    for (std::uint64_t number = 0; number < 2000; ++number) {
        ASSERT_TRUE(write(1, number));
        if (number == 1000) {
            listener->poll();
        }
    }
    EXPECT_GT(descriptors[0].generation, generation + 2);
    listener->finish();
    check_sequences(attached());
    EXPECT_EQ(listener->records().back().sequence, 1'001'999U);
    const elog::ring_totals& totals = listener->reader().rings()[written_ring()];
    EXPECT_EQ(totals.read + totals.overwritten, 1'002'000U);
}

TEST_P(overwriting_ring, survives_producer_death_during_buffer_switch) {
    start_listener({buffer_size, 2, true});
    std::uint64_t attempted = 0;
    for (; attempted < 700; ++attempted) {
        ASSERT_TRUE(write(1, attempted));
    }
    // The next buffer is taken as far as its descriptor; the control word still is the old one.
    eventlog_ring* ring = slot->ring(written_ring());
    const control_word control{shared(ring->control).load()};
    eventlog_buffer* descriptors = descriptors_of(ring);
    const std::uint64_t generation = descriptors[control.generation() & 1U].generation;
    descriptors[(generation + 1) & 1U].generation = generation + 1;
    descriptors[(generation + 1) & 1U].records_before = 77;
    listener->poll();
    elog::ring_totals totals = listener->totals();
    EXPECT_EQ(totals.read + totals.overwritten, attempted + 1);
    for (; attempted < 1400; ++attempted) {
        ASSERT_TRUE(write(1, attempted));
    }
    listener->finish();
    totals = listener->totals();
    EXPECT_EQ(totals.read + totals.overwritten, attempted + 1);
    check_sequences(attached());
    EXPECT_EQ(mark_of(listener->records().back()).number, attempted - 1);
}

TEST_P(overwriting_ring, discards_copy_overwritten_during_read) {
    // A reader copies 1 MiB at once, so that it needs two turns for such a buffer.
    start_listener({2U << 20U, 2, true});
    std::uint64_t attempted = 0;
    const auto write_some = [&](unsigned count) {
        for (unsigned i = 0; i < count; ++i) {
            ASSERT_TRUE(write(1, attempted));
            ++attempted;
        }
    };
    write_some(2200);  // most of a buffer
    std::uint64_t next = attached();
    std::uint64_t delivered = 0;
    bool is_first = true;
    const auto take = [&](const elog::record_run& run) {
        if (run.ring != written_ring()) {
            return;
        }
        EXPECT_EQ(run.sequence, next + run.lost_before);
        next = run.sequence + run.count;
        delivered += run.count;
        std::uint64_t number = run.sequence - attached();
        for (std::span<const std::uint8_t> rest = run.bytes; !rest.empty(); ++number) {
            const elog::record_view record = elog::take_record(rest);
            const mark found = mark_of(
                {record.header, 0, 0, 0, {record.payload.begin(), record.payload.end()}, {}});
            EXPECT_EQ(found.number, number);
        }
        if (is_first) {
            is_first = false;
            write_some(7000);  // over both buffers, and more
        }
    };
    listener->reader().poll(take);
    EXPECT_FALSE(is_first);
    listener->reader().poll(take);
    const elog::ring_totals totals = listener->totals();
    EXPECT_EQ(totals.read, delivered + 1);
    EXPECT_GT(totals.overwritten, 0U);
    EXPECT_EQ(totals.read + totals.overwritten, attempted + 1);
    EXPECT_EQ(totals.damaged, 0U);
}

TEST_P(overwriting_ring, accounts_for_everything_when_reader_is_overtaken_once) {
    // A reader copies 1 MiB at once, so that it needs two turns for such a buffer.
    start_listener({2U << 20U, 2, true});
    std::uint64_t attempted = 0;
    const auto write_some = [&](unsigned count) {
        for (unsigned i = 0; i < count; ++i) {
            ASSERT_TRUE(write(1, attempted));
            ++attempted;
        }
    };
    write_some(2200);  // most of a buffer
    elog::region_reader once(listener->source().region(), elog::producer_policy::never_wait);
    int overtaken = 0;
    once.poll([&](const elog::record_run& run) {
        if (run.ring == written_ring() && overtaken < 3) {
            ++overtaken;
            write_some(7000);  // over both buffers, and more
        }
    });
    static_cast<void>(once.finish());
    const elog::ring_totals& totals = once.rings()[written_ring()];
    EXPECT_EQ(totals.read + totals.overwritten, attempted + attached());
    EXPECT_EQ(totals.damaged, 0U);
}

TEST_P(overwriting_ring, accounts_for_everything_when_reader_is_overtaken_repeatedly) {
    start_listener({2U << 20U, 2, true});
    std::uint64_t attempted = 0;
    std::uint64_t known = 0;
    elog::region_reader once(listener->source().region(), elog::producer_policy::never_wait);
    const auto write_some = [&](unsigned count) {
        for (unsigned i = 0; i < count; ++i) {
            ASSERT_TRUE(write(1, attempted));
            ++attempted;
        }
    };
    write_some(2200);
    once.poll([&](const elog::record_run& run) {
        if (run.ring == written_ring()) {
            known = attempted;
            write_some(7000);
        }
    });
    static_cast<void>(once.finish());
    const elog::ring_totals& totals = once.rings()[written_ring()];
    EXPECT_GE(totals.read + totals.overwritten, known + attached());
    EXPECT_LE(totals.read + totals.overwritten, attempted + attached());
}

/// Several threads on all CPUs, and a reader that polls while they write, or does not.
class overwriting_threads : public ::testing::TestWithParam<ring_writer_param> {
  protected:
    static constexpr unsigned threads = 4;
    static constexpr std::uint64_t records = 15000;

    /// Returns how many have been recorded.
    std::uint64_t write_all() {
        std::atomic<std::uint64_t> recorded{0};
        std::vector<std::thread> concurrent_writers;
        for (unsigned thread = 0; thread < threads; ++thread) {
            concurrent_writers.emplace_back([this, thread, &recorded] {
                std::uint64_t written = 0;
                for (std::uint64_t number = 0; number < records; ++number) {
                    const marked_payload payload(thread, number);
                    const write_result result = plain(GetParam().write(
                        *slot, serial, 0, {0, payload.size, payload.words.data(), {}}));
                    EXPECT_TRUE(result == write_result::written ||
                                result == write_result::lost_busy);
                    written += result == write_result::written ? 1 : 0;
                }
                recorded += written;
            });
        }
        for (std::thread& each : concurrent_writers) {
            each.join();
        }
        return recorded + 1;  // the one that attached the provider
    }

    /// Reads while they write; between two polls it lets that many turns go by.
    std::uint64_t write_all_read_by(int turns) {
        std::atomic<bool> done{false};
        std::uint64_t recorded = 0;
        std::thread writers([&] {
            recorded = write_all();
            done = true;
        });
        while (!done) {
            listener.poll();
            for (int turn = 0; turn < turns && !done; ++turn) {
                std::this_thread::yield();
            }
        }
        writers.join();
        return recorded;
    }

    /// Whole, in order, none twice, and all accounted for.
    void check(std::uint64_t recorded) {
        std::map<std::uint32_t, std::uint64_t> next;
        std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> next_number;
        for (const received_record& record : listener.records()) {
            next[record.ring] += record.lost_before;
            ASSERT_EQ(record.sequence, next[record.ring]);
            ++next[record.ring];
            if (is_attaching(record)) {
                continue;
            }
            const mark found = mark_of(record);
            std::uint64_t& expected = next_number[{record.ring, found.thread}];
            ASSERT_GE(found.number, expected);
            expected = found.number + 1;
        }
        const elog::ring_totals totals = listener.totals();
        EXPECT_EQ(totals.read, listener.records().size());
        EXPECT_EQ(totals.read + totals.overwritten, recorded);
        EXPECT_EQ(totals.lost, 0U);
        EXPECT_EQ(totals.damaged, 0U);
        EXPECT_EQ(recorded_in(*slot), recorded);
    }

    static bool is_attaching(const received_record& record) {
        std::uint64_t number = 0;
        std::memcpy(&number, record.payload.data(), sizeof number);
        return number == attaching;
    }

    static constexpr std::uint64_t attaching = 0xabcdU;

    void SetUp() override {
        ring_test::emit(tick{attaching});
        slot = eventlog::test::slot_of(listener);
        ASSERT_NE(slot, nullptr);
        serial = slot->serial.load();
    }

    eventlog::test::event_listener listener{"ring_test:*", {buffer_size, 2, true}};
    subscription_slot* slot = nullptr;
    std::uint64_t serial = 0;
};

TEST_P(overwriting_threads, are_exact_with_continuous_reader) {
    const std::uint64_t recorded = write_all_read_by(0);
    listener.finish();
    check(recorded);
}

TEST_P(overwriting_threads, are_exact_with_slow_reader) {
    const std::uint64_t recorded = write_all_read_by(50);
    listener.finish();
    check(recorded);
}

TEST_P(overwriting_threads, are_exact_with_final_read) {
    const std::uint64_t recorded = write_all();
    listener.finish();
    check(recorded);
    EXPECT_GT(listener.totals().overwritten, 0U);
}

TEST_P(overwriting_threads, are_exact_without_reader) {
    const std::uint64_t recorded = write_all();
    EXPECT_EQ(listener.totals().read, 0U);
    EXPECT_EQ(recorded_in(*slot), recorded);
}

INSTANTIATE_TEST_SUITE_P(writers, overwriting_ring,
                         ::testing::ValuesIn(eventlog::test::ring_writers),
                         eventlog::test::ring_writer_name);
INSTANTIATE_TEST_SUITE_P(writers, overwriting_threads,
                         ::testing::ValuesIn(eventlog::test::ring_writers),
                         eventlog::test::ring_writer_name);

/// Who looks on at a subscription that somebody else owns.
TEST(second_reader, consumes_nothing) {
    const eventlog::test::pinned_to_one_cpu pinned;
    eventlog::test::event_listener listener("ring_test:*", {buffer_size, 2, false});
    for (std::uint64_t number = 0; number < 100; ++number) {
        ring_test::emit(tick{number});
    }
    for (int time = 0; time < 2; ++time) {
        elog::region_reader other(listener.source().region(), elog::producer_policy::never_wait);
        std::uint64_t read = 0;
        other.poll([&](const elog::record_run& run) { read += run.count; });
        EXPECT_EQ(read, 100U);
    }
    listener.finish();
    EXPECT_EQ(listener.records().size(), 100U);
}

TEST(second_reader, reports_drops_of_full_ring) {
    const eventlog::test::pinned_to_one_cpu pinned;
    eventlog::test::event_listener listener("ring_test:*", {buffer_size, 2, false});
    for (std::uint64_t number = 0; number < 20000; ++number) {
        ring_test::emit(tick{number});
    }
    elog::region_reader other(listener.source().region(), elog::producer_policy::never_wait);
    std::uint64_t read = 0;
    other.poll([&](const elog::record_run& run) { read += run.count; });
    std::uint64_t lost = 0;
    for (const std::uint64_t each : other.finish()) {
        lost += each;
    }
    EXPECT_GT(lost, 0U);
    EXPECT_EQ(read + lost, 20000U);
}

}  // namespace
