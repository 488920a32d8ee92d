// SPDX-License-Identifier: MIT
//
// Converting the buffers of relay channels to the format of the device, whatever they contain.
#include "kmod/relay_parser.hpp"

#include <linux/eventlog_device.h>

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "base/user_error.hpp"
#include "kernel_record_list.hpp"
#include "random_source.hpp"

namespace {

constexpr std::uint32_t subbuf_size = 4096;
constexpr std::uint16_t cpu = 1;
constexpr std::size_t header_size = sizeof(eventlog_relay_header);

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
    buffer_bytes& header(eventlog_relay_header header) { return add(&header, sizeof header); }
    buffer_bytes& subbuf(std::uint64_t sequence, std::uint64_t records, std::uint64_t lost = 0) {
        return header({EVENTLOG_RELAY_MAGIC, cpu, sequence, records, lost, 0, 0});
    }
    buffer_bytes& record(std::uint64_t value, std::uint16_t of_cpu = cpu,
                         std::uint16_t provider = 0) {
        struct {
            eventlog_record head{};
            std::uint64_t value = 0;
        } made{{}, value};
        made.head.size = sizeof made;
        made.head.provider = provider;
        made.head.cpu = of_cpu;
        return add(&made, sizeof made);
    }
    buffer_bytes& record_of_size(std::uint32_t size, std::size_t there) {
        std::vector<std::uint8_t> bytes(there);
        eventlog_record head{};
        head.size = size;
        head.cpu = cpu;
        std::memcpy(bytes.data(), &head, std::min(sizeof head, there));
        return add(bytes.data(), bytes.size());
    }
};

/// The delivered items: values of records, and gaps of lost and overwritten ones.
struct seen_items {
    std::vector<std::uint64_t> values{};
    std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps{};
};

seen_items items_of(std::span<const std::uint8_t> bytes) {
    seen_items seen;
    for (const elog::record_view& record : eventlog::test::decode_kernel_records(bytes)) {
        EXPECT_EQ(record.cpu, cpu);
        if (record.provider == EVENTLOG_LOST_PROVIDER) {
            eventlog_lost_payload missing{};
            std::memcpy(&missing, record.payload.data(), sizeof missing);
            seen.gaps.emplace_back(missing.lost, missing.overwritten);
        } else {
            std::memcpy(&seen.values.emplace_back(), record.payload.data(), 8);
        }
    }
    return seen;
}

