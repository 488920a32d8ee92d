// SPDX-License-Identifier: MIT
#include "files/trace_file.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <utility>

#include "format/byte_reader.hpp"
#include "kernel/error.hpp"
#include "kernel/kernel_text.hpp"

namespace eventlog::tracefs {
namespace {

constexpr const char* head_name = "The file's first part";
constexpr const char* option_name = "An option in the file";
constexpr const char* section_name = "A section of the file";

// Bounds for untrusted files.
constexpr std::uint64_t section_size_max = std::uint64_t{64} << 20U;
constexpr std::uint64_t head_size_max = 4096;
constexpr std::uint32_t sections_max = 1024;
constexpr std::uint64_t section_bytes_max = section_size_max;
constexpr std::uint32_t page_size_max = 512U << 10U;  // 128 pages of usual machines
constexpr std::uint32_t cpus_max = 65536;
constexpr std::size_t buffers_max = 1024;
constexpr std::size_t name_size_max = 255;  // of a buffer, which is a folder name, and of a clock
constexpr std::size_t names_max = std::size_t{1} << 17U;  // the kernel keeps at most 32768

constexpr std::uint16_t flag_compressed = 1;

/// Numbers of options and of the sections that they refer to.
enum option : std::uint16_t {
    option_done = 0,
    option_date = 1,
    option_counts = 2,
    option_buffer = 3,
    option_clock = 4,
    option_host = 5,
    option_time_offset = 7,
    option_cpus = 8,
    option_host_clock = 12,
    option_event_formats = 18,
    option_names = 21,
    option_ftrace_formats = 17,
};

std::string_view text_in(std::span<const std::uint8_t> bytes) noexcept {
    const std::string_view text = byte_reader::text_of(bytes);
    return text.substr(0, text.find('\0'));
}

/// 0 if there is none.
std::uint64_t number_or_zero(std::string_view text, int base = 10) noexcept {
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number, base);
    return number;
}

/// With sign; hexadecimal behind 0x.
std::int64_t signed_number_in(std::string_view text) noexcept {
    const bool is_negative = text.starts_with('-');
    text.remove_prefix(is_negative ? 1 : 0);
    const bool is_hex = text.starts_with("0x");
    text.remove_prefix(is_hex ? 2 : 0);
    const auto number = static_cast<std::int64_t>(number_or_zero(text, is_hex ? 16 : 10));
    return is_negative && number > INT64_MIN ? -number : number;
}

/// The name in brackets: "local global [mono]".
std::string chosen_clock(std::string_view text) {
    const std::size_t begin = text.find('[');
    const std::size_t end = text.find(']', std::min(begin, text.size()));
    return end == std::string_view::npos ? std::string()
                                         : std::string(text.substr(begin + 1, end - begin - 1));
}

void add_pages(trace_buffer& buffer, std::uint32_t cpu, byte_reader& from) {
    const auto offset = from.take<std::uint64_t>();
    const auto size = from.take<std::uint64_t>();
    if (size != 0) {
        buffer.cpus.push_back({cpu, offset, size});
    }
}

}  // namespace

struct trace_file::section_head {
    std::uint16_t id;
    std::uint16_t flags;
    std::uint32_t description;
    std::uint64_t size;
};

trace_file::trace_file(const recorded_file& file) : file_(file), stream_(section_bytes_max) {
    const std::vector<std::uint8_t> start =
        file.read(0, file.available_bytes(0, head_size_max), head_size_max, "its first part");
    byte_reader from(start, head_name);
    const tracing_header head = parse_tracing_header(from);
    if (head.version == "6") {
        is_version_6_ = true;
        parse_version_6(head.page_size);
    } else if (head.version == "7") {
        const std::string compression(from.take_text());
        static_cast<void>(from.take_text());  // its version
        is_compressed_ = compression != "none";
        if (is_compressed_ && compression != "zstd") {
            throw error("{} is compressed by {}, and elog reads what zstd compresses. Make another "
                        "of it with: trace-cmd convert --compression none -i {} -o FILE",
                        file.path(), compression, file.path());
        }
        parse_version_7(from.take<std::uint64_t>());
    } else {
        throw error("{} has version {} of the format, and elog reads 6 and 7. Record it with "
                    "trace-cmd record --file-version 7",
                    file.path(), head.version);
    }
    assign_counts();
    check_pages();
}

