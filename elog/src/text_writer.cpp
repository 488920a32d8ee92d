// SPDX-License-Identifier: MIT
#include "text_writer.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <iterator>
#include <utility>

#include "failure.hpp"

namespace elog {
namespace {

constexpr std::size_t write_size = std::size_t{64} << 10U;
constexpr std::int64_t second = 1'000'000'000;

void append(fmt::memory_buffer& out, std::string_view text) {
    out.append(text.data(), text.data() + text.size());
}

/// Length of the well-formed UTF-8 character at the beginning that shows something; 0 if there is
/// none. Control characters U+0080 to U+009F count as none: terminals obey them.
std::size_t printable_length(std::string_view text) noexcept {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char lead = byte(0);
    if (lead < 0x80) {
        return lead >= 0x20 && lead != 0x7f ? 1 : 0;
    }
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() < length) {
        return 0;
    }
    std::uint32_t code = lead & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) {
        if ((byte(i) & 0xc0U) != 0x80U) {
            return 0;
        }
        code = code << 6U | (byte(i) & 0x3fU);
    }
    const bool too_long = (length == 3 && code < 0x800) || (length == 4 && code < 0x10000);
    const bool no_character = code < 0xa0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000);
    // What shows nothing or turns the direction of what follows could make a line read as another.
    constexpr std::pair<std::uint32_t, std::uint32_t> invisible[] = {
        {0xad, 0xad},     {0x61c, 0x61c},   {0x200b, 0x200f}, {0x2028, 0x202e},
        {0x2060, 0x206f}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
    const bool hidden = std::any_of(std::begin(invisible), std::end(invisible), [&](auto range) {
        return code >= range.first && code <= range.second;
    });
    return too_long || no_character || hidden ? 0 : length;
}

void append_escaped(fmt::memory_buffer& out, unsigned char byte) {
    switch (byte) {
        case '\n':
            append(out, "\\n");
            break;
        case '\t':
            append(out, "\\t");
            break;
        case '\r':
            append(out, "\\r");
            break;
        default:
            fmt::format_to(std::back_inserter(out), FMT_STRING("\\x{:02x}"), byte);
    }
}

struct value_appender {
    fmt::memory_buffer& out;

    void operator()(bool value) const { append(out, value ? "true" : "false"); }
    void operator()(char value) const {
        out.push_back('\'');
        if (static_cast<unsigned char>(value) >= 0x20 && static_cast<unsigned char>(value) < 0x7f) {
            out.push_back(value);
        } else {
            append_escaped(out, static_cast<unsigned char>(value));
        }
        out.push_back('\'');
    }
    void operator()(std::int64_t value) const {
        const fmt::format_int text(value);
        append(out, {text.data(), text.size()});
    }
    void operator()(std::uint64_t value) const {
        const fmt::format_int text(value);
        append(out, {text.data(), text.size()});
    }
    void operator()(float value) const {
        fmt::format_to(std::back_inserter(out), FMT_STRING("{}"), value);
    }
    void operator()(double value) const {
        fmt::format_to(std::back_inserter(out), FMT_STRING("{}"), value);
    }
    void operator()(std::string_view value) const { append_quoted(out, value); }
    void operator()(null_text /*value*/) const { append(out, "(null)"); }
    void operator()(damaged_value /*value*/) const { append(out, "<damaged>"); }
};

}  // namespace

namespace {

void append_text(fmt::memory_buffer& out, std::string_view text, bool escape_quotes) {
    while (!text.empty()) {
        const std::size_t length = printable_length(text);
        if (length == 0) {
            append_escaped(out, static_cast<unsigned char>(text[0]));
        } else {
            if (escape_quotes && (text[0] == '"' || text[0] == '\\')) {
                out.push_back('\\');
            }
            append(out, text.substr(0, length));
        }
        text.remove_prefix(length == 0 ? 1 : length);
    }
}

}  // namespace

void append_visible(fmt::memory_buffer& out, std::string_view text) {
    append_text(out, text, false);
}

void append_quoted(fmt::memory_buffer& out, std::string_view text) {
    out.push_back('"');
    append_text(out, text, true);
    out.push_back('"');
}

void append_value(fmt::memory_buffer& out, const field_value& value) {
    std::visit(value_appender{out}, value);
}

void text_writer::append_time(std::int64_t nanoseconds) {
    std::int64_t seconds = nanoseconds / second;
    std::int64_t rest = nanoseconds % second;
    if (rest < 0) {
        rest += second;
        --seconds;
    }
    if (seconds != second_) {
        second_ = seconds;
        const std::time_t when = seconds;
        std::tm parts{};
        static_cast<void>(::localtime_r(&when, &parts));
        static_cast<void>(std::strftime(clock_text_, sizeof clock_text_, "%H:%M:%S", &parts));
    }
    fmt::format_to(std::back_inserter(buffer_), FMT_STRING("{}.{:06}"),
                   static_cast<const char*>(clock_text_), rest / 1000);
}

