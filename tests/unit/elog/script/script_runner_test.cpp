// SPDX-License-Identifier: MIT
//
// What each action of a script does with records in the order of time.
#include "script/script_runner.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "aggregate/aggregate_report.hpp"
#include "base/user_error.hpp"
#include "record_builder.hpp"

namespace {

using eventlog::test::record_builder;
using eventlog::test::test_record;

constexpr std::string_view shop_schema = R"(
provider shop {
    enum state : u8 { open = 1, closed = 2 }
    event placed info { order: u32  customer: text  items: i16  state: state }
    event done info { order: u64  customer: text  took: i64 format duration  latency: u8? }
    event moved info { stack: text  row: u8[2]  share: f64 }
}
)";

constexpr std::uint64_t second = 1'000'000'000;

/// All that a script does, as text.
class collected final : public elog::script_output {
  public:
    void print(const elog::merged_record& record, const elog::provider_map& providers,
               const elog::clock_converter& /*clock*/) override {
        const elog::provider_instance& provider = providers.at(record.record.provider);
        text += "print " + provider.schema.events[record.record.event].name + "\n";
    }
    void write(std::string_view lines) override { text += lines; }
    void show(const elog::script_result& result, const elog::aggregator& computed,
              const elog::latency_counts* unmatched) override {
        fmt::memory_buffer out;
        elog::append_table(out, computed, {40, false}, {});
        text += "@" + result.name + "\n" + fmt::to_string(out);
        if (unmatched != nullptr) {
            text += fmt::format("unmatched {} {} {} {}\n", unmatched->begins_without_end,
                                unmatched->ends_without_begin, unmatched->overflowed,
                                unmatched->unusable);
        }
    }
    void request_snapshot(const std::string& reason) override {
        text += "snapshot " + reason + "\n";
    }

    std::string text;
};

class script_runs : public ::testing::Test {
  protected:
    record_builder shop{shop_schema, "till", 42};
    std::vector<test_record> records;

    test_record& add(std::string_view event, std::uint64_t time) {
        records.push_back(shop.record(event));
        records.back().header().time = time;
        return records.back();
    }
    void place(std::uint64_t time, std::uint64_t order, const char* customer,
               std::int64_t items = 1) {
        test_record& made = add("placed", time);
        made.set("order", order);
        made.set_text("customer", customer);
        made.set("items", items);
        made.set("state", std::uint64_t{1});
    }
    void finish(std::uint64_t time, std::uint64_t order, const char* customer) {
        test_record& made = add("done", time);
        made.set("order", order);
        made.set_text("customer", customer);
        made.set("took", std::int64_t{1500});
    }

    [[nodiscard]] std::string run(std::string_view text) const {
        const elog::script wanted = elog::script::parse(text);
        collected output;
        elog::script_runner runner(wanted, {}, output);
        runner.add(shop.provider());
        runner.check_patterns();
        runner.check(true);
        runner.begin();
        for (const test_record& each : records) {
            elog::merged_record record;
            record.record = each.view();
            runner.take(record, record_builder::clock());
        }
        runner.finish();
        return output.text;
    }

    [[nodiscard]] std::string rejection(std::string_view text) const {
        try {
            static_cast<void>(run(text));
        } catch (const elog::user_error& error) {
            return error.what();
        }
        return "none";
    }
};

TEST_F(script_runs, clauses_in_order_with_begin_and_end) {
    place(1, 7, "ann", 3);
    place(2, 8, "bob", 1);
    EXPECT_EQ(run("END { printf(\"bye\") } BEGIN { printf(\"hello\\n\") } "
                  "shop:placed /items > 2/ { print; printf(\"%s\", customer) } "
                  "shop:* { printf(\"%d\", order) }"),
              "hello\nprint placed\nann\n7\n8\nbye\n");
}