void trace_file::parse_version_6(std::uint32_t page_size) {
    const std::vector<std::uint8_t> whole = file_.read(
        0, file_.available_bytes(0, section_size_max), section_size_max, "its first part");
    byte_reader from(whole, head_name);
    static_cast<void>(parse_tracing_header(from));
    skip_page_formats(from);
    parse_ftrace_formats(from, formats_);
    parse_event_formats(from, formats_);
    skip_function_names(from);
    parse_names(text_in(from.take_bytes(from.take<std::uint64_t>())));
    const auto cpus = from.take<std::uint32_t>();
    std::string_view kind = from.take_text();
    if (kind == "options  ") {
        for (auto id = from.take<std::uint16_t>(); id != option_done;
             id = from.take<std::uint16_t>()) {
            parse_option(id, from.take_bytes(from.take<std::uint32_t>()));
        }
        kind = from.take_text();
    }
    if (kind != "flyrecord") {
        throw error("{} holds no events, but the text of a latency tracer. Show it with trace-cmd "
                    "report.",
                    file_.path());
    }
    parse_pages_of_version_6(from, page_size, cpus);
}

void trace_file::parse_pages_of_version_6(byte_reader& from, std::uint32_t page_size,
                                          std::uint32_t cpus) {
    trace_buffer buffer;
    buffer.clock = clock_;
    buffer.page_size = page_size;
    for (std::uint32_t cpu = 0; cpu < std::min(cpus, cpus_max); ++cpu) {
        add_pages(buffer, cpu, from);
    }
    buffers_.push_back(std::move(buffer));
}

void trace_file::parse_version_7(std::uint64_t at) {
    while (at != 0) {
        at = parse_options(at);
    }
    if (formats_.empty()) {
        throw error("{} does not say how its events look. It is damaged: record it again.",
                    file_.path());
    }
}

/// Counts each reference to a section, because several options may refer to the same.
void trace_file::count_section(std::uint64_t bytes) {
    section_bytes_ += bytes;
    if (++sections_ > sections_max || section_bytes_ > section_bytes_max) {
        throw error("The options of {} never end: they lead to more than {} sections, or to more "
                    "than {} bytes. It is damaged: record it again.",
                    file_.path(), sections_max, section_bytes_max);
    }
}

/// The whole content of a section, decompressed.
std::vector<std::uint8_t> trace_file::section(std::uint16_t id, std::uint64_t at) {
    const auto head = value_in<section_head>(
        file_.read(at, sizeof(section_head), sizeof(section_head), "a section's head"));
    if (head.id != id) {
        throw error("{} has a section of the kind {} at {}, where one of the kind {} has to be. It "
                    "is damaged: record it again.",
                    file_.path(), head.id, at, id);
    }
    std::vector<std::uint8_t> content =
        file_.read(at + sizeof head, head.size, section_size_max, "a section");
    if ((head.flags & flag_compressed) == 0) {
        count_section(content.size());
        return content;
    }
    byte_reader from(content, section_name);
    const auto size = from.take<std::uint32_t>();
    const std::size_t limit = std::min<std::uint64_t>(from.take<std::uint32_t>(), section_size_max);
    count_section(content.size() + limit);
    std::vector<std::uint8_t> whole;
    stream_.restart();
    if (!stream_.decompress(from.take_bytes(size), limit, whole) || whole.size() != limit) {
        throw error("The section at {} of {} cannot be decompressed. It is damaged: record it "
                    "again.",
                    at, file_.path());
    }
    return whole;
}

/// Returns the location of further options; 0: none.
std::uint64_t trace_file::parse_options(std::uint64_t at) {
    const std::vector<std::uint8_t> content = section(option_done, at);
    byte_reader from(content, option_name);
    while (true) {
        const auto id = from.take<std::uint16_t>();
        const auto bytes = from.take_bytes(from.take<std::uint32_t>());
        if (id == option_done) {
            return byte_reader(bytes, option_name).take<std::uint64_t>();
        }
        parse_option(id, bytes);
    }
}

void trace_file::parse_option(std::uint16_t id, std::span<const std::uint8_t> content) {
    constexpr std::int64_t microsecond = 1000;
    byte_reader from(content, option_name);
    switch (id) {
        case option_date: {
            std::int64_t found = 0;
            if (!__builtin_mul_overflow(signed_number_in(text_in(content)), microsecond, &found)) {
                realtime_ = found;
            }
            break;
        }
        case option_counts:
            parse_counts(text_in(content));
            break;
        case option_buffer:
            parse_buffer(from);
            break;
        case option_clock:
            clock_ = chosen_clock(text_in(content));
            break;
        case option_host:
            parse_host(text_in(content));
            break;
        case option_time_offset:
            time_offset_ = signed_number_in(text_in(content));
            break;
        case option_host_clock:
            has_host_clock_ = true;
            break;
        case option_cpus:
            machine_.cpus = from.take<std::uint32_t>();
            break;
        case option_ftrace_formats:
        case option_event_formats:
        case option_names:
            parse_section(id, from.take<std::uint64_t>());
            break;
        default:
            break;
    }
}

