// SPDX-License-Identifier: MIT
//
// The fixture of the tests of aggregations: a provider with fields of many kinds, and the outputs.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "aggregate/aggregate_report.hpp"
#include "aggregate/aggregator.hpp"
#include "record_builder.hpp"

namespace aggregation_test {

using elog::aggregation;
using elog::aggregator;
using elog::wide_integer;
using eventlog::test::record_builder;
using eventlog::test::test_record;

inline constexpr std::string_view schema = R"(
provider net {
    enum state : u8 { closed = 0, open = 1 }
    event packet info {
        bytes: u64  left: i64  share: f64  why: text  state: state  took: i64 format duration
        size: u32 format byte_size  maybe: u32?  peer: ip4  row: u8[2]  good: bool
    }
    event other info { why: text  bytes: u16 }
    event slow info { took: u32 unit "ms"  left: text }
    event traced info {
        address: u64 format hexadecimal  flags: i32 format hexadecimal  spent: u64 format duration
        at: u64 format monotonic  when: i64 format realtime  ratio: f64?
    }
}
)";

class aggregations : public ::testing::Test {
  protected:
    record_builder net{schema, "tester", 7};

    [[nodiscard]] aggregator make(std::string_view text, std::size_t keys = 1000,
                                  bool all = false) const {
        aggregator made(aggregation::parse("The aggregation", text), nullptr, keys,
                        [all](const auto&, const elog::event_schema& event) {
                            return all || event.name != "slow";
                        });
        made.add(net.provider());
        made.check_names();
        return made;
    }

    [[nodiscard]] std::string rejection(std::string_view text) const {
        try {
            static_cast<void>(make(text, 1000, true));
        } catch (const elog::user_error& error) {
            return error.what();
        }
        return {};
    }

    void expect_rejection(std::string_view text, std::size_t column, std::string_view part) const {
        const std::string said = rejection(text);
        EXPECT_TRUE(said.starts_with("The aggregation, column " + std::to_string(column) + ": "))
            << text << "\n"
            << said;
        EXPECT_NE(said.find(part), std::string::npos) << text << "\n" << said;
    }

    static void take(aggregator& into, const test_record& record) {
        into.take(record.view(), record_builder::clock());
    }

    [[nodiscard]] static std::string json(const aggregator& computed) {
        fmt::memory_buffer out;
        elog::append_json(out, computed, {});
        return {out.data(), out.size()};
    }
    [[nodiscard]] static std::string table(const aggregator& computed, bool blocks = false) {
        fmt::memory_buffer out;
        elog::append_table(out, computed, {60, blocks}, {});
        return {out.data(), out.size()};
    }
};

}  // namespace aggregation_test
