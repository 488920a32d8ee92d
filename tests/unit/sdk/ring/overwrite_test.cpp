// SPDX-License-Identifier: MIT
//
// Overwrite mode with one writer: new records replace the oldest, and no record is torn. Every
// event is accounted for: attempted = read + overwritten + unread.
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "decoded_records.hpp"
#include "listener.hpp"
#include "marked_payload.hpp"
#include "memory/region_reader.hpp"
#include "ring_fixture.hpp"

namespace {

using namespace overwrite_test;
using eventlog::test::plain;

class overwriting_ring : public eventlog::test::ring_fixture {
  protected:
    bool write(std::uint64_t thread, std::uint64_t number) {
        const marked_payload payload(thread, number);
        return plain(GetParam().write(*slot, mapping, eventlog::test::first_provider,
                                      {0, payload.size, payload.words.data(), {}})) ==
               write_result::written;
    }

    /// Checks that the records of each ring are complete, without gap or repetition.
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
        // From the first remaining record to the last: without a gap.
        std::uint64_t expected = attempted - listener->records().size();
        for (const received_record& record : listener->records()) {
            EXPECT_EQ(mark_of(record).number, expected);
            EXPECT_EQ(record.sequence, expected + attached());
            ++expected;
        }
        // At least the capacity of all buffers but one.
        std::uint64_t bytes = 0;
        for (const received_record& record : listener->records()) {
            bytes += EVENTLOG_EXTENDED_HEADER_SIZE + record.payload.size();
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
    // A reader that starts later accounts for all events; the overwritten ones only as a number.
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
    // As after a long time, just before the 18 bits of the control word wrap. The events before are
    // few: the reader rejects counts that grow by more than one each nanosecond.
    eventlog_ring* ring = slot->ring(written_ring());
    const std::uint64_t generation = 3 * (EVENTLOG_GENERATION_MASK + 1) - 2;
    eventlog_buffer* descriptors = descriptors_of(ring);
    descriptors[0] = {generation, 2000, 0, 0};
    descriptors[1] = {generation - 1, 1000, 0, 0};
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
    EXPECT_EQ(listener->records().back().sequence, 3999U);
    const elog::ring_totals& totals = listener->reader().rings()[written_ring()];
    EXPECT_EQ(totals.read + totals.overwritten, 4000U);
}

TEST_P(overwriting_ring, survives_producer_death_during_buffer_switch) {
    start_listener({buffer_size, 2, true});
    std::uint64_t attempted = 0;
    for (; attempted < 700; ++attempted) {
        ASSERT_TRUE(write(1, attempted));
    }
    // The next buffer's descriptor is taken; the control word still has the old one.
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
    // A reader copies at most 1 MiB at once, and needs two steps for such a buffer.
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
        for (const elog::record_view& record : eventlog::test::decode_records(run)) {
            const mark found =
                mark_of({record, 0, 0, 0, {record.payload.begin(), record.payload.end()}, {}});
            EXPECT_EQ(found.number, number++);
        }
        if (is_first) {
            is_first = false;
            write_some(7000);  // through both buffers, and more
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
    // A reader copies at most 1 MiB at once, and needs two steps for such a buffer.
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
            write_some(7000);  // through both buffers, and more
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

INSTANTIATE_TEST_SUITE_P(writers, overwriting_ring,
                         ::testing::ValuesIn(eventlog::test::ring_writers),
                         eventlog::test::ring_writer_name);

}  // namespace
