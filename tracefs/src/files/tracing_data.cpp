// SPDX-License-Identifier: MIT
#include "files/tracing_data.hpp"

#include <algorithm>
#include <array>

#include "kernel/error.hpp"

namespace eventlog::tracefs {
namespace {

constexpr std::array<std::uint8_t, 10> tracing_data_magic{0x17, 0x08, 0x44, 't', 'r',
                                                          'a',  'c',  'i',  'n', 'g'};
constexpr std::uint8_t little_endian = 0;
constexpr std::size_t system_name_size_max =
    255;  // of a system, which is a folder name and is stored with each event

/// Consumes a text that must be there.
void skip_word(byte_reader& from, std::string_view word) {
    const std::string_view found = from.take_text();
    if (found != word) {
        throw error("What the file says about the kernel's events has no '{}' where it has to be. "
                    "It is damaged; record it again.",
                    word);
    }
}

void parse_formats(byte_reader& from, const std::string& system,
                   std::vector<recorded_format>& formats) {
    for (auto events = from.take<std::uint32_t>(); events != 0; --events) {
        if (formats.size() == recorded_formats_max) {
            throw error("The file describes more than {} events. It is damaged; record it again.",
                        recorded_formats_max);
        }
        const auto text = from.take_bytes(from.take<std::uint64_t>());
        formats.push_back({system, std::string(byte_reader::text_of(text))});
    }
}

}  // namespace

bool is_tracing_data(std::span<const std::uint8_t> bytes) noexcept {
    return bytes.size() >= tracing_data_magic.size() &&
           std::equal(tracing_data_magic.begin(), tracing_data_magic.end(), bytes.begin());
}

tracing_header parse_tracing_header(byte_reader& from) {
    if (!is_tracing_data(from.take_bytes(tracing_data_magic.size()))) {
        throw error("What the file says about the kernel's events does not begin as it has to. It "
                    "is damaged; record it again.");
    }
    tracing_header head;
    head.version = from.take_text();
    if (from.take<std::uint8_t>() != little_endian) {
        throw error("The file is of a machine whose numbers are big-endian, which elog does not "
                    "read. Show it there, with perf script or trace-cmd report.");
    }
    const auto word_size = from.take<std::uint8_t>();
    if (word_size != sizeof(std::uint64_t)) {
        throw error("The file is of a machine with words of {} bytes, and elog reads those of 8. "
                    "Show it with perf script or trace-cmd report.",
                    word_size);
    }
    head.page_size = from.take<std::uint32_t>();
    return head;
}

void skip_page_formats(byte_reader& from) {
    for (const std::string_view word : {"header_page", "header_event"}) {
        skip_word(from, word);
        from.skip(from.take<std::uint64_t>());
    }
}

void parse_ftrace_formats(byte_reader& from, std::vector<recorded_format>& formats) {
    parse_formats(from, "ftrace", formats);
}

void parse_event_formats(byte_reader& from, std::vector<recorded_format>& formats) {
    for (auto systems = from.take<std::uint32_t>(); systems != 0; --systems) {
        const std::string system(from.take_text());
        if (system.size() > system_name_size_max) {
            throw error("The file has a system of events with a name of more than {} letters. It "
                        "is damaged; record it again.",
                        system_name_size_max);
        }
        parse_formats(from, system, formats);
    }
}

void skip_function_names(byte_reader& from) {
    from.skip(from.take<std::uint32_t>());
    from.skip(from.take<std::uint32_t>());
}

std::vector<recorded_format> parse_tracing_data(std::span<const std::uint8_t> bytes) {
    byte_reader from(bytes, "What the file says about the kernel's events");
    static_cast<void>(parse_tracing_header(from));
    skip_page_formats(from);
    std::vector<recorded_format> formats;
    parse_ftrace_formats(from, formats);
    parse_event_formats(from, formats);
    return formats;
}

}  // namespace eventlog::tracefs
