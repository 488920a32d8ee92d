// SPDX-License-Identifier: MIT
#include "output/text_writer.hpp"

#include <string>
#include <string_view>

#include "record/loss_names.hpp"
#include "schema/value_text.hpp"
#include "terminal/terminal.hpp"
#include "text/append_format.hpp"

namespace elog {
namespace {

constexpr std::size_t delta_width = 12;
constexpr std::size_t number_width = 6;

paint paint_of(eventlog::level severity) noexcept {
    switch (severity) {
        case eventlog::level::error:
            return paint::red;
        case eventlog::level::warn:
            return paint::magenta;
        case eventlog::level::info:
            return paint::strong;
        case eventlog::level::verbose:
        case eventlog::level::trace:
            break;
    }
    return paint::plain;
}

}  // namespace

time_of_day::zone text_writer::zone_of(const text_options& options) noexcept {
    if (options.clock == display_clock::tai) {
        return time_of_day::zone::none;
    }
    return options.utc ? time_of_day::zone::utc : time_of_day::zone::local;
}

void text_writer::append_clock(std::uint64_t time, const clock_converter& clock) {
    const std::int64_t shown = to_display_time(options_.clock, clock, time);
    if (has_days(options_.clock)) {
        time_.append_to(buffer(), shown);
    } else {
        append_seconds(buffer(), shown);
    }
}

void text_writer::append_date(const record_view& record, const clock_converter& clock) {
    if (has_days(options_.clock)) {
        time_.append_date(buffer(), to_display_time(options_.clock, clock, record.time));
    } else {
        buffer().push_back('-');
    }
}

void text_writer::append_dated(std::uint64_t time, const clock_converter& clock) {
    if (has_days(options_.clock)) {
        time_.append_dated(buffer(), to_display_time(options_.clock, clock, time));
    } else {
        append_clock(time, clock);
    }
}

void text_writer::append_time(const record_view& record, const clock_converter& clock) {
    if (options_.number) {
        append_format(buffer(), "{:{}} ", number_, number_width);
    }
    append_dated(record.time, clock);
    if (options_.elapsed) {
        append(buffer(), " +");
        append_seconds(buffer(), elapsed_);
    }
    if (options_.delta) {
        append(buffer(), " <");
        append_seconds(buffer(), delta_, delta_width);
        buffer().push_back('>');
    }
}

/// The times since the first and the previous event. Not by CLOCK_REALTIME, which may have been set
/// in between. The subtractions are unsigned, because times of a damaged file may overflow.
void text_writer::measure(const record_view& record, const clock_converter& clock) {
    const std::int64_t now = clock.monotonic(record.time);
    const auto since = [now](std::int64_t then) {
        return static_cast<std::int64_t>(static_cast<std::uint64_t>(now) -
                                         static_cast<std::uint64_t>(then));
    };
    first_ = first_.value_or(now);
    elapsed_ = since(*first_);
    delta_ = since(before_.value_or(now));
    before_ = now;
}

void text_writer::append_record(const merged_record& record, const provider_instance* provider,
                                const clock_converter& clock) {
    const record_view& decoded = record.record;
    ++number_;
    if (shows_times_between_) {
        measure(decoded, clock);
    }
    if (provider == nullptr) {
        append_unknown(decoded, clock);
        return;
    }
    if (options_.line) {
        for (const template_step& step : text_of(*provider, decoded.event).line) {
            append_step(step, decoded, *provider, clock);
        }
    } else {
        append_time(decoded, clock);
        append_usual_line(decoded, *provider);
    }
    append(buffer(), is_truncated(decoded) ? " (truncated)\n" : "\n");
}

/// Three digits suffice for most machines.
void text_writer::append_cpu(std::uint32_t cpu) {
    append(buffer(), cpu < 10 ? " [00" : cpu < 100 ? " [0" : " [");
    append_decimal(cpu);
    append(buffer(), "] ");
}

std::string text_writer::name_of(const provider_schema& provider, const event_schema& event) const {
    terminal_style style;
    style.has_colours = options_.has_colors;
    fmt::memory_buffer name;
    name.push_back(' ');
    append_painted(name, style, paint_of(event.severity),
                   fmt::format("{}:{}", provider.name, event.name));
    return fmt::to_string(name);
}

void text_writer::append_loss(std::string_view line) {
    terminal_style style;
    style.has_colours = options_.has_colors;
    append_painted(buffer(), style, paint::red, line);
    buffer().push_back('\n');
}

/// The cached text of an event. A provider number may be reused while a recording continues.
const text_writer::event_text& text_writer::text_of(const provider_instance& provider,
                                                    std::uint16_t event) {
    const event_schema& schema = provider.schema.events[event];
    event_text& text = texts_[event_key(provider.id, event)];
    if (text.name.empty() || text.schema != provider.schema.hash ||
        text.field_count != schema.fields.size()) {
        text.schema = provider.schema.hash;
        text.field_count = schema.fields.size();
        text.name = name_of(provider.schema, schema);
        text.fields = select_fields(options_, schema);
        if (options_.line) {
            text.line = compile_template(*options_.line, provider.schema, schema, text.fields);
        }
    }
    return text;
}

void text_writer::append_unknown(const record_view& record, const clock_converter& clock) {
    append_time(record, clock);
    append_format(buffer(), " [{:03}] ?-{} <unknown provider {} event {}, {} bytes>\n", record.cpu,
                  record.thread, record.provider, record.event, record.payload.size());
}

void text_writer::append_usual_line(const record_view& record, const provider_instance& provider) {
    const event_text& text = text_of(provider, record.event);
    append_cpu(record.cpu);
    append_visible(buffer(), provider.process);
    buffer().push_back('-');
    append_decimal(record.thread);
    append(buffer(), text.name);
    const std::vector<field_schema>& fields = provider.schema.events[record.event].fields;
    for (const selected_field& field : text.fields) {
        append(buffer(), field.label);
        append_field(buffer(), provider.schema, fields[field.index], record.payload);
    }
}

void text_writer::append_step(const template_step& step, const record_view& record,
                              const provider_instance& provider, const clock_converter& clock) {
    switch (step.kind) {
        case line_part_kind::time:
            return append_clock(record.time, clock);
        case line_part_kind::date:
            return append_date(record, clock);
        case line_part_kind::delta:
            return append_seconds(buffer(), delta_);
        case line_part_kind::elapsed:
            return append_seconds(buffer(), elapsed_);
        case line_part_kind::number:
            return append_decimal(number_);
        case line_part_kind::cpu:
            return append_decimal(record.cpu);
        case line_part_kind::pid:
            return append_decimal(provider.pid);
        case line_part_kind::tid:
            return append_decimal(record.thread);
        case line_part_kind::uid:
            return append_decimal(provider.uid);
        case line_part_kind::comm:
            return append_visible(buffer(), provider.process);
        case line_part_kind::field:
            return append_field(buffer(), provider.schema,
                                provider.schema.events[record.event].fields[step.index],
                                record.payload);
        default:
            return append(buffer(), step.text);
    }
}

void text_writer::append_ring_loss(std::uint32_t ring, bool is_shared, std::uint64_t lost,
                                   std::string_view reason) {
    const std::string place = is_shared ? "in the shared ring" : fmt::format("on CPU {}", ring);
    if (reason == loss_name::overwritten) {
        append_loss(fmt::format("-- {} {} events {} --", reason, lost, place));
    } else {
        append_loss(fmt::format("-- lost {} events {}: {} --", lost, place, reason));
    }
}

void text_writer::append_provider_loss(const provider_instance* provider, std::uint64_t lost,
                                       std::string_view reason) {
    append_loss(fmt::format("-- lost {} events of {}: {} --", lost,
                            provider == nullptr ? "?" : std::string_view(provider->schema.name),
                            reason));
}

void text_writer::write_mark(const recording_mark& mark, const clock_converter& clock) {
    append(buffer(), mark.kind == mark_kind::pause ? "-- paused at " : "-- resumed at ");
    append_dated(mark.time, clock);
    append(buffer(), " --\n");
}

void text_writer::finish() {
    if (skipped() != 0) {
        append_format(buffer(), "-- {} events of a newer version of eventlog are left out --\n",
                      skipped());
    }
    flush();
}

}  // namespace elog