TEST_F(script_runs, printf_formats_fields) {
    place(1, 7, "ann", -3);
    EXPECT_EQ(run(R"(shop:placed { printf("[%5s|%-5s|%04d|%x|%s|%d|%d|%s] 5%%", customer, customer,
                     items, items, state, state, pid, comm) })"),
              "[  ann|ann  |-003|fffd|open|1|42|till] 5%\n");
    finish(2, 1, nullptr);
    EXPECT_EQ(run(R"(shop:done { printf("%s %d %s %s", took, took, customer, latency) })"),
              "1.5us 1500 - -\n");
}

TEST_F(script_runs, printf_shows_absent_fields_of_other_events) {
    place(1, 7, "ann");
    finish(2, 7, "ann");
    EXPECT_EQ(run(R"(shop:placed, shop:done { printf("%d %d", order, items) })"), "7 1\n7 -\n");
}

TEST_F(script_runs, printf_reads_elements_and_damaged_records_safely) {
    test_record& made = add("moved", 1);
    made.set_text("stack", "main");
    made.set("share", 0.5);
    made.set_bytes("row", {4, 5});
    EXPECT_EQ(run(R"(shop:moved { printf("%d %s %d", row[1], row, share) })"), "5 [4,5] 0.5\n");
    const std::vector<std::uint8_t> none;
    const elog::script wanted =
        elog::script::parse("shop:moved { printf(\"%s %d\", stack, share) }");
    collected output;
    elog::script_runner runner(wanted, {}, output);
    runner.add(shop.provider());
    elog::merged_record record;
    record.record = made.view();
    record.record.payload = none;
    runner.take(record, record_builder::clock());
    EXPECT_EQ(output.text, "- -\n");
}

TEST_F(script_runs, stack_prints_innermost_function_first) {
    add("moved", 1).set_text("stack", "main;run;emit\x1b");
    EXPECT_EQ(run("shop:moved { stack }"), "    emit\\x1b\n    run\n    main\n");
    EXPECT_NE(rejection("shop:placed { stack }").find("No event has a call stack"),
              std::string::npos);
}

TEST_F(script_runs, exit_ends_behind_the_clause) {
    place(1, 7, "ann");
    place(2, 8, "bob");
    EXPECT_EQ(run("shop:* { exit(); printf(\"last\") } shop:* { print } END { printf(\"end\") }"),
              "last\nend\n");
    EXPECT_EQ(run("BEGIN { exit } shop:* { print } END { printf(\"end\") }"), "end\n");
}

TEST_F(script_runs, snapshot_passes_the_reason) {
    place(1, 7, "ann");
    EXPECT_EQ(run("shop:* { snapshot(\"slow order\") }"), "snapshot slow order\n");
}

TEST_F(script_runs, aggregations_are_shared_and_cleared) {
    place(1, 7, "ann", 3);
    place(2, 8, "bob", 4);
    finish(3, 7, "ann");
    EXPECT_EQ(run("shop:placed { @n[customer] = count(); @s = sum(items) } "
                  "shop:done { @n[customer] = count() }"),
              "@n\ncustomer  count()\nann             2  #####################\n"
              "bob             1  ##########\n3 events, 0 lost\n@s\nsum(items)\n         7\n"
              "2 events, 0 lost\n");
    EXPECT_EQ(run("shop:placed { @s = sum(items); print(@s); clear(@s) }"),
              "@s\nsum(items)\n         3\n1 events, 0 lost\n"
              "@s\nsum(items)\n         4\n1 events, 0 lost\n");
}

TEST_F(script_runs, ticks_pass_with_the_time_of_records) {
    place(second, 1, "ann");
    place(second * 5 / 2, 2, "ann");
    place(second * 9 / 2, 3, "ann");
    EXPECT_EQ(run("tick-1s { printf(\"tick\") } shop:* { printf(\"%d\", order) }"),
              "1\ntick\n2\ntick\ntick\n3\n");
}

