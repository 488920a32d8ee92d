// SPDX-License-Identifier: MIT
#include "trace_dat_builder.hpp"

#include <zstd.h>

#include <utility>

#include <fmt/format.h>

namespace eventlog::test {
namespace {

constexpr std::uint64_t missed_flag = std::uint64_t{1} << 31U;
constexpr std::uint64_t stored_flag = std::uint64_t{1} << 30U;
constexpr unsigned delta_shift = 5;

/// Numbers of options and sections.
enum : std::uint16_t {
    date = 1,
    counts = 2,
    buffer = 3,
    trace_clock = 4,
    host = 5,
    time_offset = 7,
    cpu_number = 8,
    host_clock = 12,
    event_formats = 18,
    thread_names = 21,
    buffer_pages = 3,
    unknown_option = 999,
};

void add_option(byte_builder& to, std::uint16_t id, std::span<const std::uint8_t> content) {
    to.add(id).add(static_cast<std::uint32_t>(content.size())).add_bytes(content);
}

void add_text_option(byte_builder& to, std::uint16_t id, std::string_view text) {
    add_option(to, id, byte_builder().add_text(text).add_zeros(1).bytes());
}

/// Returns the section's offset.
std::uint64_t add_section(byte_builder& to, std::uint16_t id, std::span<const std::uint8_t> content,
                          bool compressed) {
    const std::uint64_t at = to.size();
    byte_builder body;
    if (compressed) {
        const std::vector<std::uint8_t> frame = zstd_frame(content);
        body.add(static_cast<std::uint32_t>(frame.size()));
        body.add(static_cast<std::uint32_t>(content.size())).add_bytes(frame);
    } else {
        body.add_bytes(content);
    }
    to.add(id).add<std::uint16_t>(compressed ? 1 : 0).add<std::uint32_t>(0);
    to.add<std::uint64_t>(body.size()).add_bytes(body.bytes());
    return at;
}

}  // namespace

std::vector<std::uint8_t> zstd_frame(std::span<const std::uint8_t> content) {
    std::vector<std::uint8_t> frame(ZSTD_compressBound(content.size()));
    frame.resize(ZSTD_compress(frame.data(), frame.size(), content.data(), content.size(), 3));
    return frame;
}

trace_dat_builder::trace_dat_builder(std::vector<system_format> formats, trace_dat_options options)
    : formats_(std::move(formats)), options_(std::move(options)) {
    instance("", options_.clock);
}

void trace_dat_builder::instance(std::string name, std::string clock) {
    buffers_.push_back({std::move(name), std::move(clock)});
}

void trace_dat_builder::page(std::uint32_t cpu, std::uint64_t missed) {
    buffers_.back().pages[cpu].emplace_back().missed = missed;
}

void trace_dat_builder::event(std::uint32_t cpu, std::uint64_t time,
                              std::span<const std::uint8_t> record) {
    page_state& page = buffers_.back().pages[cpu].back();
    if (!std::exchange(page.has_events, true)) {
        page.begin = page.time = time;
    }
    const std::uint64_t delta = time - std::exchange(page.time, time);
    page.content.add(static_cast<std::uint32_t>(delta << delta_shift | record.size() / 4));
    page.content.add_bytes(record);
}

void trace_dat_builder::entry(std::uint32_t cpu, const std::vector<std::uint32_t>& words) {
    for (const std::uint32_t word : words) {
        buffers_.back().pages[cpu].back().content.add(word);
    }
}

void trace_dat_builder::counted(std::uint32_t cpu, std::uint64_t overwritten) {
    counted_[cpu] = overwritten;
}

void trace_dat_builder::name(std::uint32_t thread, std::string_view name) {
    names_[thread] = name;
}

trace_dat_builder::bytes trace_dat_builder::pages_of(const buffer_state& buffer,
                                                     std::uint32_t cpu) {
    byte_builder made;
    const auto found = buffer.pages.find(cpu);
    if (found == buffer.pages.end()) {
        return {};
    }
    for (const page_state& page : found->second) {
        const std::uint64_t reported =
            page.missed == some ? missed_flag : missed_flag | stored_flag;
        const std::uint64_t flags = page.missed == 0 ? 0 : reported;
        made.add(page.begin).add(page.content.size() | flags).add_bytes(page.content.bytes());
        if ((flags & stored_flag) != 0) {
            made.add(page.missed);
        }
        made.pad_to(page_size);
    }
    return made.bytes();
}

std::string trace_dat_builder::names() const {
    std::string text;
    for (const auto& [thread, name] : names_) {
        text += fmt::format("{} {}\n", thread, name);
    }
    return text;
}

void trace_dat_builder::add_options(byte_builder& to) const {
    if (options_.realtime) {
        add_text_option(to, date, fmt::format("0x{:x}", *options_.realtime));
    }
    add_text_option(to, trace_clock, fmt::format("local [{}] global\n", options_.clock));
    if (!options_.time_offset.empty()) {
        add_text_option(to, time_offset, options_.time_offset);
    }
    if (options_.has_host_clock) {
        add_option(to, host_clock, bytes(16));
    }
    add_text_option(to, host, "Linux guest 6.12.0-test x86_64");
    for (const auto& [cpu, overwritten] : counted_) {
        add_text_option(to, counts,
                        fmt::format("CPU: {}\nentries: 1\noverrun: {}\ncommit overrun: 0\n"
                                    "dropped events: 0\nread events: 1\n",
                                    cpu, overwritten));
    }
    add_option(to, cpu_number, byte_builder().add(cpus).bytes());
}

trace_dat_builder::bytes trace_dat_builder::file_6() const {
    byte_builder file;
    add_tracing_header(file, "6");
    add_page_formats(file);
    file.add<std::uint32_t>(0);
    add_event_formats(file, formats_);
    file.add_zeros(4 + 4);
    file.add<std::uint64_t>(names().size()).add_text(names());
    file.add(cpus).add_text("options  ").add_zeros(1);
    add_options(file);
    file.add<std::uint16_t>(0).add_text("flyrecord").add_zeros(1);
    const std::size_t places = file.size();
    file.add_zeros(std::size_t{cpus} * 2 * sizeof(std::uint64_t)).pad_to(page_size);
    for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) {
        const bytes pages = pages_of(buffers_.front(), cpu);
        const std::size_t place = places + std::size_t{cpu} * 2 * sizeof(std::uint64_t);
        file.put(place, std::uint64_t{file.size()});
        file.put(place + sizeof(std::uint64_t), std::uint64_t{pages.size()});
        file.add_bytes(pages);
    }
    return file.bytes();
}

