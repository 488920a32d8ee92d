// SPDX-License-Identifier: MIT
#include "output/json_lines_writer.hpp"

#include <cstddef>
#include <string_view>

#include "output/exported_value.hpp"
#include "record/loss_names.hpp"
#include "text/append_format.hpp"
#include "text/escaped_text.hpp"
#include "text/json_text.hpp"

namespace elog {
namespace {

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
    event_text& text = texts_[event_key(provider.id, event)];
    if (text.event.empty() || text.schema != provider.schema.hash || text.pid != provider.pid ||
        text.fields.size() != schema.fields.size() || text.name != provider.process) {
        text.schema = provider.schema.hash;
        text.pid = provider.pid;
        text.name = provider.process;
        text.fields.clear();
        text.process =
            fmt::format(R"(,"comm":{},"pid":{})", json_text(provider.process), provider.pid);
        text.event = fmt::format(R"(,"provider":{},"event":{},"level":{},"fields":{{)",
                                 json_text(provider.schema.name), json_text(schema.name),
                                 json_text(name_of(schema.severity)));
        for (const field_schema& field : schema.fields) {
            text.fields.push_back((text.fields.empty() ? "" : ",") + json_text(field.name) + ":");
        }
    }
    return text;
}

void json_lines_writer::append_record(const merged_record& record,
                                      const provider_instance* provider,
                                      const clock_converter& clock) {
    const record_view& decoded = record.record;
    append(buffer(), R"({"time":")");
    time_.append_to(buffer(), clock, decoded.time);
    append(buffer(), R"(","cpu":)");
    append_decimal(decoded.cpu);
    if (provider != nullptr) {
        append_known(decoded, *provider);
    } else {
        append_format(buffer(),
                      ",\"tid\":{},\"provider\":null,\"event\":null,\"provider_id\":{},"
                      "\"event_id\":{},\"payload_bytes\":{}}}\n",
                      decoded.thread, decoded.provider, decoded.event, decoded.payload.size());
    }
}

void json_lines_writer::append_known(const record_view& record, const provider_instance& provider) {
    const event_text& text = text_of(provider, record.event);
    append(buffer(), text.process);
    append(buffer(), ",\"tid\":");
    append_decimal(record.thread);
    append(buffer(), text.event);
    bool is_sound = true;
    const std::vector<field_schema>& fields = provider.schema.events[record.event].fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        append(buffer(), text.fields[i]);
        is_sound =
            append_json_field(buffer(), scratch_, provider.schema, fields[i], record.payload) &&
            is_sound;
    }
    buffer().push_back('}');
    append(buffer(), is_truncated(record) ? ",\"truncated\":true" : "");
    append(buffer(), is_sound ? "}\n" : ",\"damaged\":true}\n");
}

void json_lines_writer::append_ring_loss(std::uint32_t ring, bool is_shared, std::uint64_t lost,
                                         std::string_view reason) {
    const std::string cpu = is_shared ? std::string("null") : fmt::format("{}", ring);
    if (reason == loss_name::overwritten) {
        append_format(buffer(), "{{\"{}\":{},\"cpu\":{}}}\n", reason, lost, cpu);
    } else {
        append_format(buffer(), "{{\"lost\":{},\"reason\":\"{}\",\"cpu\":{}}}\n", lost, reason,
                      cpu);
    }
}

void json_lines_writer::append_provider_loss(const provider_instance* provider, std::uint64_t lost,
                                             std::string_view reason) {
    append_format(buffer(), "{{\"lost\":{},\"reason\":\"{}\",\"provider\":{}}}\n", lost, reason,
                  provider == nullptr ? std::string("null") : json_text(provider->schema.name));
}

void json_lines_writer::write_mark(const recording_mark& mark, const clock_converter& clock) {
    append(buffer(), mark.kind == mark_kind::pause ? R"({"note":"pause","time":")"
                                                   : R"({"note":"resume","time":")");
    time_.append_to(buffer(), clock, mark.time);
    append_format(buffer(), "\",\"number\":{}}}\n", mark.number);
}

void json_lines_writer::finish() {
    if (skipped() != 0) {
        append_format(buffer(), "{{\"{}\":{}}}\n", loss_name::unsupported, skipped());
    }
    flush();
}

}  // namespace elog
