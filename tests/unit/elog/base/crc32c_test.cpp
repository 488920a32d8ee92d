// SPDX-License-Identifier: MIT
#include "base/crc32c.hpp"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace {

std::span<const std::uint8_t> bytes_of(std::string_view text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TEST(crc32c, matches_rfc_3720_vectors) {
    EXPECT_EQ(elog::crc32c(bytes_of("123456789")), 0xe3069283U);
    EXPECT_EQ(elog::crc32c(std::vector<std::uint8_t>(32, 0)), 0x8a9136aaU);
    EXPECT_EQ(elog::crc32c(std::vector<std::uint8_t>(32, 0xff)), 0x62a8ab43U);
    EXPECT_EQ(elog::crc32c({}), 0U);
}

TEST(crc32c, table_matches_instruction_for_every_length_and_alignment) {
    std::vector<std::uint8_t> bytes;
    for (unsigned i = 0; i < 200; ++i) {
        bytes.push_back(static_cast<std::uint8_t>(i * 37));
    }
    for (std::size_t begin = 0; begin < 8; ++begin) {
        for (std::size_t size = 0; size < 150; ++size) {
            const auto part = std::span(bytes).subspan(begin, size);
            EXPECT_EQ(elog::crc32c(part), elog::crc32c_by_table(part));
        }
    }
}

TEST(crc32c, continues_from_partial_checksum) {
    EXPECT_EQ(elog::crc32c(bytes_of("6789"), elog::crc32c(bytes_of("12345"))),
              elog::crc32c(bytes_of("123456789")));
}

}  // namespace
