// SPDX-License-Identifier: MIT
//
// The layout of the kernel module's records: stored and read by the same pair of files.
#include "record/kernel_records.hpp"

#include <linux/eventlog.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "kernel_record_list.hpp"

namespace {

using bytes = std::vector<std::uint8_t>;
using eventlog::test::append_kernel_record;

const bytes payload{1, 2, 3, 4, 5, 6, 7, 8, 9};

elog::record_view made_record() {
    elog::record_view made;
    made.provider = 0x1003;
    made.event = 0x203;
    made.cpu = 0x303;
    made.flags = EVENTLOG_RECORD_CUT;
    made.thread = 0x40000003;
    made.time = 0x5000000000000003U;
    made.payload = payload;
    return made;
}

TEST(kernel_records, have_the_layout_of_the_module) {
    bytes all;
    append_kernel_record(all, made_record());
    ASSERT_EQ(all.size(), 40U);
    eventlog_record header{};
    std::memcpy(&header, all.data(), sizeof header);
    EXPECT_EQ(header.size, sizeof header + 9);
    EXPECT_EQ(header.provider, 0x1003);
    EXPECT_EQ(header.event, 0x203);
    EXPECT_EQ(header.time, 0x5000000000000003U);
    EXPECT_EQ(header.thread, 0x40000003U);
    EXPECT_EQ(header.cpu, 0x303);
    EXPECT_EQ(header.flags, EVENTLOG_RECORD_CUT);
    EXPECT_EQ(bytes(all.begin() + 24, all.begin() + 33), payload);
    EXPECT_EQ(bytes(all.begin() + 33, all.end()), bytes(7));  // the padding
}

TEST(kernel_records, are_padded_with_zeros_over_earlier_bytes) {
    bytes over(elog::kernel_record_size(payload.size()), 0xff);
    elog::store_kernel_record(made_record(), over.data());
    bytes fresh;
    append_kernel_record(fresh, made_record());
    EXPECT_EQ(over, fresh);
}

TEST(kernel_records, are_peeked_without_payload_until_whole) {
    bytes all;
    append_kernel_record(all, made_record());
    for (std::size_t size = 0; size <= all.size(); ++size) {
        // A copy of exactly that size, so that AddressSanitizer finds each access behind it.
        const bytes cut(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size));
        const elog::kernel_record found = elog::peek_kernel_record(cut);
        EXPECT_FALSE(found.damaged) << size;
        EXPECT_EQ(found.size, size < 24 ? 0U : all.size()) << size;
        EXPECT_EQ(found.is_whole, size == all.size()) << size;
        EXPECT_EQ(found.record.payload.size(), found.is_whole ? payload.size() : 0U) << size;
        if (size >= 24) {
            EXPECT_EQ(found.record.provider, 0x1003U) << size;
            EXPECT_EQ(found.record.event, 0x203U) << size;
            EXPECT_EQ(found.record.time, 0x5000000000000003U) << size;
        }
    }
}

TEST(kernel_records, of_invalid_sizes_are_damaged) {
    bytes all;
    append_kernel_record(all, made_record());
    for (const std::uint32_t size : {0U, 1U, 23U, 0x10001U, 0x80000000U, 0xffffffffU}) {
        std::memcpy(all.data(), &size, sizeof size);
        EXPECT_TRUE(elog::peek_kernel_record(all).damaged) << size;
    }
    for (const std::uint32_t size : {24U, 0x10000U}) {
        std::memcpy(all.data(), &size, sizeof size);
        EXPECT_FALSE(elog::peek_kernel_record(all).damaged) << size;
    }
}

}  // namespace
