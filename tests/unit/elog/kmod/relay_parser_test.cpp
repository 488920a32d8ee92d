// SPDX-License-Identifier: MIT
//
// Converting the buffers of relay channels to the format of the device, whatever they contain.
#include "kmod/relay_parser.hpp"

#include <linux/eventlog_device.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "kmod/stream_marker.hpp"
#include "random_source.hpp"
#include "record/ring_records.hpp"
#include "ring_words.hpp"

namespace {

constexpr std::uint32_t subbuf_size = 4096;
constexpr std::uint16_t cpu = 1;
constexpr std::size_t header_size = sizeof(eventlog_relay_header);
constexpr std::uint64_t thread = 7;

using eventlog::test::append_words;
using eventlog::test::context_word;
using eventlog::test::extended_word;
using eventlog::test::record_word;

/// Bytes as a read of the buffer's file returns them.
struct buffer_bytes {
    std::vector<std::uint8_t> all{};

    buffer_bytes& add(const void* from, std::size_t size) {
        const auto* const begin = static_cast<const std::uint8_t*>(from);
        all.insert(all.end(), begin, begin + size);
        all.resize((all.size() + EVENTLOG_RECORD_ALIGNMENT - 1) / EVENTLOG_RECORD_ALIGNMENT *
                   EVENTLOG_RECORD_ALIGNMENT);
        return *this;
    }
    buffer_bytes& words(const std::vector<std::uint64_t>& added) {
        append_words(all, added);
        return *this;
    }
    buffer_bytes& header(eventlog_relay_header header) { return add(&header, sizeof header); }
    buffer_bytes& subbuf(std::uint64_t sequence, std::uint64_t records, std::uint64_t lost = 0) {
        return header({EVENTLOG_RELAY_MAGIC, cpu, 0, sequence, records, lost, 0, 0});
    }
    /// A record of 24 bytes with a context.
    buffer_bytes& first(std::uint64_t value) {
        return words({record_word(1, 1, 8), context_word(thread), value});
    }
    /// A record of 16 bytes without one.
    buffer_bytes& record(std::uint64_t value) { return words({record_word(1, 0, 8), value}); }
    /// An extended record with a payload of this size, of which a part is there.
    buffer_bytes& extended(std::uint64_t payload, std::size_t there) {
        words({record_word(1, 2, 0), context_word(thread), extended_word(payload, cpu)});
        all.resize(all.size() + there);
        return *this;
    }
};

/// The delivered items: values of records, and gaps of lost and overwritten ones.
struct seen_items {
    std::vector<std::uint64_t> values{};
    std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps{};
};

/// `context` is that in front of the bytes.
seen_items items_of(std::span<const std::uint8_t> bytes, std::uint64_t context) {
    seen_items seen;
    while (!bytes.empty()) {
        if (const std::optional<elog::stream_marker> marker = elog::peek_marker(bytes)) {
            const eventlog_run run = elog::run_of(*marker).value_or(eventlog_run{});
            EXPECT_EQ(run.ring, cpu);
            seen.gaps.emplace_back(run.lost, run.overwritten);
            context = marker->context;
            bytes = bytes.subspan(marker->size);
            continue;
        }
        const elog::peeked_record found = elog::peek_record(bytes, context);
        if (!found.is_whole) {
            ADD_FAILURE() << "not a whole record";
            break;
        }
        elog::record_view record;
        elog::run_reader reader(bytes.first(found.size), cpu, context);
        EXPECT_TRUE(reader.next(record));
        std::uint64_t value = 0;
        std::memcpy(&value, record.payload.data(), std::min(sizeof value, record.payload.size()));
        seen.values.push_back(value);
        context = found.context;
        bytes = bytes.subspan(found.size);
    }
    return seen;
}

class relay_parser : public ::testing::Test {
  protected:
    seen_items take(buffer_bytes bytes) {
        const std::uint64_t context = parser.context();
        const std::size_t whole = parser.rewrite(bytes.all);
        EXPECT_EQ(whole, bytes.all.size());
        return items_of(std::span(bytes.all).first(whole), context);
    }
    void refuse(buffer_bytes bytes) {
        EXPECT_THROW(static_cast<void>(parser.rewrite(bytes.all)), elog::user_error);
    }