class relay_parser : public ::testing::Test {
  protected:
    seen_items take(buffer_bytes bytes) {
        const std::size_t whole = parser.rewrite(bytes.all);
        EXPECT_EQ(whole, bytes.all.size());
        return items_of(std::span(bytes.all).first(whole));
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
        take(buffer_bytes().subbuf(0, 0).record(1).record(2).subbuf(1, 2).record(3));
    EXPECT_EQ(seen.values, (values{1, 2, 3}));
    EXPECT_EQ(seen.gaps, (gaps{{0, 0}, {0, 0}}));
    EXPECT_EQ(parser.recorded(), 3U);
    EXPECT_EQ(parser.lost(), 0U);
}

TEST_F(relay_parser, reports_loss_since_previous_header) {
    const seen_items seen =
        take(buffer_bytes().subbuf(0, 0, 5).record(1).subbuf(1, 1, 7).subbuf(2, 1, 7));
    EXPECT_EQ(seen.gaps, (gaps{{5, 0}, {2, 0}, {0, 0}}));
    EXPECT_EQ(parser.lost(), 7U);
}

TEST_F(relay_parser, reports_overwritten_before_records) {
    const seen_items seen = take(buffer_bytes().subbuf(7, 100).record(1).subbuf(9, 103, 4));
    EXPECT_EQ(seen.gaps, (gaps{{0, 100}, {4, 2}}));
    EXPECT_EQ(parser.recorded(), 103U);
}

TEST_F(relay_parser, keeps_counts_across_reads) {
    take(buffer_bytes().subbuf(0, 0).record(1));
    EXPECT_EQ(take(buffer_bytes().record(2).subbuf(1, 2)).gaps, (gaps{{0, 0}}));
    EXPECT_EQ(parser.recorded(), 2U);
}

TEST_F(relay_parser, waits_for_incomplete_record) {
    buffer_bytes bytes;
    bytes.subbuf(0, 0).record(1).record(2).subbuf(1, 2);
    const std::size_t first_end = header_size + 32;
    for (std::size_t size = 0; size <= bytes.all.size(); ++size) {
        elog::relay_parser fresh(cpu, subbuf_size);
        std::vector<std::uint8_t> part(bytes.all.begin(),
                                       bytes.all.begin() + static_cast<std::ptrdiff_t>(size));
        const std::size_t whole = fresh.rewrite(part);
        const std::size_t wanted = size < header_size                    ? 0
                                   : size < first_end                    ? header_size
                                   : size < first_end + 32               ? first_end
                                   : size < first_end + 32 + header_size ? first_end + 32
                                                                         : bytes.all.size();
        EXPECT_EQ(whole, wanted) << size;
        std::vector<std::uint8_t> rest(bytes.all.begin() + static_cast<std::ptrdiff_t>(whole),
                                       bytes.all.end());
        EXPECT_EQ(fresh.rewrite(rest), rest.size());
        EXPECT_EQ(fresh.recorded(), 2U);
    }
}

TEST_F(relay_parser, accepts_largest_record) {
    const std::uint32_t room = subbuf_size - header_size;
    EXPECT_EQ(take(buffer_bytes().subbuf(0, 0).record_of_size(room, room)).values.size(), 1U);
}

TEST_F(relay_parser, accepts_less_than_ended_sub_buffer_after_reset) {
    take(buffer_bytes()
             .header({EVENTLOG_RELAY_MAGIC, cpu, 0, 0, 0, 2, header_size + 64})
             .record(1)
             .subbuf(1, 2));
    EXPECT_EQ(parser.recorded(), 2U);
}

TEST_F(relay_parser, rejects_more_than_ended_sub_buffer_holds) {
    refuse(buffer_bytes()
               .header({EVENTLOG_RELAY_MAGIC, cpu, 0, 0, 0, 1, header_size + 64})
               .record(1)
               .record(2));
    parser = {cpu, subbuf_size};
    refuse(buffer_bytes()
               .header({EVENTLOG_RELAY_MAGIC, cpu, 0, 0, 0, 2, header_size + 32})
               .record(1)
               .record(2));
}

TEST_F(relay_parser, rejects_missing_header) {
    refuse(buffer_bytes().record(1));
}

TEST_F(relay_parser, rejects_invalid_headers) {
    const eventlog_relay_header good{EVENTLOG_RELAY_MAGIC, cpu, 5, 10, 20, 0, 0};
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
    refuse_behind_header([](auto& bytes) { bytes.record(1, cpu + 1); });
    refuse_behind_header([](auto& bytes) { bytes.record(1, cpu, EVENTLOG_LOST_PROVIDER); });
    for (const std::uint32_t size : {0U, 23U, 0x10001U, 0xffffffffU, subbuf_size}) {
        refuse_behind_header([=](auto& bytes) { bytes.record_of_size(size, 64); });
    }
    // Each of them would fit alone.
    refuse_behind_header(
        [](auto& bytes) { bytes.record_of_size(2040, 2040).record_of_size(2024, 2024); });
}

TEST_F(relay_parser, terminates_on_any_input) {
    eventlog::test::random_source random(1);
    buffer_bytes good;
    good.subbuf(0, 0).record(1).record(2).subbuf(1, 2, 3).record(3);
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
            static_cast<void>(eventlog::test::decode_kernel_records(std::span(bytes).first(whole)));
        } catch (const elog::user_error&) {
            continue;
        }
    }
}

}  // namespace
