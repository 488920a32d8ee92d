// SPDX-License-Identifier: MIT
//
// Counts and rates of events, and the contents of their fields.
#include "top/top_statistics.hpp"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "record/ring_records.hpp"
#include "record_builder.hpp"

namespace {

using eventlog::test::record_builder;
using eventlog::test::test_record;

constexpr const char* trade = R"(provider trade {
    enum reason : u8 { full = 0, late = 1 }
    event sold warn "Something was sold" {
        items: u32
        took: u64 format duration
        code: u32 format hexadecimal
        weight: f64
        why: reason
        customer: text?
    }
    event closed info { }
})";

class top_counting : public testing::Test {
  protected:
    top_counting() { counted.add(maker.provider()); }

    /// Returns the record's size in a ring.
    std::size_t sell(std::uint32_t items, const char* customer, std::uint8_t why = 0) {
        test_record sold = maker.record("sold");
        sold.set("items", std::uint64_t{items});
        sold.set("took", std::uint64_t{items} * 1000);
        sold.set("code", std::uint64_t{items} * 16);
        sold.set("weight", items / 2.0);
        sold.set("why", std::uint64_t{why});
        if (customer != nullptr) {
            sold.set_text("customer", customer);
        }
        counted.take(sold.view());
        return elog::usual_ring_size(sold.view());
    }

    [[nodiscard]] const elog::field_statistics& field(const std::string& name) const {
        for (const elog::field_statistics& each : counted.fields()) {
            if (each.name() == name) {
                return each;
            }
        }
        ADD_FAILURE() << "no field " << name;
        return counted.fields().front();
    }

