// SPDX-License-Identifier: MIT
//
// The commands for the kernel's histograms, and their output, both as the kernel writes it and
// forged.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernel/error.hpp"
#include "kernel/hist_table.hpp"

namespace {

using eventlog::tracefs::hist_entry;
using eventlog::tracefs::hist_request;
using eventlog::tracefs::hist_table;
using eventlog::tracefs::hist_trigger;
using eventlog::tracefs::parse_hist;

const std::string table = R"(# event histogram
#
# trigger info: hist:keys=amount,port.buckets=10:vals=hitcount,number:sort=hitcount:size=256 [paused]
#

{ amount:          1, port: ~ 20-29 } hitcount:          2  number:         70
{ amount: 18446744073709551615, port: ~ 0-9 } hitcount:          1  number:          5

Totals:
    Hits: 3
    Entries: 2
    Dropped: 4
)";

hist_request request() {
    return {{{"amount", 0}, {"port", 10}}, {"number"}, 256, {}};
}

/// The table, with `what` in place of `that`.
std::string changed(const std::string& that, const std::string& what) {
    std::string text = table;
    const std::size_t place = text.find(that);
    EXPECT_NE(place, std::string::npos) << that;
    return text.replace(place, that.size(), what);
}

TEST(tracefs_hist, formats_keys_values_size_and_condition) {
    hist_request asked = request();
    EXPECT_EQ(hist_trigger(asked), "hist:keys=amount,port.buckets=10:vals=number:size=256");
    asked.condition = "amount > 5";
    EXPECT_EQ(hist_trigger(asked, true),
              "hist:keys=amount,port.buckets=10:vals=number:size=256:pause if amount > 5");
    EXPECT_EQ(hist_trigger({{{"common_type", 0}}, {}, 128, {}}), "hist:keys=common_type:size=128");
    EXPECT_EQ(hist_trigger({{{"a", 0}}, {"b", "c"}, 128, {}}), "hist:keys=a:vals=b,c:size=128");
}

TEST(tracefs_hist, parses_kernel_histogram) {
    const hist_table found = parse_hist(table, request());
    ASSERT_EQ(found.entries.size(), 2U);
    EXPECT_EQ(found.entries[0].keys, (std::vector<std::uint64_t>{1, 20}));
    EXPECT_EQ(found.entries[0].hits, 2U);
    EXPECT_EQ(found.entries[0].sums, (std::vector<std::uint64_t>{70}));
    EXPECT_EQ(found.entries[1].keys, (std::vector<std::uint64_t>{UINT64_MAX, 0}));
    EXPECT_EQ(found.hits, 3U);
    EXPECT_EQ(found.dropped, 4U);
}

TEST(tracefs_hist, may_be_empty) {
    const hist_table found = parse_hist(
        "# event histogram\n#\n\n\nTotals:\n    Hits: 0\n    Entries: 0\n    Dropped: 0\n",
        request());
    EXPECT_TRUE(found.entries.empty());
    EXPECT_EQ(found.hits, 0U);
}

TEST(tracefs_hist, of_another_histogram_is_rejected) {
    for (const auto& [that, what] : std::vector<std::pair<std::string, std::string>>{
             {"{ amount:", "{ amounts:"},
             {"{ amount:          1,", "{"},
             {"port: ~ 20-29", "port: 20"},
             {"port: ~ 20-29", "port: ~ 20"},
             {"port: ~ 20-29", "port: ~ 20-29, more: 1"},
             {"hitcount:          2", ""},
             {"number:         70", ""},
             {"number:         70", "number:         70  more: 1"},
             {"number:         70", "number:         70x"},
             {"number:         70", "number:         -70"},
             {"number:         70", "number:         18446744073709551616"},
             {"amount:          1", "amount: 0x1"},
             {"Totals:", "Total:"},
             {"    Hits: 3\n", ""},
             {"    Dropped: 4\n", ""},
             {"    Dropped: 4\n", "    Dropped: four\n"},
             {"    Dropped: 4\n", "    Dropped: 4\n\n{ amount: 1, port: ~ 0-9 } hitcount: 1\n"}}) {
        EXPECT_THROW(static_cast<void>(parse_hist(changed(that, what), request())),
                     eventlog::tracefs::error)
            << that << " -> " << what;
    }
}

TEST(tracefs_hist, with_inconsistent_totals_is_rejected) {
    for (const auto& [that, what] : std::vector<std::pair<std::string, std::string>>{
             {"Hits: 3", "Hits: 4"},
             {"Entries: 2", "Entries: 1"},
             {"hitcount:          2", "hitcount: 18446744073709551615"}}) {
        EXPECT_THROW(static_cast<void>(parse_hist(changed(that, what), request())),
                     eventlog::tracefs::error)
            << that << " -> " << what;
    }
}

TEST(tracefs_hist, with_inconsistent_totals_is_reread) {
    int readings = 0;
    const auto read = [&] { return ++readings < 3 ? changed("Hits: 3", "Hits: 4") : table; };
    EXPECT_EQ(eventlog::tracefs::read_hist(read, request()).hits, 3U);
    EXPECT_EQ(readings, 3);
}

TEST(tracefs_hist, never_consistent_is_rejected) {
    const auto read = [] { return changed("Hits: 3", "Hits: 4"); };
    EXPECT_THROW(static_cast<void>(eventlog::tracefs::read_hist(read, request())),
                 eventlog::tracefs::error);
}

TEST(tracefs_hist, truncated_anywhere_is_rejected) {
    for (std::size_t size = 0; size <= table.size() - 2; ++size) {
        EXPECT_THROW(static_cast<void>(parse_hist(table.substr(0, size), request())),
                     eventlog::tracefs::error)
            << size;
    }
}

}  // namespace
