// SPDX-License-Identifier: MIT
#include "output/text_writer.hpp"

#include <string>
#include <string_view>

#include "schema/value_text.hpp"
#include "text/append_format.hpp"

namespace elog {
namespace {

constexpr std::size_t delta_width = 12;

}  // namespace

time_of_day::zone text_writer::zone_of(const text_options& options) noexcept {
    if (options.clock == display_clock::tai) {
        return time_of_day::zone::none;
    }
    return options.utc ? time_of_day::zone::utc : time_of_day::zone::local;
}

void text_writer::append_clock(const eventlog_record& header, const clock_converter& clock) {
    const std::int64_t time = to_display_time(options_.clock, clock, header.time);
    if (has_days(options_.clock)) {
        time_.append_to(buffer_, time);
    } else {
        append_seconds(buffer_, time);
    }
}

void text_writer::append_date(const eventlog_record& header, const clock_converter& clock) {
    if (has_days(options_.clock)) {
        time_.append_date(buffer_, to_display_time(options_.clock, clock, header.time));
    } else {
        buffer_.push_back('-');
    }
}

void text_writer::append_time(const eventlog_record& header, const clock_converter& clock) {
    append_clock(header, clock);
    if (options_.delta) {
        append(buffer_, " <");
        append_seconds(buffer_, delta_, delta_width);
        buffer_.push_back('>');
    }
}

void text_writer::write(const merged_record& record, const provider_map& providers,
                        const clock_converter& clock, std::uint32_t shared_ring) {
    write_gap(record, shared_ring);
    const eventlog_record& header = record.record.header;
    if (!is_supported(header)) {
        ++skipped_;
    } else {
        if (shows_delta_) {
            // Not CLOCK_REALTIME, which may have been set in between. The subtraction is unsigned,
            // because times of a damaged file may overflow.
            const std::int64_t now = clock.monotonic(header.time);
            delta_ = static_cast<std::int64_t>(static_cast<std::uint64_t>(now) -
                                               static_cast<std::uint64_t>(before_.value_or(now)));
            before_ = now;
        }
        const auto found = providers.find(header.provider);
        if (found == providers.end() || header.event >= found->second.schema.events.size()) {
            append_unknown(header, record.record.payload.size(), clock);
        } else if (options_.line) {
            append_line(record, found->second, clock);
        } else {
            append_time(header, clock);
            append_record(header, record.record.payload, found->second);
        }
    }
    if (buffer_.size() >= output_size) {
        flush();
    }
}

/// Three digits suffice for most machines.
void text_writer::append_cpu(std::uint32_t cpu) {
    const fmt::format_int text(cpu);
    append(buffer_, cpu < 10 ? " [00" : cpu < 100 ? " [0" : " [");
    append(buffer_, {text.data(), text.size()});
    append(buffer_, "] ");
}

/// The cached text of an event. A provider number may be reused while a recording continues.
const text_writer::event_text& text_writer::text_of(const provider_instance& provider,
                                                    std::uint16_t event) {
    const event_schema& schema = provider.schema.events[event];
    event_text& text = texts_[std::uint32_t{provider.id} << 16U | event];
    if (text.name.empty() || text.schema != provider.schema.hash ||
        text.field_count != schema.fields.size()) {
        text.schema = provider.schema.hash;
        text.field_count = schema.fields.size();
        text.name = fmt::format(" {}:{}", provider.schema.name, schema.name);
        text.fields = select_fields(options_, schema);
        if (options_.line) {
            text.line = compile_template(*options_.line, provider.schema, schema, text.fields);
        }
    }
    return text;
}

void text_writer::append_unknown(const eventlog_record& header, std::size_t size,
                                 const clock_converter& clock) {
    append_time(header, clock);
    append_format(buffer_, " [{:03}] ?-{} <unknown provider {} event {}, {} bytes>\n", header.cpu,
                  header.thread, header.provider, header.event, size);
}

void text_writer::append_record(const eventlog_record& header,
                                std::span<const std::uint8_t> payload,
                                const provider_instance& provider) {
    const event_text& text = text_of(provider, header.event);
    append_cpu(header.cpu);
    append_visible(buffer_, provider.process);
    buffer_.push_back('-');
    const fmt::format_int thread(header.thread);
    append(buffer_, {thread.data(), thread.size()});
    append(buffer_, text.name);
    const std::vector<field_schema>& fields = provider.schema.events[header.event].fields;
    for (const selected_field& field : text.fields) {
        append(buffer_, field.label);
        append_field(buffer_, provider.schema, fields[field.index], payload);
    }
    append(buffer_, (header.flags & EVENTLOG_RECORD_CUT) != 0 ? " (cut)\n" : "\n");
}

void text_writer::write_gap(const merged_record& record, std::uint32_t shared_ring) {
    if (record.lost_before != 0) {
        append_gap(record.overwritten ? "overwritten" : "lost", record.lost_before, record.ring,
                   shared_ring);
    }
}

void text_writer::append_line(const merged_record& record, const provider_instance& provider,
                              const clock_converter& clock) {
    const eventlog_record& header = record.record.header;
    for (const template_step& step : text_of(provider, header.event).line) {
        append_step(step, record.record, provider, clock);
    }
    append(buffer_, (header.flags & EVENTLOG_RECORD_CUT) != 0 ? " (cut)\n" : "\n");
}

void text_writer::append_step(const template_step& step, const record_view& record,
                              const provider_instance& provider, const clock_converter& clock) {
    const eventlog_record& header = record.header;
    const auto append_number = [this](std::uint32_t number) {
        const fmt::format_int digits(number);
        append(buffer_, {digits.data(), digits.size()});
    };
    switch (step.kind) {
        case line_part_kind::time:
            return append_clock(header, clock);
        case line_part_kind::date:
            return append_date(header, clock);
        case line_part_kind::delta:
            return append_seconds(buffer_, delta_);
        case line_part_kind::cpu:
            return append_number(header.cpu);
        case line_part_kind::pid:
            return append_number(provider.pid);
        case line_part_kind::tid:
            return append_number(header.thread);
        case line_part_kind::uid:
            return append_number(provider.uid);
        case line_part_kind::comm:
            return append_visible(buffer_, provider.process);
        case line_part_kind::field:
            return append_field(buffer_, provider.schema,
                                provider.schema.events[header.event].fields[step.index],
                                record.payload);
        default:
            return append(buffer_, step.text);
    }
}

void text_writer::append_gap(const char* what, std::uint64_t lost, std::uint32_t ring,
                             std::uint32_t shared_ring) {
    if (ring == shared_ring) {
        append_format(buffer_, "-- {} {} events in the shared ring --\n", what, lost);
    } else {
        append_format(buffer_, "-- {} {} events on CPU {} --\n", what, lost, ring);
    }
}

void text_writer::write_loss(const loss_block& loss, const provider_map& providers,
                             std::uint32_t shared_ring) {
    if (static_cast<loss_scope>(loss.scope) == loss_scope::ring) {
        const std::uint64_t overwritten = overwritten_count(loss);
        if (loss.full != overwritten) {
            append_gap("lost", loss.full - overwritten, loss.index, shared_ring);
        }
        if (overwritten != 0) {
            append_gap("overwritten", overwritten, loss.index, shared_ring);
        }
        if (loss.damaged != 0) {
            append_format(buffer_, "-- {} events of ring {} made no sense --\n", loss.damaged,
                          loss.index);
        }
        return;
    }
    const auto found = providers.find(static_cast<std::uint16_t>(loss.index));
    const std::string name =
        found == providers.end() ? std::string("?") : found->second.schema.name;
    if (loss.too_large != 0) {
        append_format(buffer_, "-- lost {} events of {}: too large --\n", loss.too_large, name);
    }
    if (loss.busy != 0) {
        append_format(buffer_, "-- lost {} events of {}: shared ring busy --\n", loss.busy, name);
    }
}

void text_writer::finish() {
    if (skipped_ != 0) {
        append_format(buffer_, "-- {} events of a newer version of eventlog are left out --\n",
                      skipped_);
    }
    flush();
}

void text_writer::flush() {
    write_out(descriptor_, buffer_, should_abort_);
}

}  // namespace elog
