// SPDX-License-Identifier: MIT
#include "text_writer.hpp"

#include <iterator>
#include <string>

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
    append(buffer_, clock_text_);
    // Digits one by one: every line has them, and a formatter takes as long as the rest of it.
    char digits[] = ".000000";
    std::int64_t microseconds = rest / 1000;
    for (std::size_t i = sizeof digits - 2; microseconds != 0; --i, microseconds /= 10) {
        digits[i] = static_cast<char>('0' + microseconds % 10);
    }
    append(buffer_, digits);
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

/// With three digits, as most machines need at most.
void text_writer::append_cpu(std::uint32_t cpu) {
    const fmt::format_int text(cpu);
    append(buffer_, cpu < 10 ? " [00" : cpu < 100 ? " [0" : " [");
    append(buffer_, {text.data(), text.size()});
    append(buffer_, "] ");
}

/// A number may come to stand for another provider while a recording goes on.
const text_writer::event_text& text_writer::text_of(const provider_instance& provider,
                                                    std::uint16_t event) {
    const event_schema& schema = provider.schema.events[event];
    event_text& text = texts_[std::uint32_t{provider.id} << 16U | event];
    if (text.name.empty() || text.schema != provider.schema.hash ||
        text.fields.size() != schema.fields.size()) {
        text.schema = provider.schema.hash;
        text.name = fmt::format(" {}:{}", provider.schema.name, schema.name);
        text.fields.clear();
        for (const field_schema& field : schema.fields) {
            text.fields.push_back(fmt::format(" {}=", field.name));
        }
    }
    return text;
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
    const event_text& text = text_of(provider, header.event);
    append_cpu(header.cpu);
    append_visible(buffer_, provider.process);
    buffer_.push_back('-');
    const fmt::format_int thread(header.thread);
    append(buffer_, {thread.data(), thread.size()});
    append(buffer_, text.name);
    for (std::size_t i = 0; i < event.fields.size(); ++i) {
        append(buffer_, text.fields[i]);
        append_field(buffer_, provider.schema, event.fields[i], payload);
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

void text_writer::finish() {
    if (skipped_ != 0) {
        fmt::format_to(std::back_inserter(buffer_),
                       FMT_STRING("-- {} events of a newer version of eventlog are left out --\n"),
                       skipped_);
    }
    flush();
}

void text_writer::flush() {
    write_all(descriptor_, {buffer_.data(), buffer_.size()}, asked_to_end_);
    buffer_.clear();
}

}  // namespace elog