TEST_F(script_runs, bounds_the_ticks_of_a_gap) {
    const elog::script wanted = elog::script::parse("tick-1ms { printf(\"t\") } shop:* {}");
    collected output;
    elog::script_runner runner(wanted, {}, output);
    runner.advance(0);
    runner.advance(INT64_MAX);
    EXPECT_EQ(output.text.size(), 2 * elog::script_runner::ticks_max);
    EXPECT_EQ(runner.skipped_ticks(), INT64_MAX / 1'000'000 - elog::script_runner::ticks_max);
    runner.advance(0);
    EXPECT_EQ(output.text.size(), 2 * elog::script_runner::ticks_max);
}

TEST_F(script_runs, latency_pairs_events_by_equal_fields) {
    place(1000, 1, "ann");
    place(1100, 2, "bob");
    finish(1500, 1, "ann");
    finish(2100, 2, "bob");
    finish(2200, 9, "eve");  // without a begin
    place(3000, 3, "ann");   // replaced by the next
    place(3001, 3, "ann");
    finish(3101, 3, "ann");
    place(4000, 4, "bob");  // without an end
    const std::string shown =
        run("shop:* { @lat[customer] = latency(shop:placed, shop:done by order) }");
    EXPECT_NE(shown.find("ann           2  300ns  100ns  500ns"), std::string::npos) << shown;
    EXPECT_NE(shown.find("bob           1    1us    1us    1us"), std::string::npos) << shown;
    EXPECT_NE(shown.find("unmatched 2 1 0 0"), std::string::npos) << shown;
}

TEST_F(script_runs, latency_counts_events_without_a_value) {
    place(1, 1, nullptr);
    finish(2, 1, nullptr);
    EXPECT_NE(
        run("shop:* { @ = latency(shop:placed, shop:done by customer) }").find("unmatched 0 0 0 2"),
        std::string::npos);
}

TEST_F(script_runs, latency_counts_begins_beyond_its_memory) {
    const elog::script wanted =
        elog::script::parse("shop:* { @ = latency(shop:placed, shop:done by order) }");
    collected output;
    elog::script_runner runner(wanted, {}, output);
    runner.add(shop.provider());
    place(1, 0, "ann");
    for (std::uint64_t order = 0; order <= elog::latency_pairs::open_max; ++order) {
        records.back().set("order", order);
        elog::merged_record record;
        record.record = records.back().view();
        runner.take(record, record_builder::clock());
    }
    runner.finish();
    EXPECT_NE(output.text.find(fmt::format("unmatched {} 0 1 0\n", elog::latency_pairs::open_max)),
              std::string::npos)
        << output.text;
}

TEST_F(script_runs, latency_of_one_event_is_the_time_between_two) {
    place(100, 1, "ann");
    place(300, 1, "ann");
    place(700, 1, "ann");
    const std::string shown = run("shop:* { @ = latency(shop:placed, shop:placed by customer) }");
    EXPECT_NE(shown.find("    2  300ns  200ns  400ns"), std::string::npos) << shown;
}

TEST_F(script_runs, rejects_names_and_types_before_any_action) {
    EXPECT_EQ(rejection("shop:* { printf(\"%s\", custmer) }"),
              "script, column 23: No event has a field 'custmer'. Did you mean 'customer'?");
    EXPECT_NE(
        rejection("shop:* { printf(\"%d\", customer) }").find("column 23: 'customer' of shop:"),
        std::string::npos);
    EXPECT_NE(rejection("shop:* /itmes > 2/ { exit }").find("script, column 9: No event has"),
              std::string::npos);
    EXPECT_NE(rejection("shop:* { @ = sum(customer); print }").find("script, column 18: "),
              std::string::npos);
    EXPECT_NE(rejection("shop:sold { exit }").find("script, column 1: No event of the recording"),
              std::string::npos);
    EXPECT_NE(rejection("shop:* { @ = latency(shop:placed, shop:done by items) }")
                  .find("No event that matches 'shop:done' has these fields"),
              std::string::npos);
    EXPECT_NE(rejection("shop:* 1/5 { exit }").find("every event: leave out 1/N"),
              std::string::npos);
}

}  // namespace
