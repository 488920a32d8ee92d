// SPDX-License-Identifier: MIT
#include "compact_block.hpp"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "byte_builder.hpp"

namespace eventlog::test::compact {

owned_record owned(const elog::compact_record& record) {
    return {record.event, record.thread, record.time,
            record.cpu,   record.flags,  {record.payload.begin(), record.payload.end()}};
}

shaped_record record_of(elog::compact_shape shape, bytes payload, std::uint32_t event) {
    return {{event, start.thread, start.time, start.cpu, 0, std::move(payload)}, shape};
}

bytes text_payload(std::size_t fixed, std::size_t word, std::string_view text) {
    byte_builder payload;
    for (std::size_t i = 0; i < fixed; ++i) {
        payload.add(static_cast<std::uint8_t>(0x80 + i));
    }
    payload.put(word, static_cast<std::uint32_t>((text.size() + 1) << 16U | (fixed - word - 4)));
    payload.add_text(text).add(std::uint8_t{0});
    return payload.bytes();
}

shaped_record reference() {
    return record_of(reference_shape, text_payload(20, 16, "twelve chars"));
}

bytes encode(const std::vector<shaped_record>& records, const elog::compact_context& from) {
    std::size_t bound = 0;
    for (const shaped_record& each : records) {
        bound += elog::compact_encoder::size_bound(each.record.payload.size());
    }
    bytes buffer(bound);
    elog::compact_encoder encoder;
    encoder.begin(buffer, from);
    for (const shaped_record& each : records) {
        const std::size_t before = encoder.bytes().size();
        EXPECT_TRUE(encoder.add(each.record.view(), each.shape));
        EXPECT_LE(encoder.bytes().size() - before,
                  elog::compact_encoder::size_bound(each.record.payload.size()));
    }
    buffer.resize(encoder.bytes().size());
    return buffer;
}

decoded_block decode(std::span<const std::uint8_t> block, const elog::compact_context& from) {
    decoded_block decoded;
    elog::compact_decoder decoder;
    decoder.begin(block, from);
    elog::compact_record record;
    while ((decoded.end = decoder.next(record)) == elog::compact_result::record) {
        decoded.records.push_back(owned(record));
    }
    return decoded;
}

bytes round_trip(const std::vector<shaped_record>& records, const elog::compact_context& from) {
    bytes block = encode(records, from);
    const decoded_block decoded = decode(block, from);
    EXPECT_EQ(decoded.end, elog::compact_result::end);
    EXPECT_EQ(decoded.records.size(), records.size());
    for (std::size_t i = 0; i < std::min(records.size(), decoded.records.size()); ++i) {
        EXPECT_EQ(decoded.records[i], records[i].record) << i;
    }
    return block;
}

bytes definition(std::uint32_t event, elog::compact_shape shape) {
    return byte_builder()
        .add(std::uint8_t{0xfc})
        .add(event)
        .add(static_cast<std::uint8_t>(shape.mode))
        .add(shape.fixed)
        .add(shape.text_word)
        .bytes();
}

bytes block_of(elog::compact_shape shape, const bytes& rest) {
    return byte_builder().add_bytes(definition(5, shape)).add_bytes(rest).bytes();
}

}  // namespace eventlog::test::compact
