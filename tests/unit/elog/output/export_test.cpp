// SPDX-License-Identifier: MIT
//
// Records as JSON Lines and as a table.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "output/csv_writer.hpp"
#include "output/json_lines_writer.hpp"

namespace {

using eventlog::field_type;
using eventlog::format;

constexpr std::uint32_t shared_ring = 9;

/// An event whose payload the test assembles field by field.
class sold_items {
  public:
    sold_items() {
        instance_.process = "my \"prog\"";
        instance_.pid = 42;
        instance_.schema.name = "shop";
        event().name = "sold";
    }

    template <class Value>
    sold_items& add(const char* name, field_type type, Value value, format how = format::plain,
                    std::uint16_t count = 1) {
        elog::field_schema field{name, type, static_cast<std::uint16_t>(payload_.size()), count};
        field.format = how;
        event().fields.push_back(field);
        payload_.resize(payload_.size() + sizeof value);
        std::memcpy(payload_.data() + field.offset, &value, sizeof value);
        return *this;
    }
    /// At most one text, after all other fields: the text follows its word.
    sold_items& add_text(const char* name, std::string_view text) {
        add(name, field_type::text, static_cast<std::uint32_t>(text.size() + 1) << 16U);
        payload_.insert(payload_.end(), text.begin(), text.end());
        payload_.push_back(0);
        return *this;
    }
    sold_items& with_names(bool is_bitmask) {
        instance_.schema.enumerations.push_back(
            {"state", is_bitmask, {{1, "open"}, {2, "paid"}, {4, "sent"}}});
        event().fields.back().enumeration = 0;
        return *this;
    }
    sold_items& truncate_payload() {
        payload_.pop_back();
        return *this;
    }
    sold_items& with_flags(std::uint8_t flags) {
        record_.record.flags = flags;
        return *this;
    }
    sold_items& of_process(const char* name) {
        instance_.process = name;
        return *this;
    }
    sold_items& of_event(std::uint16_t id) {
        record_.record.event = id;
        return *this;
    }
    sold_items& behind_lost(std::uint64_t lost, std::uint32_t ring) {
        record_.lost_before = lost;
        record_.ring = ring;
        return *this;
    }
    sold_items& behind_overwritten(std::uint64_t lost, std::uint32_t ring) {
        record_.overwritten = true;
        return behind_lost(lost, ring);
    }

    [[nodiscard]] const elog::provider_instance& instance() const { return instance_; }

    void write(elog::record_writer& writer) {
        elog::clock_converter clock(EVENTLOG_CLOCK_MONOTONIC);
        clock.add({1'000'000'000, 1'000'000'000, 1'600'000'000'000'000'000});
        record_.record.time = 1'000'000'007;
        record_.record.thread = 43;
        record_.record.cpu = 3;
        record_.record.payload = payload_;
        writer.write(record_, {{0, instance_}}, clock, shared_ring);
    }

  private:
    elog::event_schema& event() {
        if (instance_.schema.events.empty()) {
            instance_.schema.events.emplace_back();
        }
        return instance_.schema.events.front();
    }

    elog::provider_instance instance_;
    elog::merged_record record_;
    std::vector<std::uint8_t> payload_;
};

/// A file to write to, and its content.
class scratch_file {
  public:
    scratch_file() = default;
    scratch_file(const scratch_file&) = delete;
    scratch_file& operator=(const scratch_file&) = delete;
    ~scratch_file() { ::close(descriptor_); }
    [[nodiscard]] int descriptor() const { return descriptor_; }
    [[nodiscard]] std::string text() const {
        std::array<char, 4096> bytes{};
        const ssize_t size = ::pread(descriptor_, bytes.data(), bytes.size(), 0);
        return {bytes.data(), static_cast<std::size_t>(size)};
    }

  private:
    int descriptor_ = ::memfd_create("written", MFD_CLOEXEC);
};

std::string line_of(sold_items& items) {
    const scratch_file file;
    elog::json_lines_writer writer(file.descriptor());
    items.write(writer);
    writer.finish();
    return file.text();
}

/// The content of "fields".
std::string fields_of(sold_items& items) {
    const std::string line = line_of(items);
    const std::size_t begin = line.find("\"fields\":{") + 10;
    return line.substr(begin, line.rfind("}}") - begin);
}

/// The rows after the header.
std::string rows_of(sold_items& items) {
    const scratch_file file;
    elog::csv_writer writer(file.descriptor());
    writer.add_columns(items.instance(), 0);
    items.write(writer);
    writer.finish();
    const std::string text = file.text();
    return text.substr(text.find('\n') + 1);
}

TEST(json_lines, have_one_object_per_record) {
    sold_items items;
    items.add("items", field_type::unsigned_32, std::uint32_t{3}).add_text("customer", "ann");
    EXPECT_EQ(line_of(items),
              R"({"time":"2020-09-13T12:26:40.000000007Z","cpu":3,"comm":"my \"prog\"","pid":42,)"
              R"("tid":43,"provider":"shop","event":"sold","level":"info",)"
              R"("fields":{"items":3,"customer":"ann"}})"
              "\n");
}

