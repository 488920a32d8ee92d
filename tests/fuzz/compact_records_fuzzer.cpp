// SPDX-License-Identifier: MIT
//
// Random blocks of compacted records: a second decoder finds the same records and the same damage.
// All records up to the first damage are equal after they have been encoded again, with shapes that
// fit or do not.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "compact/compact_decoder.hpp"
#include "compact/compact_encoder.hpp"
#include "fuzz_target.hpp"
#include "plain_compact_decoder.hpp"

namespace {

constexpr elog::compact_context start{1000, 7, 3};

struct owned_record {
    elog::compact_record record;  // its span is not used
    std::vector<std::uint8_t> payload;

    [[nodiscard]] elog::compact_record view() const {
        elog::compact_record whole = record;
        whole.payload = payload;
        return whole;
    }
};

template <class Record>
bool is_equal(const elog::compact_record& one, const Record& other) {
    return one.event == other.event && one.thread == other.thread && one.time == other.time &&
           one.cpu == other.cpu && one.flags == other.flags &&
           std::equal(one.payload.begin(), one.payload.end(), other.payload.begin(),
                      other.payload.end());
}

std::vector<owned_record> decode(std::span<const std::uint8_t> block) {
    elog::compact_decoder decoder;
    decoder.begin(block, start);
    elog::compact_record record;
    eventlog::test::plain_compact_decoder plain(block, start.time, start.thread, start.cpu);
    std::vector<owned_record> records;
    elog::compact_result result{};
    while ((result = decoder.next(record)) == elog::compact_result::record) {
        const auto expected = plain.next();
        check(expected && is_equal(record, *expected));
        records.push_back({record, {record.payload.begin(), record.payload.end()}});
    }
    check(!plain.next());
    check(plain.is_damaged() == (result == elog::compact_result::damaged));
    check(records.size() <= block.size() / 2);
    return records;
}

/// The shape of a payload with a text behind its fixed part; sized without one.
elog::compact_shape text_shape(std::span<const std::uint8_t> payload) {
    for (std::size_t at = 0; at + 4 <= payload.size() && at <= UINT8_MAX; ++at) {
        std::uint32_t word = 0;
        std::memcpy(&word, payload.data() + at, sizeof word);
        const std::size_t fixed = at + 4 + (word & 0xffffU);
        if (word != 0 && fixed <= UINT8_MAX && fixed + (word >> 16U) == payload.size()) {
            return {elog::compact_mode::text, static_cast<std::uint8_t>(fixed),
                    static_cast<std::uint8_t>(at)};
        }
    }
    return {};
}

/// Half of the threads' numbers stand for any shape, also for one that is not valid.
elog::compact_shape shape_of(const elog::compact_record& record) {
    if ((record.thread & 0x80U) != 0) {
        return {static_cast<elog::compact_mode>(record.thread & 3U),
                static_cast<std::uint8_t>(record.thread >> 8U),
                static_cast<std::uint8_t>(record.thread >> 16U)};
    }
    if (record.event % 2 == 0) {
        return {elog::compact_mode::fixed, static_cast<std::uint8_t>(record.payload.size()), 0};
    }
    return text_shape(record.payload);
}

/// Checks a block of the records from `first` on, and returns their number.
std::size_t check_block(std::span<const std::uint8_t> encoded,
                        std::span<const owned_record> first) {
    // A copy of exactly that size, so that a sanitizer detects reads beyond its end.
    const std::vector<std::uint8_t> block(encoded.begin(), encoded.end());
    const std::vector<owned_record> again = decode(block);
    check(again.size() <= first.size());
    for (std::size_t i = 0; i < again.size(); ++i) {
        check(is_equal(again[i].view(), first[i].view()));
    }
    return again.size();
}

void check_round_trip(std::span<const owned_record> records) {
    std::vector<std::uint8_t> buffer(elog::compact_encoder::size_bound(elog::compact_payload_max));
    elog::compact_encoder encoder;
    encoder.begin(buffer, start);
    std::size_t begin = 0;
    std::size_t next = 0;
    while (next < records.size()) {
        const elog::compact_record record = records[next].view();
        const std::size_t before = encoder.bytes().size();
        if (encoder.add(record, shape_of(record))) {
            check(encoder.bytes().size() - before <=
                  elog::compact_encoder::size_bound(record.payload.size()));
            ++next;
            continue;
        }
        check(encoder.bytes().size() == before && next > begin);
        check(check_block(encoder.bytes(), records.subspan(begin)) == next - begin);
        encoder.begin(buffer, start);
        begin = next;
    }
    check(check_block(encoder.bytes(), records.subspan(begin)) == next - begin);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::vector<std::uint8_t> block(data, data + size);
    check_round_trip(decode(block));
    return 0;
}
