// SPDX-License-Identifier: MIT
#include "kernel_trace_sample.hpp"

namespace eventlog::test {
namespace {

void add_text_of_size(byte_builder& to, std::string_view text) {
    to.add<std::uint64_t>(text.size()).add_text(text);
}

}  // namespace

std::string item_format(std::string_view name, int id) {
    return "name: " + std::string(name) + "\nID: " + std::to_string(id) +
           "\nformat:\n"
           "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
           "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
           "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
           "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
           "\tfield:u64 number;\toffset:8;\tsize:8;\tsigned:0;\n"
           "\tfield:__rel_loc char word[];\toffset:16;\tsize:4;\tsigned:1;\n"
           "\nprint fmt: \"number=%llu\", REC->number\n";
}

std::vector<std::uint8_t> item_record(int id, std::uint32_t thread, std::uint64_t number,
                                      std::string_view word) {
    byte_builder record;
    record.add(static_cast<std::uint16_t>(id)).add<std::uint16_t>(0).add(thread).add(number);
    record.add(static_cast<std::uint32_t>((word.size() + 1) << 16U));
    return record.add_text(word).add_zeros(1).pad_to(4).bytes();
}

void add_tracing_header(byte_builder& to, std::string_view version) {
    to.add_text("\x17\x08\x44tracing").add_text(version).add_zeros(1);
    to.add<std::uint8_t>(0).add<std::uint8_t>(8).add<std::uint32_t>(4096);
}

void add_page_formats(byte_builder& to) {
    to.add_text("header_page").add_zeros(1);
    add_text_of_size(to, "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n");
    to.add_text("header_event").add_zeros(1);
    add_text_of_size(to, "# compressed entry header\n");
}

void add_event_formats(byte_builder& to, const std::vector<system_format>& formats) {
    to.add(static_cast<std::uint32_t>(formats.size()));
    for (const system_format& format : formats) {
        to.add_text(format.system).add_zeros(1).add<std::uint32_t>(1);
        add_text_of_size(to, format.text);
    }
}

std::vector<std::uint8_t> tracing_data(const std::vector<system_format>& formats) {
    byte_builder data;
    add_tracing_header(data, "0.6");
    add_page_formats(data);
    data.add<std::uint32_t>(0);
    add_event_formats(data, formats);
    return data.add_zeros(4 + 4 + 8).bytes();
}

}  // namespace eventlog::test