void trace_file::parse_section(std::uint16_t id, std::uint64_t at) {
    const std::vector<std::uint8_t> content = section(id, at);
    byte_reader from(content, section_name);
    if (id == option_ftrace_formats) {
        parse_ftrace_formats(from, formats_);
    } else if (id == option_event_formats) {
        parse_event_formats(from, formats_);
    } else {
        parse_names(text_in(from.take_bytes(from.take<std::uint64_t>())));
    }
}

void trace_file::parse_buffer(byte_reader from) {
    const auto at = from.take<std::uint64_t>();
    trace_buffer buffer;
    buffer.name = from.take_text();
    if (buffers_.size() + skipped_instances_.size() == buffers_max ||
        buffer.name.size() > name_size_max) {
        throw error("{} has more than {} buffers, or one with a name of more than {} letters. It "
                    "is damaged: record it again.",
                    file_.path(), buffers_max, name_size_max);
    }
    if (is_version_6_) {
        skipped_instances_.push_back(buffer.name);
        return;
    }
    buffer.clock = from.take_text();
    if (buffer.clock.size() > name_size_max) {
        throw error("{} has a clock with a name of more than {} letters. It is damaged: record it "
                    "again.",
                    file_.path(), name_size_max);
    }
    buffer.page_size = from.take<std::uint32_t>();
    const auto count = from.take<std::uint32_t>();
    for (std::uint32_t i = 0; i < count; ++i) {
        add_pages(buffer, from.take<std::uint32_t>(), from);
    }
    const auto head = value_in<section_head>(
        file_.read(at, sizeof(section_head), sizeof(section_head), "the head of its pages"));
    buffer.is_compressed = (head.flags & flag_compressed) != 0;
    buffers_.push_back(std::move(buffer));
}

/// "CPU: 1" with lines of the kernel's counters, or the buffer to which the following counts
/// belong.
void trace_file::parse_counts(std::string_view text) {
    constexpr std::string_view of_buffer = "Buffer: ";
    constexpr std::string_view of_cpu = "CPU: ";
    std::string_view line = take_line(text);
    if (line.empty()) {
        line = take_line(text);
    }
    if (line.starts_with(of_buffer)) {
        counted_buffer_ = line.substr(of_buffer.size(), name_size_max);
        return;
    }
    if (!line.starts_with(of_cpu)) {
        return;
    }
    const std::uint64_t cpu = number_or_zero(line.substr(of_cpu.size()));
    std::uint64_t lost = 0;
    while (!text.empty()) {
        line = take_line(text);
        for (const std::string_view what : {"overrun: ", "commit overrun: ", "dropped events: "}) {
            lost += line.starts_with(what) ? number_or_zero(line.substr(what.size())) : 0;
        }
    }
    if (cpu < cpus_max) {
        counts_[counted_buffer_][static_cast<std::uint32_t>(cpu)] += lost;
    }
}

void trace_file::assign_counts() {
    for (trace_buffer& buffer : buffers_) {
        if (auto counted = counts_.extract(buffer.name)) {
            buffer.lost = std::move(counted.mapped());
        }
    }
}

/// Lines of a number and a name.
void trace_file::parse_names(std::string_view text) {
    while (!text.empty() && names_.size() < names_max) {
        const std::string_view line = take_line(text);
        const std::size_t space = line.find(' ');
        if (space != std::string_view::npos) {
            names_.insert_or_assign(
                static_cast<std::uint32_t>(number_or_zero(line.substr(0, space))),
                std::string(line.substr(space + 1)));
        }
    }
}

/// Splits "Linux guest 6.12.0 x86_64".
void trace_file::parse_host(std::string_view text) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        words.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    constexpr std::size_t expected = 4;
    if (words.size() == expected) {
        machine_.host_name = words[1];
        machine_.kernel = words[2];
        machine_.architecture = words[3];
    }
}

void trace_file::check_pages() const {
    std::uint64_t all = 0;
    for (const trace_buffer& buffer : buffers_) {
        const std::uint32_t size = buffer.page_size;
        for (const trace_cpu& cpu : buffer.cpus) {
            // CPUs share no bytes.
            all += std::min(cpu.size, file_.size());
            if (all > file_.size()) {
                throw error("{} says that its pages have more bytes than it has itself. It was cut "
                            "off, or is damaged: record it again.",
                            file_.path());
            }
        }
        if (!buffer.cpus.empty() && (size < head_size_max / 4 || size > page_size_max)) {
            throw error("{} says that its pages have {} bytes, as no kernel's have. It is damaged: "
                        "record it again.",
                        file_.path(), size);
        }
    }
}

}  // namespace eventlog::tracefs