void text_writer::write(const merged_record& record, const provider_map& providers,
                        const clock_table& clock, std::uint32_t shared_ring) {
    if (record.lost_before != 0) {
        append_gap(record.ring, record.lost_before, shared_ring);
    }
    const eventlog_record& header = record.record.header;
    append_time(clock.realtime(header.time));
    const auto found = providers.find(header.provider);
    const bool known = found != providers.end() &&
                       header.event < found->second.schema.events.size() && header.flags == 0;
    if (!known) {
        fmt::format_to(std::back_inserter(buffer_),
                       FMT_STRING(" [{:03}] ?-{} <unknown provider {} event {}, {} bytes>\n"),
                       header.cpu, header.thread, header.provider, header.event,
                       record.record.payload.size());
    } else {
        const provider_instance& provider = found->second;
        const event_schema& event = provider.schema.events[header.event];
        fmt::format_to(std::back_inserter(buffer_), FMT_STRING(" [{:03}] "), header.cpu);
        append_visible(buffer_, provider.process);
        fmt::format_to(std::back_inserter(buffer_), FMT_STRING("-{} {}:{}"), header.thread,
                       provider.schema.name, event.name);
        for (const field_schema& field : event.fields) {
            buffer_.push_back(' ');
            append(buffer_, field.name);
            buffer_.push_back('=');
            append_value(buffer_, decode_field(field, record.record.payload));
        }
        buffer_.push_back('\n');
    }
    if (buffer_.size() >= write_size) {
        flush();
    }
}

void text_writer::append_gap(std::uint32_t ring, std::uint64_t lost, std::uint32_t shared_ring) {
    if (ring == shared_ring) {
        fmt::format_to(std::back_inserter(buffer_),
                       FMT_STRING("-- lost {} events in the shared ring --\n"), lost);
    } else {
        fmt::format_to(std::back_inserter(buffer_), FMT_STRING("-- lost {} events on CPU {} --\n"),
                       lost, ring);
    }
}

void text_writer::write_loss(const loss_block& loss, const provider_map& providers,
                             std::uint32_t shared_ring) {
    if (static_cast<loss_scope>(loss.scope) == loss_scope::ring) {
        if (loss.full != 0) {
            append_gap(loss.index, loss.full, shared_ring);
        }
        if (loss.damaged != 0) {
            fmt::format_to(std::back_inserter(buffer_),
                           FMT_STRING("-- {} events of ring {} made no sense --\n"), loss.damaged,
                           loss.index);
        }
        return;
    }
    const auto found = providers.find(static_cast<std::uint16_t>(loss.index));
    const std::string name =
        found == providers.end() ? std::string("?") : found->second.schema.name;
    if (loss.too_large != 0) {
        fmt::format_to(std::back_inserter(buffer_),
                       FMT_STRING("-- lost {} events of {}: too large --\n"), loss.too_large, name);
    }
    if (loss.busy != 0) {
        fmt::format_to(std::back_inserter(buffer_),
                       FMT_STRING("-- lost {} events of {}: shared ring busy --\n"), loss.busy,
                       name);
    }
}

void text_writer::flush() {
    write_all(descriptor_, {buffer_.data(), buffer_.size()}, asked_to_end_);
    buffer_.clear();
}

namespace {

constexpr int look_interval = 10;  // milliseconds
constexpr int patience = 100;      // looks

/// Until the output takes something, or has an error that write will tell.
void wait_until_writable(int descriptor, const give_up& asked_to_end) {
    for (int looks = 0; asked_to_end; ++looks) {
        pollfd output{descriptor, POLLOUT, 0};
        const int ready = ::poll(&output, 1, look_interval);
        if (ready > 0 || (ready < 0 && errno != EINTR)) {
            return;
        }
        if (!asked_to_end()) {
            looks = 0;
        } else if (looks >= patience) {
            throw failure("Nobody takes the output; what was left of it is dropped. Read faster, "
                          "or record to a file with -o.");
        }
    }
}

}  // namespace

void write_all(int descriptor, std::string_view text, const give_up& asked_to_end) {
    while (!text.empty()) {
        wait_until_writable(descriptor, asked_to_end);
        // A pipe that is writable takes this much without blocking.
        const std::size_t size =
            asked_to_end ? std::min<std::size_t>(text.size(), PIPE_BUF) : text.size();
        const ssize_t written = ::write(descriptor, text.data(), size);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0 && errno == EPIPE) {
            throw output_closed{};
        }
        if (written < 0) {
            throw failure("The output cannot be written ({}).", std::strerror(errno));
        }
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

}  // namespace elog