TEST(json_lines, use_current_provider_of_reused_id) {
    const scratch_file file;
    elog::json_lines_writer writer(file.descriptor());
    sold_items first;
    first.add("items", field_type::unsigned_32, std::uint32_t{3});
    first.write(writer);
    sold_items other;
    other.of_process("other").add("weight", field_type::unsigned_32, std::uint32_t{4});
    other.write(writer);
    writer.finish();
    const std::string text = file.text();
    EXPECT_NE(text.find(R"("comm":"my \"prog\"","pid":42)"), std::string::npos) << text;
    EXPECT_NE(text.find(R"("fields":{"items":3})"), std::string::npos) << text;
    EXPECT_NE(text.find(R"("comm":"other","pid":42)"), std::string::npos) << text;
    EXPECT_NE(text.find(R"("fields":{"weight":4})"), std::string::npos) << text;
}

TEST(json_lines, keep_numbers_as_they_are) {
    sold_items items;
    items.add("a", field_type::signed_64, INT64_MIN)
        .add("b", field_type::unsigned_64, UINT64_MAX)
        .add("c", field_type::float_32, 0.1F)
        .add("d", field_type::float_64, -1e300)
        .add("g", field_type::signed_64, std::int64_t{1500}, format::duration)
        .add("h", field_type::boolean, true);
    EXPECT_EQ(fields_of(items), R"("a":-9223372036854775808,"b":18446744073709551615,"c":0.1,)"
                                R"("d":-1e+300,"g":1500,"h":true)");
}

TEST(json_lines, write_nan_and_infinity_as_text) {
    sold_items items;
    items.add("a", field_type::float_64, std::numeric_limits<double>::quiet_NaN())
        .add("b", field_type::float_32, std::numeric_limits<float>::infinity())
        .add("c", field_type::float_64, -std::numeric_limits<double>::infinity());
    EXPECT_EQ(fields_of(items), R"("a":"NaN","b":"Infinity","c":"-Infinity")");
}

TEST(json_lines, write_addresses_times_and_characters_as_text) {
    sold_items items;
    items.add("at", field_type::unsigned_64, std::uint64_t{0xffff880012345678}, format::hexadecimal)
        .add("when", field_type::signed_64, std::int64_t{-1}, format::realtime)
        .add("peer", field_type::unsigned_8, std::array<std::uint8_t, 4>{10, 0, 0, 1},
             format::ip_address, 4)
        .add("tag", field_type::character, std::array<char, 4>{'a', 'b', 0, 'c'},
             format::characters, 4)
        .add("key", field_type::character, '"');
    EXPECT_EQ(fields_of(items),
              R"("at":"0xffff880012345678","when":"1969-12-31T23:59:59.999999999Z",)"
              R"("peer":"10.0.0.1","tag":"ab","key":"\"")");
}

TEST(json_lines, accept_minimum_time) {
    sold_items items;
    items.add("when", field_type::signed_64, INT64_MIN, format::realtime);
    EXPECT_EQ(fields_of(items), R"("when":"1677-09-21T00:12:43.145224192Z")");
}

TEST(utc_text, truncates_to_seconds) {
    elog::utc_text text;
    fmt::memory_buffer out;
    for (const std::int64_t time : {INT64_MIN, INT64_MIN + 1, std::int64_t{-1}, std::int64_t{0},
                                    std::int64_t{1}, std::int64_t{1'000'000'000}, INT64_MAX}) {
        text.append_to(out, time);
        out.push_back(' ');
    }
    EXPECT_EQ(std::string(out.data(), out.size()),
              "1677-09-21T00:12:43.145224192Z 1677-09-21T00:12:43.145224193Z "
              "1969-12-31T23:59:59.999999999Z 1970-01-01T00:00:00.000000000Z "
              "1970-01-01T00:00:00.000000001Z 1970-01-01T00:00:01.000000000Z "
              "2262-04-11T23:47:16.854775807Z ");
}

TEST(json_lines, name_the_values_of_enumerations) {
    sold_items named;
    named.add("state", field_type::unsigned_8, std::uint8_t{2}).with_names(false);
    EXPECT_EQ(fields_of(named), R"("state":"paid")");
    sold_items unnamed;
    unnamed.add("state", field_type::unsigned_8, std::uint8_t{3}).with_names(false);
    EXPECT_EQ(fields_of(unnamed), R"("state":3)");
    sold_items combined;
    combined.add("state", field_type::unsigned_8, std::uint8_t{3}).with_names(true);
    EXPECT_EQ(fields_of(combined), R"("state":"open|paid")");
}

TEST(json_lines, write_arrays) {
    sold_items items;
    items.add("sizes", field_type::unsigned_16, std::array<std::uint16_t, 3>{1, 2, 3},
              format::plain, 3);
    EXPECT_EQ(fields_of(items), R"("sizes":[1,2,3])");
}

TEST(json_lines, omit_damaged_values_and_report_damage) {
    sold_items items;
    items.add("items", field_type::unsigned_32, std::uint32_t{3})
        .add("sum", field_type::unsigned_64, std::uint64_t{4})
        .truncate_payload();
    const std::string line = line_of(items);
    EXPECT_NE(line.find(R"("fields":{"items":3,"sum":null},"damaged":true})"), line.npos) << line;
}

TEST(json_lines, report_loss_at_its_position) {
    sold_items items;
    items.behind_lost(5, 3);
    EXPECT_EQ(line_of(items).substr(0, 38), "{\"lost\":5,\"reason\":\"full\",\"cpu\":3}\n{\"t");
    items.behind_lost(5, shared_ring);
    EXPECT_NE(line_of(items).find("\"cpu\":null}\n"), std::string::npos);
}

TEST(json_lines, have_one_object_per_begin_or_end_of_a_pause) {
    const scratch_file file;
    elog::json_lines_writer writer(file.descriptor());
    elog::clock_converter clock(EVENTLOG_CLOCK_MONOTONIC);
    clock.add({1'000'000'000, 1'000'000'000, 1'600'000'000'000'000'000});
    writer.write_mark({1'000'000'007, 3, elog::mark_kind::pause}, clock);
    writer.write_mark({2'000'000'007, 3, elog::mark_kind::resume}, clock);
    writer.finish();
    EXPECT_EQ(file.text(), R"({"note":"pause","time":"2020-09-13T12:26:40.000000007Z","number":3})"
                           "\n"
                           R"({"note":"resume","time":"2020-09-13T12:26:41.000000007Z","number":3})"
                           "\n");
}

TEST(json_lines, distinguish_overwritten_from_dropped) {
    sold_items items;
    items.behind_overwritten(5, 3);
    EXPECT_EQ(line_of(items).substr(0, 29), "{\"overwritten\":5,\"cpu\":3}\n{\"t");
}

TEST(json_lines, report_unknown_event_or_newer_version) {
    sold_items unknown;
    unknown.of_event(7);
    EXPECT_NE(line_of(unknown).find(R"("provider":null,"event":null,"provider_id":0,"event_id":7)"),
              std::string::npos);
    sold_items newer;
    newer.with_flags(0x80);
    EXPECT_EQ(line_of(newer), "{\"unsupported\":1}\n");
    sold_items cut;
    cut.with_flags(EVENTLOG_RECORD_TRUNCATED);
    EXPECT_NE(line_of(cut).find("\"fields\":{},\"truncated\":true}\n"), std::string::npos);
}

TEST(table, has_one_column_per_field) {
    sold_items items;
    items.add("items", field_type::unsigned_32, std::uint32_t{3})
        .add("time", field_type::unsigned_8, std::uint8_t{4});
    const scratch_file file;
    elog::csv_writer writer(file.descriptor());
    writer.add_columns(items.instance(), 0);
    items.write(writer);
    writer.finish();
    EXPECT_EQ(
        file.text(),
        "time,cpu,comm,pid,tid,provider,event,level,lost,reason,overwritten,unsupported,truncated,"
        "damaged,items,fields.time\n"
        "2020-09-13T12:26:40.000000007Z,3,\"my \"\"prog\"\"\",42,43,shop,sold,info,,,,,,,3,4\n");
}

TEST(table, quotes_texts_with_special_characters) {
    sold_items items;
    items.add("sizes", field_type::unsigned_8, std::array<std::uint8_t, 2>{1, 2}, format::plain, 2)
        .add_text("customer", "a,\"b\"\n\x1b");
    const std::string rows = rows_of(items);
    EXPECT_NE(rows.find(R"(,,,"[1,2]","a,""b""\n\x1b")"), rows.npos) << rows;
}

TEST(table, distinguishes_all_texts) {
    const auto cell = [](const char* text) {
        sold_items items;
        items.add_text("customer", text);
        const std::string row = rows_of(items);
        return row.substr(row.rfind(',') + 1);
    };
    EXPECT_EQ(cell("a\nb"), "\"a\\nb\"\n");
    EXPECT_EQ(cell(R"(a\nb)"), "\"a\\\\nb\"\n");
    EXPECT_EQ(cell("\xff"), "\"\\xff\"\n");
    EXPECT_EQ(cell(R"(\xff)"), "\"\\\\xff\"\n");
}

TEST(table, quotes_texts_that_are_formulas) {
    const auto cell = [](const char* text, elog::formula_texts formulas) {
        sold_items items;
        items.add_text("customer", text);
        const scratch_file file;
        elog::csv_writer writer(file.descriptor(), elog::display_clock::realtime, formulas);
        writer.add_columns(items.instance(), 0);
        items.write(writer);
        writer.finish();
        const std::string rows = file.text();
        return rows.substr(rows.rfind(',') + 1);
    };
    for (const std::string text : {"=1+1", "+1", "-1", "@SUM", "'=1"}) {
        EXPECT_EQ(cell(text.c_str(), elog::formula_texts::quoted), "\"'" + text + "\"\n");
    }
    EXPECT_EQ(cell("=1", elog::formula_texts::as_they_are), "\"=1\"\n");
    EXPECT_EQ(cell("-1", elog::formula_texts::as_they_are), "-1\n");
    EXPECT_EQ(cell("'quoted", elog::formula_texts::quoted), "\"'quoted\"\n");
    EXPECT_EQ(cell("a=1", elog::formula_texts::quoted), "\"a=1\"\n");
    sold_items negative;
    negative.add("debt", field_type::signed_32, std::int32_t{-5});
    EXPECT_TRUE(rows_of(negative).ends_with(",-5\n"));
}

TEST(table, counts_events_without_columns) {
    sold_items items;
    items.add("items", field_type::unsigned_32, std::uint32_t{3});
    const scratch_file file;
    elog::csv_writer writer(file.descriptor());
    items.write(writer);
    writer.finish();
    EXPECT_EQ(writer.without_columns(), 1U);
    EXPECT_TRUE(file.text().ends_with("info,,,,,,\n"));
}

TEST(table, distinguishes_empty_text_from_absent) {
    sold_items empty;
    empty.add_text("customer", "");
    EXPECT_EQ(rows_of(empty).substr(rows_of(empty).rfind(',')), ",\"\"\n");
    sold_items none;
    none.add("customer", field_type::text, std::uint32_t{0});
    EXPECT_EQ(rows_of(none).substr(rows_of(none).rfind(',')), ",\n");
}

TEST(table, has_full_width_row_per_loss) {
    sold_items items;
    items.add("a", field_type::unsigned_8, std::uint8_t{1})
        .add("b", field_type::unsigned_8, std::uint8_t{2})
        .behind_lost(5, 3);
    const std::string rows = rows_of(items);
    EXPECT_EQ(rows.substr(0, rows.find('\n')), ",3,,,,,,,5,full,,,,,,");
}

TEST(table, notes_overwritten_records) {
    sold_items items;
    items.behind_overwritten(5, 3);
    const std::string rows = rows_of(items);
    EXPECT_EQ(rows.substr(0, rows.find('\n')), ",3,,,,,,,,,5,,,");
}

TEST(table, notes_damaged_and_unknown_records) {
    sold_items damaged;
    damaged.add("sum", field_type::unsigned_64, std::uint64_t{4}).truncate_payload();
    EXPECT_NE(rows_of(damaged).find("info,,,,,,true,\n"), std::string::npos);
    sold_items unknown;
    unknown.add("sum", field_type::unsigned_64, std::uint64_t{4}).of_event(7);
    EXPECT_EQ(rows_of(unknown), "2020-09-13T12:26:40.000000007Z,3,,,43,,,,,,,,,,\n");
}

}  // namespace
