// SPDX-License-Identifier: MIT
#include "output/json_lines_writer.hpp"

#include <cstddef>
#include <string_view>

#include "output/exported_value.hpp"
#include "text/append_format.hpp"
#include "text/escaped_text.hpp"
#include "text/json_text.hpp"

namespace elog {
namespace {

void append_decimal(fmt::memory_buffer& out, std::uint64_t number) {
    const fmt::format_int text(number);
    append(out, {text.data(), text.size()});
}

std::string json_text(std::string_view text) {
    fmt::memory_buffer out;
    append_json_text(out, text);
    return {out.data(), out.size()};
}

}  // namespace

/// The cached text of an event. A provider number may be reused while a recording continues.
const json_lines_writer::event_text& json_lines_writer::text_of(const provider_instance& provider,
                                                                std::uint16_t event) {
    const event_schema& schema = provider.schema.events[event];
    event_text& text = texts_[std::uint32_t{provider.id} << 16U | event];
    if (text.event.empty() || text.schema != provider.schema.hash || text.pid != provider.pid ||
        text.fields.size() != schema.fields.size() || text.name != provider.process) {
        text.schema = provider.schema.hash;
        text.pid = provider.pid;
        text.name = provider.process;
        text.fields.clear();
        text.process =
            fmt::format(R"(,"process":{},"pid":{})", json_text(provider.process), provider.pid);
        text.event = fmt::format(R"(,"provider":{},"event":{},"level":{},"fields":{{)",
                                 json_text(provider.schema.name), json_text(schema.name),
                                 json_text(name_of(schema.severity)));
        for (const field_schema& field : schema.fields) {
            text.fields.push_back((text.fields.empty() ? "" : ",") + json_text(field.name) + ":");
        }
    }
    return text;
}

void json_lines_writer::write(const merged_record& record, const provider_map& providers,
                              const clock_converter& clock, std::uint32_t shared_ring) {
    write_gap(record, shared_ring);
    const eventlog_record& header = record.record.header;
    if (is_supported(header)) {
        append(buffer_, R"({"time":")");
        time_.append_to(buffer_, clock, header.time);
        append(buffer_, R"(","cpu":)");
        append_decimal(buffer_, header.cpu);
        append_record(header, record.record.payload, providers);
    } else {
        ++skipped_;
    }
    if (buffer_.size() >= output_size) {
        flush();
    }
}

void json_lines_writer::append_record(const eventlog_record& header,
                                      std::span<const std::uint8_t> payload,
                                      const provider_map& providers) {
    const auto found = providers.find(header.provider);
    if (found == providers.end() || header.event >= found->second.schema.events.size()) {
        append_unknown(header, payload.size());
        return;
    }
    const provider_instance& provider = found->second;
    const event_text& text = text_of(provider, header.event);
    append(buffer_, text.process);
    append(buffer_, ",\"thread\":");
    append_decimal(buffer_, header.thread);
    append(buffer_, text.event);
    bool is_sound = true;
    const std::vector<field_schema>& fields = provider.schema.events[header.event].fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        append(buffer_, text.fields[i]);
        is_sound =
            append_json_field(buffer_, scratch_, provider.schema, fields[i], payload) && is_sound;
    }
    buffer_.push_back('}');
    append(buffer_, (header.flags & EVENTLOG_RECORD_CUT) != 0 ? ",\"cut\":true" : "");
    append(buffer_, is_sound ? "}\n" : ",\"damaged\":true}\n");
}

void json_lines_writer::append_unknown(const eventlog_record& header, std::size_t size) {
    append_format(buffer_,
                  ",\"thread\":{},\"provider\":null,\"event\":null,\"provider_id\":{},"
                  "\"event_id\":{},\"bytes\":{}}}\n",
                  header.thread, header.provider, header.event, size);
}

void json_lines_writer::write_gap(const merged_record& record, std::uint32_t shared_ring) {
    if (record.lost_before != 0) {
        append_gap(record.ring, record.lost_before, record.overwritten ? "overwritten" : "no room",
                   shared_ring);
    }
}

void json_lines_writer::append_gap(std::uint32_t ring, std::uint64_t lost, const char* reason,
                                   std::uint32_t shared_ring) {
    append_format(buffer_, R"({{"lost":{},"reason":"{}",)", lost, reason);
    if (ring == shared_ring) {
        append(buffer_, "\"cpu\":null}\n");  // the shared ring belongs to no CPU
    } else {
        append_format(buffer_, "\"cpu\":{}}}\n", ring);
    }
}

void json_lines_writer::write_loss(const loss_block& loss, const provider_map& providers,
                                   std::uint32_t shared_ring) {
    const bool is_of_ring = static_cast<loss_scope>(loss.scope) == loss_scope::ring;
    const auto found = providers.find(static_cast<std::uint16_t>(loss.index));
    const std::string name = is_of_ring || found == providers.end()
                                 ? std::string("null")
                                 : json_text(found->second.schema.name);
    for_each_loss_reason(loss, [&](std::uint64_t lost, const char* reason) {
        if (is_of_ring) {
            append_gap(loss.index, lost, reason, shared_ring);
        } else {
            append_format(buffer_, "{{\"lost\":{},\"reason\":\"{}\",\"provider\":{}}}\n", lost,
                          reason, name);
        }
    });
}

void json_lines_writer::flush() {
    write_out(descriptor_, buffer_, should_abort_);
}

void json_lines_writer::finish() {
    if (skipped_ != 0) {
        append_format(buffer_, "{{\"left_out\":{}}}\n", skipped_);
    }
    flush();
}

}  // namespace elog