    [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> values(
        const std::string& name, std::size_t wanted = 10) const {
        std::vector<std::pair<std::string, std::uint64_t>> all;
        for (const auto& each : field(name).most_frequent(wanted)) {
            all.emplace_back(each.text, each.count);
        }
        return all;
    }

    record_builder maker{trade, "till", 4242};
    elog::top_statistics counted;
    const elog::event_name sold_name{"trade", "sold"};
};

TEST_F(top_counting, count_events_and_bytes_per_event) {
    const std::size_t size = sell(1, "ann");
    sell(2, "bob");
    test_record closed = maker.record("closed");
    counted.take(closed.view());
    ASSERT_EQ(counted.providers().size(), 1U);
    const elog::top_provider& provider = counted.providers()[0];
    EXPECT_EQ(provider.name, "trade");
    EXPECT_EQ(provider.events.total(), 3U);
    ASSERT_EQ(provider.seen.size(), 2U);
    EXPECT_EQ(provider.seen[0].name, "sold");
    EXPECT_EQ(provider.seen[0].severity, eventlog::level::warn);
    EXPECT_EQ(provider.seen[0].events.total(), 2U);
    EXPECT_EQ(provider.seen[1].events.total(), 1U);
    EXPECT_EQ(counted.bytes().total(), provider.bytes.total());
    EXPECT_EQ(provider.seen[0].bytes.total(), 2 * size) << "as much as in a ring";
    EXPECT_EQ(provider.seen[1].bytes.total(), 8U);
}

TEST_F(top_counting, rate_is_that_of_the_last_interval) {
    sell(1, "ann");
    EXPECT_EQ(counted.events().rate(), 0);
    counted.end_interval(0.5);
    EXPECT_EQ(counted.events().rate(), 2);
    sell(1, "ann");
    sell(1, "ann");
    sell(1, "ann");
    counted.end_interval(1);
    counted.end_interval(1);
    EXPECT_EQ(counted.find(sold_name)->events.history(), (std::vector<double>{2, 3, 0}));
    EXPECT_EQ(counted.events().rate(), 0);
    EXPECT_EQ(counted.events().total(), 4U);
    EXPECT_EQ(counted.seconds(), 2.5);
}

TEST_F(top_counting, history_is_bounded) {
    for (std::size_t i = 0; i < elog::rate_counter::history_max + 5; ++i) {
        counted.end_interval(1);
    }
    EXPECT_EQ(counted.events().history().size(), elog::rate_counter::history_max);
}

TEST_F(top_counting, processes_of_one_provider_count_together) {
    const record_builder second{trade, "till", 4243, 1};
    counted.add(second.provider());
    sell(1, "ann");
    counted.take(second.record("sold").view());
    ASSERT_EQ(counted.providers().size(), 1U);
    EXPECT_EQ(counted.providers()[0].processes, 2U);
    ASSERT_EQ(counted.providers()[0].seen.size(), 1U);
    EXPECT_EQ(counted.providers()[0].seen[0].events.total(), 2U);
}

TEST_F(top_counting, losses_are_counted_since_start) {
    counted.update_losses(0, 10);
    counted.end_interval(1);
    counted.update_losses(0, 10);
    counted.update_losses(0, 15);
    counted.update_losses(7, 100);
    EXPECT_EQ(counted.providers()[0].lost.rate(), 10);
    EXPECT_EQ(counted.lost().total(), 15U);
}

TEST_F(top_counting, losses_of_unknown_provider_count_globally) {
    counted.update_losses(0, 10);
    counted.update_unattributed_losses(3);
    counted.update_unattributed_losses(3);
    counted.update_unattributed_losses(7);
    EXPECT_EQ(counted.lost().total(), 17U);
    EXPECT_EQ(counted.providers()[0].lost.total(), 10U);
}

TEST_F(top_counting, records_of_unknown_provider_are_counted_separately) {
    const record_builder unknown{trade, "till", 4243, 5};
    counted.take(unknown.record("sold").view());
    test_record newer = maker.record("sold");
    newer.header().flags = 0x80;
    counted.take(newer.view());
    test_record beyond = maker.record("sold");
    beyond.header().event = 99;
    counted.take(beyond.view());
    EXPECT_EQ(counted.unrecognized(), 3U);
    EXPECT_EQ(counted.events().total(), 0U);
}

TEST_F(top_counting, collect_values_of_selected_event_only) {
    sell(1, "ann");
    counted.examine(sold_name);
    EXPECT_TRUE(counted.fields().empty());
    sell(2, "ann");
    counted.take(maker.record("closed").view());
    EXPECT_EQ(counted.seen_count(), 1U);
    EXPECT_EQ(counted.fields().size(), 6U);
    counted.examine(sold_name);
    EXPECT_EQ(counted.seen_count(), 1U) << "the same is not forgotten";
    counted.examine({"trade", "closed"});
    EXPECT_EQ(counted.seen_count(), 0U);
    EXPECT_TRUE(counted.fields().empty());
    counted.examine_nothing();
    sell(1, "ann");
    EXPECT_EQ(counted.seen_count(), 0U);
}

TEST_F(top_counting, collect_values_of_late_provider) {
    counted.examine(sold_name);
    const record_builder second{trade, "till", 4243, 1};
    counted.add(second.provider());
    counted.take(second.record("sold").view());
    EXPECT_EQ(counted.seen_count(), 1U);
}

TEST_F(top_counting, limit_time_for_value_collection) {
    counted.examine(sold_name);
    for (std::uint64_t i = 0; i < elog::top_statistics::examined_max + 10; ++i) {
        sell(1, "ann");
    }
    EXPECT_EQ(counted.examined(), elog::top_statistics::examined_max);
    EXPECT_EQ(counted.seen_count(), elog::top_statistics::examined_max + 10);
    counted.end_interval(1);
    sell(1, "ann");
    EXPECT_EQ(counted.examined(), elog::top_statistics::examined_max + 1);
}

TEST_F(top_counting, numbers_have_formatted_minimum_maximum_and_average) {
    counted.examine(sold_name);
    sell(1, "ann");
    sell(2, "ann");
    sell(6, "ann");
    EXPECT_TRUE(field("items").is_measured());
    EXPECT_EQ(field("items").smallest(), "1");
    EXPECT_EQ(field("items").average(), "3");
    EXPECT_EQ(field("items").largest(), "6");
    EXPECT_EQ(field("took").largest(), "6us");
    EXPECT_EQ(field("weight").smallest(), "0.5");
}

TEST_F(top_counting, nan_is_absent) {
    counted.examine(sold_name);
    test_record sold = maker.record("sold");
    sold.set("weight", std::nan(""));
    counted.take(sold.view());
    EXPECT_EQ(field("weight").absent(), 1U);
    EXPECT_EQ(field("weight").largest(), "-");
}

TEST_F(top_counting, other_fields_have_most_frequent_values) {
    counted.examine(sold_name);
    sell(1, "bob", 1);
    sell(1, "ann", 1);
    sell(2, "ann", 0);
    sell(2, nullptr, 1);
    using pairs = std::vector<std::pair<std::string, std::uint64_t>>;
    EXPECT_EQ(values("customer"), (pairs{{"\"ann\"", 2}, {"\"bob\"", 1}}));
    EXPECT_EQ(field("customer").absent(), 1U);
    EXPECT_EQ(values("why"), (pairs{{"late", 3}, {"full", 1}}));
    EXPECT_EQ(field("why").type(), "reason");
    EXPECT_EQ(values("code"), (pairs{{"0x10", 2}, {"0x20", 2}}));
    EXPECT_EQ(values("code", 1), (pairs{{"0x10", 2}}));
}

TEST_F(top_counting, distinct_values_are_bounded_in_number_and_length) {
    counted.examine(sold_name);
    for (std::size_t i = 0; i < elog::field_statistics::distinct_values_max + 3; ++i) {
        sell(1, std::to_string(i).c_str());
    }
    EXPECT_EQ(field("customer").distinct_values(), elog::field_statistics::distinct_values_max);
    EXPECT_EQ(field("customer").beyond(), 3U);
    counted.examine_nothing();
    counted.examine(sold_name);
    const std::string large(50'000, 'x');
    constexpr std::size_t fitting = elog::field_statistics::distinct_bytes_max / 50'000;
    for (std::size_t i = 0; i < fitting + 3; ++i) {
        sell(1, (large + std::to_string(i)).c_str());
    }
    EXPECT_EQ(field("customer").distinct_values() + field("customer").beyond(), fitting + 3);
    EXPECT_LE(field("customer").distinct_values(), fitting);
}

TEST_F(top_counting, long_values_that_differ_at_the_end_are_distinct) {
    counted.examine(sold_name);
    const std::string same(300, 'x');
    sell(1, (same + "a").c_str());
    sell(1, (same + "b").c_str());
    EXPECT_EQ(field("customer").distinct_values(), 2U);
}

TEST_F(top_counting, fields_of_another_version_are_found_by_name) {
    const record_builder newer{"provider trade { event sold info { colour: text items: u32 } }",
                               "till", 4243, 1};
    counted.add(newer.provider());
    counted.examine(sold_name);
    sell(4, "ann");
    test_record sold = newer.record("sold");
    sold.set("items", std::uint64_t{8});
    sold.set_text("colour", "red");
    counted.take(sold.view());
    EXPECT_EQ(field("items").largest(), "8");
    EXPECT_EQ(values("colour").size(), 1U);
    EXPECT_EQ(counted.fields().size(), 7U);
}

TEST_F(top_counting, copy_is_a_snapshot) {
    sell(1, "ann");
    const elog::top_statistics picture = counted;
    sell(1, "ann");
    EXPECT_EQ(picture.events().total(), 1U);
    EXPECT_EQ(counted.events().total(), 2U);
}

}  // namespace
