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

}  // namespace

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
    if (is_understood(header)) {
        append_time(clock.realtime(header.time));
        append_record(header, record.record.payload, providers);
    } else {
        ++skipped_;
    }
    if (buffer_.size() >= write_size) {
        flush();
    }
}

void text_writer::append_record(const eventlog_record& header,
                                std::span<const std::uint8_t> payload,
                                const provider_map& providers) {
    const auto found = providers.find(header.provider);
    if (found == providers.end() || header.event >= found->second.schema.events.size()) {
        fmt::format_to(std::back_inserter(buffer_),
                       FMT_STRING(" [{:03}] ?-{} <unknown provider {} event {}, {} bytes>\n"),
                       header.cpu, header.thread, header.provider, header.event, payload.size());
        return;
    }
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
        append_field(buffer_, provider.schema, field, payload);
    }
    append(buffer_, (header.flags & EVENTLOG_RECORD_CUT) != 0 ? " (cut)\n" : "\n");
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

void text_writer::write_skipped() {
    if (skipped_ != 0) {
        fmt::format_to(std::back_inserter(buffer_),
                       FMT_STRING("-- {} events of a newer version of eventlog are left out --\n"),
                       skipped_);
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

/// A pipe that is writable takes this much without blocking and in one piece: whole lines, so that
/// what a recorded command writes to the same pipe stands between them.
std::size_t part_of(std::string_view text) {
    if (text.size() <= PIPE_BUF) {
        return text.size();
    }
    const std::size_t line_end = text.rfind('\n', PIPE_BUF - 1);
    return line_end == std::string_view::npos ? PIPE_BUF : line_end + 1;
}

}  // namespace

void write_all(int descriptor, std::string_view text, const give_up& asked_to_end) {
    while (!text.empty()) {
        wait_until_writable(descriptor, asked_to_end);
        const std::size_t size = asked_to_end ? part_of(text) : text.size();
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