    elog::relay_parser parser{cpu, subbuf_size};
};

using values = std::vector<std::uint64_t>;
using gaps = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

TEST_F(relay_parser, reports_empty_gap_without_loss) {
    const seen_items seen =
        take(buffer_bytes().subbuf(0, 0).first(1).record(2).subbuf(1, 2).first(3));
    EXPECT_EQ(seen.values, (values{1, 2, 3}));
    EXPECT_EQ(seen.gaps, (gaps{{0, 0}, {0, 0}}));
    EXPECT_EQ(parser.recorded(), 3U);
    EXPECT_EQ(parser.lost(), 0U);
}

TEST_F(relay_parser, reports_loss_since_previous_header) {
    const seen_items seen =
        take(buffer_bytes().subbuf(0, 0, 5).first(1).subbuf(1, 1, 7).subbuf(2, 1, 7));
    EXPECT_EQ(seen.gaps, (gaps{{5, 0}, {2, 0}, {0, 0}}));
    EXPECT_EQ(parser.lost(), 7U);
}

TEST_F(relay_parser, reports_overwritten_before_records) {
    const seen_items seen = take(buffer_bytes().subbuf(7, 100).first(1).subbuf(9, 103, 4));
    EXPECT_EQ(seen.gaps, (gaps{{0, 100}, {4, 2}}));
    EXPECT_EQ(parser.recorded(), 103U);
}

TEST_F(relay_parser, keeps_counts_across_reads) {
    take(buffer_bytes().subbuf(0, 0).first(1));
    EXPECT_EQ(parser.context(), context_word(thread));
    EXPECT_EQ(take(buffer_bytes().record(2).subbuf(1, 2)).gaps, (gaps{{0, 0}}));
    EXPECT_EQ(parser.recorded(), 2U);
    EXPECT_EQ(parser.context(), 0U);
}

TEST_F(relay_parser, waits_for_incomplete_record) {
    buffer_bytes bytes;
    bytes.subbuf(0, 0).first(1).record(2).extended(16, 16).subbuf(1, 3);
    // Ends of the items.
    const std::vector<std::size_t> ends{header_size, header_size + 24, header_size + 40,
                                        header_size + 80, 2 * header_size + 80};
    ASSERT_EQ(bytes.all.size(), ends.back());
    for (std::size_t size = 0; size <= bytes.all.size(); ++size) {
        elog::relay_parser fresh(cpu, subbuf_size);
        std::vector<std::uint8_t> part(bytes.all.begin(),
                                       bytes.all.begin() + static_cast<std::ptrdiff_t>(size));
        const std::size_t whole = fresh.rewrite(part);
        std::size_t wanted = 0;
        for (const std::size_t end : ends) {
            wanted = end <= size ? end : wanted;
        }
        EXPECT_EQ(whole, wanted) << size;
        std::vector<std::uint8_t> rest(bytes.all.begin() + static_cast<std::ptrdiff_t>(whole),
                                       bytes.all.end());
        EXPECT_EQ(fresh.rewrite(rest), rest.size());
        EXPECT_EQ(fresh.recorded(), 3U);
    }
}

TEST_F(relay_parser, accepts_largest_record) {
    const std::uint32_t room = subbuf_size - header_size - 24;
    EXPECT_EQ(take(buffer_bytes().subbuf(0, 0).extended(room, room)).values.size(), 1U);
}

TEST_F(relay_parser, accepts_less_than_ended_sub_buffer_after_reset) {
    take(buffer_bytes()
             .header({EVENTLOG_RELAY_MAGIC, cpu, 0, 0, 0, 0, 2, header_size + 40})
             .first(1)
             .subbuf(1, 2));
    EXPECT_EQ(parser.recorded(), 2U);
}

TEST_F(relay_parser, rejects_more_than_ended_sub_buffer_holds) {
    refuse(buffer_bytes()
               .header({EVENTLOG_RELAY_MAGIC, cpu, 0, 0, 0, 0, 1, header_size + 40})
               .first(1)
               .record(2));
    parser = {cpu, subbuf_size};
    refuse(buffer_bytes()
               .header({EVENTLOG_RELAY_MAGIC, cpu, 0, 0, 0, 0, 2, header_size + 32})
               .first(1)
               .record(2));
}

TEST_F(relay_parser, rejects_missing_header) {
    refuse(buffer_bytes().first(1));
}

TEST_F(relay_parser, rejects_invalid_headers) {
    const eventlog_relay_header good{EVENTLOG_RELAY_MAGIC, cpu, 0, 5, 10, 20, 0, 0};
    const auto refuse_second = [&](auto change) {
        parser = {cpu, subbuf_size};
        eventlog_relay_header second = good;
        second.sequence = 6;
        change(second);
        refuse(buffer_bytes().header(good).header(second));
    };
    refuse_second([](auto& header) { header.cpu = 0; });
    refuse_second([](auto& header) { header.sequence = 5; });
    refuse_second([](auto& header) { header.records_before = 9; });
    refuse_second([](auto& header) { header.lost_before = 19; });
    refuse_second([](auto& header) { header.used = subbuf_size + 8; });
    refuse_second([](auto& header) { header.used = 8; });
    refuse_second([](auto& header) { header.used = header_size + 1; });
}

TEST_F(relay_parser, rejects_invalid_records) {
    const auto refuse_behind_header = [&](auto add) {
        parser = {cpu, subbuf_size};
        buffer_bytes bytes;
        bytes.subbuf(0, 0);
        add(bytes);
        refuse(bytes);
    };
    refuse_behind_header([](auto& bytes) { bytes.record(1); });  // without a context
    // The context of a sub-buffer is not that of the next one.
    refuse_behind_header([](auto& bytes) { bytes.first(1).subbuf(1, 1).record(2); });
    refuse_behind_header([](auto& bytes) { bytes.words({0, 0}); });                     // no event
    refuse_behind_header([](auto& bytes) { bytes.words({record_word(1, 3, 0), 0}); });  // a marker
    for (const std::uint32_t size : {0xffffU, subbuf_size}) {
        refuse_behind_header([=](auto& bytes) { bytes.extended(size, 64); });
    }
    // Each of them would fit alone.
    refuse_behind_header([](auto& bytes) { bytes.extended(2016, 2016).extended(2000, 2000); });
}

TEST_F(relay_parser, terminates_on_any_input) {
    eventlog::test::random_source random(1);
    buffer_bytes good;
    good.subbuf(0, 0).first(1).record(2).subbuf(1, 2, 3).first(3);
    for (int round = 0; round < 20000; ++round) {
        std::vector<std::uint8_t> bytes = good.all;
        for (int change = 0; change < 3; ++change) {
            bytes[random.below(bytes.size())] = static_cast<std::uint8_t>(random.below(256));
        }
        bytes.resize(random.below(bytes.size() + 1));
        elog::relay_parser fresh(cpu, subbuf_size);
        try {
            const std::size_t whole = fresh.rewrite(bytes);
            ASSERT_LE(whole, bytes.size());
            static_cast<void>(items_of(std::span(bytes).first(whole), 0));
        } catch (const elog::user_error&) {
            continue;
        }
    }
}

}  // namespace
