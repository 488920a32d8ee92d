// SPDX-License-Identifier: MIT
//
// Random predicates and aggregations: they are rejected with a message and a column, or their
// results for a random payload are deterministic, and a predicate and its negation are not both
// true.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "aggregate/aggregate_report.hpp"
#include "aggregate/aggregator.hpp"
#include "base/user_error.hpp"
#include "fuzz_target.hpp"
#include "predicate/record_filter.hpp"
#include "text_and_payload.hpp"

namespace {

constexpr std::string_view schema = R"(
provider p {
    enum state : i16 { closed = -1, open = 1 }
    flags bits : u32 { one = 1, two = 2, four = 4 }
    event first info {
        b: bool  c: char  i1: i8  i2: i16  i4: i32  i8: i64  u1: u8  u2: u16  u4: u32  u8: u64
        f4: f32  f8: f64  t: text  d: bytes  s: state  f: bits  row: u16[3]
        took: i64 format duration  at: i64 format realtime  size: u64 format byte_size
        error: i32 format error_number  ip4: ip4  ip6: ip6  mac: mac  label: char[8] format characters
        wait: u32 unit "ms"  o: u32?  ot: text?  peer_port: u16
    }
    event second warn { t: text  u8: u8  i8: f64 }
    event third error {}
}
)";

const elog::provider_instance& provider() {
    static const elog::provider_instance made = make_provider(schema);
    return made;
}

void check_refusal(const elog::user_error& error, std::string_view source) {
    const std::string_view message = error.what();
    check(message.starts_with(source) && message.substr(source.size()).starts_with(", column "));
}

std::unique_ptr<elog::record_filter> filter_of(std::string_view text) {
    try {
        auto filter = std::make_unique<elog::record_filter>(elog::predicate("w", text), 0);
        filter->add(provider());
        filter->check_names();
        return filter;
    } catch (const elog::user_error& error) {
        check_refusal(error, "w");
        return nullptr;
    }
}

template <class Take>
void for_each_record(const std::vector<std::uint8_t>& payload, const Take& take) {
    for (std::size_t event = 0; event < provider().schema.events.size(); ++event) {
        elog::record_view record;
        record.event = static_cast<std::uint16_t>(event);
        record.time = payload.size();
        record.payload = payload;
        take(record);
    }
}

void filter_all(const text_and_payload& input, const elog::clock_converter& clock) {
    const auto filter = filter_of(input.text);
    if (!filter) {
        return;
    }
    const auto negated = filter_of("!(" + input.text + ")");
    for_each_record(input.payload, [&](const elog::record_view& record) {
        const bool matches = filter->matches(record, clock);
        check(matches == filter->matches(record, clock));
        check(!negated || !matches || !negated->matches(record, clock));
    });
}

void aggregate_all(const text_and_payload& input, const elog::clock_converter& clock) {
    try {
        elog::aggregator computed(elog::aggregation::parse("a", input.text), nullptr, 4);
        computed.add(provider());
        computed.check_names();
        for (std::size_t cut = 0; cut < 8; ++cut) {
            const std::vector<std::uint8_t> part = input.payload_without(cut);
            for_each_record(part,
                            [&](const elog::record_view& record) { computed.take(record, clock); });
        }
        fmt::memory_buffer out;
        elog::append_table(out, computed, {20, true}, "5");
        elog::append_json(out, computed, {});
    } catch (const elog::user_error& error) {
        check_refusal(error, "a");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const text_and_payload input(data, size);
    elog::clock_converter clock;
    clock.add({1, 1, 1});
    filter_all(input, clock);
    aggregate_all(input, clock);
    return 0;
}