trace_dat_builder::bytes trace_dat_builder::file_7() const {
    const bool compressed = options_.compressed;
    byte_builder file;
    add_tracing_header(file, "7");
    file.add_text(compressed ? "zstd" : "none").add_zeros(1).add_text("1.5").add_zeros(1);
    const std::size_t options_offset = file.size();
    file.add_zeros(sizeof(std::uint64_t));
    byte_builder content;
    add_event_formats(content, formats_);
    const std::uint64_t formats = add_section(file, event_formats, content.bytes(), compressed);
    content = {};
    content.add<std::uint64_t>(names().size()).add_text(names());
    const std::uint64_t thread_names_at =
        add_section(file, thread_names, content.bytes(), compressed);
    std::vector<bytes> buffers;
    for (const buffer_state& each : buffers_) {
        buffers.push_back(add_buffer(file, each));
    }
    std::uint64_t more = 0;
    if (options_.unknown_option_size != 0) {
        more = add_more_options(file, {}, add_more_options(file, {}, 0));
    }
    more = add_more_options(file, buffers, more);
    byte_builder options;
    add_option(options, event_formats, byte_builder().add(formats).bytes());
    add_options(options);
    for (std::uint32_t i = 0; i < options_.name_option_hops; ++i) {
        add_option(options, thread_names, byte_builder().add(thread_names_at).bytes());
    }
    add_option(options, 0, byte_builder().add(more).bytes());
    file.put(options_offset, add_section(file, 0, options.bytes(), compressed));
    return file.bytes();
}

/// Adds the locations of pages, or an unknown option without buffers. Returns the section's offset.
std::uint64_t trace_dat_builder::add_more_options(byte_builder& file,
                                                  std::span<const bytes> buffers,
                                                  std::uint64_t next) const {
    byte_builder made;
    for (const bytes& each : buffers) {
        add_option(made, buffer, each);
    }
    if (buffers.empty()) {
        add_option(made, unknown_option, bytes(options_.unknown_option_size));
    }
    add_option(made, 0, byte_builder().add(next).bytes());
    return add_section(file, 0, made.bytes(), buffers.empty());
}

trace_dat_builder::bytes trace_dat_builder::add_buffer(byte_builder& file,
                                                       const buffer_state& buffer) const {
    const bool compressed = options_.compressed;
    byte_builder places;
    places.add<std::uint64_t>(file.size()).add_text(buffer.name).add_zeros(1);
    places.add_text(buffer.clock).add_zeros(1).add(page_size).add(cpus);
    file.add(buffer_pages).add<std::uint16_t>(compressed ? 1 : 0).add_zeros(12);
    for (std::uint32_t cpu = 0; cpu < cpus; ++cpu) {
        const bytes pages = pages_of(buffer, cpu);
        const bytes frame = zstd_frame(pages);
        places.add(cpu).add<std::uint64_t>(file.size());
        if (compressed && !pages.empty()) {
            places.add<std::uint64_t>(frame.size() + 2 * sizeof(std::uint32_t));
            file.add<std::uint32_t>(1).add(static_cast<std::uint32_t>(frame.size()));
            file.add(static_cast<std::uint32_t>(pages.size())).add_bytes(frame);
        } else {
            places.add<std::uint64_t>(pages.size());
            file.add_bytes(pages);
        }
    }
    return places.bytes();
}

trace_dat_builder::bytes trace_dat_builder::file() const {
    return options_.version == 6 ? file_6() : file_7();
}

}  // namespace eventlog::test
