// SPDX-License-Identifier: MIT
//
// trace.dat, complete, truncated or hostile, imported as a recording.
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "byte_builder.hpp"
#include "file/file_reader.hpp"
#include "files/trace_pages.hpp"
#include "import/input_recording.hpp"
#include "imported_recording.hpp"
#include "kernel/error.hpp"
#include "recording_sample.hpp"
#include "schema/decode.hpp"
#include "schema/schema_values.hpp"
#include "scratch.hpp"
#include "trace_dat_builder.hpp"

namespace {

using eventlog::test::byte_builder;
using eventlog::test::import_bytes;
using eventlog::test::imported_recording;
using eventlog::test::rejection_of;
using eventlog::test::trace_dat_builder;
using bytes = std::vector<std::uint8_t>;
using numbers = std::vector<std::uint64_t>;

constexpr int item = 700;

std::vector<eventlog::test::system_format> formats() {
    return {{"user_events", eventlog::test::item_format("eventlog_shop_item", item)}};
}

bytes record_of(std::uint64_t number, std::string_view word = "word") {
    return eventlog::test::item_record(item, 42, number, word);
}

/// Three events on two CPUs; one CPU has two pages.
trace_dat_builder small(const eventlog::test::trace_dat_options& options) {
    trace_dat_builder maker(formats(), options);
    maker.name(42, "shop");
    maker.page(0);
    maker.event(0, 1000, record_of(1, "apple"));
    maker.page(1);
    maker.event(1, 2000, record_of(2));
    maker.page(0);
    maker.event(0, 3000, record_of(3));
    return maker;
}

TEST(trace_dat, reads_every_format_of_trace_cmd) {
    for (const eventlog::test::trace_dat_options& options :
         {eventlog::test::trace_dat_options{.version = 6},
          eventlog::test::trace_dat_options{.compressed = false},
          eventlog::test::trace_dat_options{}}) {
        const imported_recording found = import_bytes(small(options).file());
        EXPECT_EQ(found.numbers(), (numbers{1, 2, 3})) << options.version << options.compressed;
        EXPECT_EQ(found.damages, std::vector<std::string>());
        ASSERT_FALSE(found.records.empty());
        EXPECT_EQ(found.records[0].word, "apple");
        EXPECT_EQ(found.records[0].process, "shop");
        EXPECT_EQ(found.records[0].thread, 42U);
        EXPECT_EQ(found.records[1].cpu, 1U);
        EXPECT_EQ(found.records[2].time, 3000);
    }
}

TEST(trace_dat, reports_losses_in_place_and_remainder_at_end) {
    trace_dat_builder maker(formats());
    maker.page(1);
    maker.event(1, 1000, record_of(1));
    maker.page(1, 5);
    maker.event(1, 2000, record_of(2));
    maker.counted(0, 0);
    maker.counted(1, 7);
    const imported_recording found = import_bytes(maker.file());
    ASSERT_EQ(found.records.size(), 2U);
    EXPECT_EQ(found.records[0].lost, 0U);
    EXPECT_EQ(found.records[1].lost, 5U);
    ASSERT_EQ(found.losses.size(), 1U);
    EXPECT_EQ(found.losses[0].index, 1U);
    EXPECT_EQ(found.losses[0].full, 2U);
}

TEST(trace_dat, reports_clock) {
    using kind = elog::recorded_clock::kind;
    const imported_recording plain = import_bytes(small({}).file());
    EXPECT_EQ(plain.clock.is, kind::monotonic);
    ASSERT_EQ(plain.notes.size(), 1U);
    EXPECT_NE(plain.notes[0].find("--date"), std::string::npos);
    const imported_recording dated = import_bytes(small({.realtime = 1'000'000}).file());
    EXPECT_EQ(dated.records.at(0).time, 1'000'001'000);
    EXPECT_EQ(dated.notes.size(), 0U);
    const imported_recording local = import_bytes(small({.clock = "local"}).file());
    EXPECT_EQ(local.clock.is, kind::other);
    EXPECT_NE(local.notes.at(0).find("the kernel's clock local"), std::string::npos);
}

TEST(trace_dat, rejects_clocks_without_nanoseconds) {
    for (const char* const clock : {"counter", "uptime", "x86-tsc", "ppc-tb"}) {
        const std::string rejection = rejection_of(small({.clock = clock}).file());
        EXPECT_NE(rejection.find(clock), std::string::npos) << rejection;
        EXPECT_NE(rejection.find("-C mono"), std::string::npos) << rejection;
    }
}

TEST(trace_dat, rejects_unknown_names) {
    const std::string name(256, 'x');
    EXPECT_NE(rejection_of(small({.clock = name}).file()).find("a clock with a name"),
              std::string::npos);
    for (const int version : {6, 7}) {
        const trace_dat_builder maker({{name, eventlog::test::item_format("x_y", 700)}},
                                      {.version = version});
        EXPECT_NE(rejection_of(maker.file()).find("a system of events with a name"),
                  std::string::npos);
    }
}

TEST(trace_dat, reports_guest_clock) {
    const imported_recording found =
        import_bytes(small({.realtime = 1, .has_host_clock = true}).file());
    EXPECT_EQ(found.records.at(0).time, 2000);
    ASSERT_EQ(found.notes.size(), 1U);
    EXPECT_NE(found.notes[0].find("the guest"), std::string::npos);
}

TEST(trace_dat, reports_unsupported_input) {
    constexpr std::size_t behind_version = 12;
    bytes file = small({}).file();
    file[behind_version] = 1;
    EXPECT_NE(rejection_of(file).find("big-endian"), std::string::npos);
    file = small({}).file();
    file[behind_version + 1] = 4;
    EXPECT_NE(rejection_of(file).find("words of 4 bytes"), std::string::npos);
    file = small({}).file();
    file[behind_version - 2] = '8';
    EXPECT_NE(rejection_of(file).find("version 8"), std::string::npos);
    file = small({}).file();
    std::memcpy(file.data() + behind_version + 6, "zlib", 4);
    EXPECT_NE(rejection_of(file).find("trace-cmd convert"), std::string::npos);
}

TEST(trace_dat, shows_remaining_pages_if_some_are_missing) {
    // The last page belongs to CPU 1.
    const bytes whole = small({.version = 6}).file();
    const bytes cut(whole.begin(), whole.end() - trace_dat_builder::page_size);
    const imported_recording found = import_bytes(cut);
    EXPECT_EQ(found.numbers(), (numbers{1, 3}));
    ASSERT_EQ(found.damages.size(), 1U);
    EXPECT_NE(found.damages[0].find("CPU 1"), std::string::npos);
}

TEST(trace_dat, shows_remaining_pages_if_one_is_invalid) {
    bytes file = small({.version = 6}).file();
    // The fill level of CPU 0's first page.
    const std::size_t page = file.size() - 3 * std::size_t{trace_dat_builder::page_size};
    std::memset(file.data() + page + 8, 0x7f, 2);
    const imported_recording found = import_bytes(file);
    EXPECT_EQ(found.numbers(), (numbers{2, 3}));
    EXPECT_EQ(found.damages.size(), 1U);
}

/// The format of an event with `numbers`, a dynamic array of that type.
std::string array_format(std::string_view type) {
    return "name: arrays\nID: 701\nformat:\n"
           "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
           "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
           "\tfield:" +
           std::string(type) + "[] numbers;\toffset:8;\tsize:4;\tsigned:1;\n\nprint fmt: \"\"\n";
}

bytes array_record(std::uint32_t word, std::string_view rest) {
    byte_builder record;
    record.add<std::uint16_t>(701).add<std::uint16_t>(0).add<std::uint32_t>(42).add(word);
    return record.add_text(rest).bytes();
}

/// The field of each event, as its type and values: "u32[] 1 2", "u32[] damaged".
std::vector<std::string> arrays_of(const trace_dat_builder& maker) {
    const std::string path = eventlog::test::scratch_directory() + "/arrays";
    eventlog::test::replace(path, maker.file());
    const elog::input_recording recording(path);
    elog::file_reader file(recording.path());
    std::vector<std::string> found;
    file.read([&](const elog::merged_record& record) {
        const elog::provider_instance& provider = file.providers().at(record.record.provider);
        const elog::field_schema& field =
            provider.schema.events.at(record.record.event).fields.at(0);
        const std::span<const std::uint8_t> payload = record.record.payload;
        std::string shown = std::string(elog::name_of(field.type)) + (field.count == 0 ? "[]" : "");
        const elog::field_value value = elog::decode_field(field, payload);
        if (std::holds_alternative<elog::damaged_value>(value)) {
            shown += " damaged";
        } else if (const auto* const array = std::get_if<elog::array_value>(&value)) {
            for (std::size_t i = 0; i < array->count; ++i) {
                const elog::field_value each = elog::decode_element(field, i, payload);
                const auto* const number = std::get_if<std::int64_t>(&each);
                shown += " " + (number != nullptr ? std::to_string(*number)
                                                  : std::to_string(std::get<std::uint64_t>(each)));
            }
        } else {
            shown += " of " + std::to_string(std::get<elog::byte_string>(value).size());
        }
        found.push_back(shown);
    });
    return found;
}

TEST(trace_dat, reads_dynamic_arrays_as_sequences) {
    const auto arrays = [](std::string_view type, const std::vector<bytes>& records) {
        trace_dat_builder maker({{"arrays", array_format(type)}});
        maker.page(0);
        std::uint64_t time = 1000;
        for (const bytes& record : records) {
            maker.event(0, time++, record);
        }
        return arrays_of(maker);
    };
    const std::string_view two("\x01\0\0\0\xff\xff\xff\xff", 8);
    using texts = std::vector<std::string>;
    EXPECT_EQ(arrays("__rel_loc u32", {array_record(8U << 16U, two), array_record(0, "")}),
              (texts{"u32[] 1 4294967295", "u32[]"}));
    EXPECT_EQ(arrays("__data_loc s32", {array_record(8U << 16U | 12U, two)}),
              (texts{"i32[] 1 -1"}));
    EXPECT_EQ(arrays("__data_loc u8", {array_record(8U << 16U | 12U, two)}), (texts{"bytes of 8"}));
    // A part of an element is damage. A location behind the record damages all of it.
    EXPECT_EQ(arrays("__rel_loc u32", {array_record(7U << 16U, two), array_record(4U << 16U, two)}),
              (texts{"u32[] damaged", "u32[] 1"}));
    EXPECT_EQ(arrays("__rel_loc u32",
                     {array_record(8U << 16U | 4U, two), array_record(0xfffcU << 16U, two)}),
              texts{});
}

/// A page of CPU 0 with an event, this entry and another event, and a page of CPU 1.
imported_recording with_entry(const std::vector<std::uint32_t>& words) {
    trace_dat_builder maker(formats());
    maker.page(0);
    maker.event(0, 1000, record_of(1));
    maker.entry(0, words);
    maker.event(0, 3000, record_of(3));
    maker.page(1);
    maker.event(1, 2000, record_of(2));
    return import_bytes(maker.file());
}

// Entry types; the upper bits contain the time since the previous entry.
constexpr std::uint32_t padding = 29;
constexpr std::uint32_t extension = 30;
constexpr std::uint32_t stamp = 31;
constexpr std::uint32_t nanosecond = 32;

TEST(trace_dat, skips_non_event_entries) {
    EXPECT_EQ(with_entry({nanosecond + padding, 8, 0}).numbers(), (numbers{1, 2, 3}));
    EXPECT_EQ(with_entry({nanosecond + extension, 0}).numbers(), (numbers{1, 2, 3}));
    // A record of 12 bytes after its size word, with an unknown event number.
    EXPECT_EQ(with_entry({0, 4 + 12, 1, 0, 0}).numbers(), (numbers{1, 2, 3}));
    const imported_recording found = with_entry({700 * nanosecond + stamp, 0});
    EXPECT_EQ(found.numbers(), (numbers{1, 2, 3}));
    EXPECT_EQ(found.records.at(2).time, 2700);
    EXPECT_EQ(found.damages, std::vector<std::string>());
}

TEST(trace_dat, ends_page_at_null_padding_of_any_size) {
    for (const std::uint32_t size : {0U, 4U, 1000U, 0xfffffffcU}) {
        const imported_recording found = with_entry({padding, size});
        EXPECT_EQ(found.numbers(), (numbers{1, 2})) << size;
        EXPECT_EQ(found.damages, std::vector<std::string>()) << size;
    }
}

TEST(trace_dat, rejects_page_with_entries_out_of_bounds) {
    for (const std::uint32_t size : {0xfffffffcU, 0U - 28U, 1000U, 0x7fffffffU}) {
        const imported_recording found = with_entry({nanosecond + padding, size});
        EXPECT_EQ(found.numbers(), numbers{2}) << size;
        EXPECT_EQ(found.damages.size(), 1U) << size;
    }
    for (const std::uint32_t size : {0U, 3U, 1000U, 0xffffffffU}) {
        const imported_recording found = with_entry({nanosecond, size});
        EXPECT_EQ(found.numbers(), numbers{2}) << size;
        EXPECT_EQ(found.damages.size(), 1U) << size;
    }
}

TEST(trace_dat, counts_missed_events_of_unknown_number) {
    trace_dat_builder maker(formats());
    maker.page(0);
    maker.event(0, 1000, record_of(1));
    maker.page(0, trace_dat_builder::some);
    maker.event(0, 2000, record_of(2));
    maker.counted(0, 7);
    const imported_recording found = import_bytes(maker.file());
    ASSERT_EQ(found.records.size(), 2U);
    EXPECT_EQ(found.records[1].lost, 0U);
    ASSERT_EQ(found.losses.size(), 1U);
    EXPECT_EQ(found.losses[0].full, 7U);
}

TEST(trace_dat, applies_time_offset) {
    for (const auto& [text, time] : {std::pair("500", 1500), {"-0x10", 984}}) {
        const imported_recording found = import_bytes(small({.time_offset = text}).file());
        EXPECT_EQ(found.records.at(0).time, time) << text;
    }
}

TEST(trace_dat, merges_all_buffers_in_time_order) {
    trace_dat_builder maker = small({});
    maker.instance("mine", "mono");
    maker.page(0);
    maker.event(0, 1500, record_of(10));
    const imported_recording found = import_bytes(maker.file());
    EXPECT_EQ(found.numbers(), (numbers{1, 10, 2, 3}));
    EXPECT_EQ(found.records.at(1).cpu, 0U);
    EXPECT_EQ(found.damages, std::vector<std::string>());
}

TEST(trace_dat, skips_and_reports_buffers_of_other_clock) {
    trace_dat_builder maker = small({});
    maker.instance("mine", "local");
    maker.page(0);
    maker.event(0, 1500, record_of(10));
    const imported_recording found = import_bytes(maker.file());
    EXPECT_EQ(found.numbers(), (numbers{1, 2, 3}));
    ASSERT_EQ(found.damages.size(), 1U);
    EXPECT_NE(found.damages[0].find("'mine'"), std::string::npos);
}

TEST(trace_dat, limits_sections_read_for_repeated_options) {
    EXPECT_EQ(import_bytes(small({.name_option_hops = 1000}).file()).numbers(), (numbers{1, 2, 3}));
    EXPECT_NE(rejection_of(small({.name_option_hops = 1025}).file()).find("never end"),
              std::string::npos);
}

TEST(trace_dat, limits_total_section_size) {
    constexpr std::size_t megabyte = std::size_t{1} << 20U;
    EXPECT_EQ(import_bytes(small({.unknown_option_size = megabyte}).file()).numbers(),
              (numbers{1, 2, 3}));
    EXPECT_NE(rejection_of(small({.unknown_option_size = 40 * megabyte}).file()).find("never end"),
              std::string::npos);
}

TEST(trace_dat, limits_pages_in_memory) {
    byte_builder made;
    const bytes pages(4 * std::size_t{trace_dat_builder::page_size});
    const bytes piece = eventlog::test::zstd_frame(pages);
    made.add<std::uint32_t>(1).add(static_cast<std::uint32_t>(piece.size()));
    made.add(static_cast<std::uint32_t>(pages.size())).add_bytes(piece);
    const std::string path = eventlog::test::scratch_directory() + "/pages";
    eventlog::test::replace(path, made.bytes());
    const eventlog::tracefs::recorded_file file(path);
    eventlog::tracefs::trace_buffer buffer;
    buffer.page_size = trace_dat_builder::page_size;
    buffer.is_compressed = true;
    const auto is_read = [&](std::size_t pages_max, std::uint64_t allowed) {
        eventlog::tracefs::zstd_stream stream(allowed);
        eventlog::tracefs::trace_pages read(
            file, buffer, {0, 0, made.size() - sizeof(std::uint32_t)}, stream,
            static_cast<std::uint32_t>(pages_max * trace_dat_builder::page_size));
        try {
            return read.next().has_value();
        } catch (const eventlog::tracefs::error&) {
            return false;
        }
    };
    EXPECT_TRUE(is_read(4, pages.size()));
    EXPECT_FALSE(is_read(3, pages.size()));
}

TEST(trace_dat, allocates_actual_decompressed_size) {
    constexpr std::size_t may = std::size_t{256} << 20U;
    constexpr std::size_t spare = std::size_t{128} << 10U;
    for (const std::size_t size : {std::size_t{4096}, std::size_t{1} << 20U}) {
        const bytes content(size);
        eventlog::tracefs::zstd_stream stream(may);
        bytes out;
        ASSERT_TRUE(stream.decompress(eventlog::test::zstd_frame(content), may, out));
        EXPECT_EQ(out, content);
        EXPECT_LE(out.capacity(), 2 * size + 2 * spare);
        stream.restart();
        bytes exact;
        ASSERT_TRUE(stream.decompress(eventlog::test::zstd_frame(content), size, exact));
        EXPECT_EQ(exact, content);
        EXPECT_LE(exact.capacity(), size + 1);
    }
}

TEST(trace_dat, truncated_anywhere_is_rejected_or_reported) {
    const bytes whole = small({}).file();
    for (std::size_t size = 10; size < whole.size(); ++size) {
        const bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        EXPECT_NE(rejection_of(cut), "it was read") << size;
    }
}

TEST(trace_dat, survives_any_changed_byte) {
    for (const bool compressed : {false, true}) {
        const bytes whole = small({.version = compressed ? 7 : 6}).file();
        std::size_t read = 0;
        for (std::size_t at = 0; at < whole.size(); at += whole[at] == 0 ? 64 : 5) {
            bytes file = whole;
            file[at] = static_cast<std::uint8_t>(at % 3 == 0 ? 0xff : file[at] ^ 1U);
            read += eventlog::test::is_readable(file) ? 1U : 0U;
        }
        EXPECT_GT(read, 10U);
    }
}

TEST(trace_dat, terminates_on_option_cycle) {
    bytes file = small({.compressed = false}).file();
    // The last section links back to the first options.
    std::uint64_t first = 0;
    constexpr std::size_t place = 10 + 2 + 2 + 4 + 5 + 4;
    std::memcpy(&first, file.data() + place, sizeof first);
    std::memcpy(file.data() + file.size() - sizeof first, &first, sizeof first);
    EXPECT_NE(rejection_of(file).find("never end"), std::string::npos);
}

}  // namespace
