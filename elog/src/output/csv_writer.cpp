// SPDX-License-Identifier: MIT
#include "output/csv_writer.hpp"

#include <algorithm>
#include <array>

#include "output/exported_value.hpp"
#include "record/loss_names.hpp"
#include "text/append_format.hpp"
#include "text/escaped_text.hpp"

namespace elog {
namespace {

constexpr std::size_t no_field = SIZE_MAX;

/// The members of objects in JSON Lines.
constexpr std::array<std::string_view, 14> csv_columns = {
    "time",  "cpu",  "comm",   "pid",         "tid",         "provider",  "event",
    "level", "lost", "reason", "overwritten", "unsupported", "truncated", "damaged"};

/// A field may have the name of a fixed column.
std::string column_name(const std::string& field) {
    return std::find(csv_columns.begin(), csv_columns.end(), field) == csv_columns.end()
               ? field
               : "fields." + field;
}

/// Whether a spreadsheet computes the text, or whether it is such a text with apostrophes in front,
/// which must stay different.
bool is_formula(std::string_view text) {
    const std::size_t first = text.find_first_not_of('\'');
    return first != std::string_view::npos &&
           std::string_view("=+-@").find(text[first]) != std::string_view::npos;
}

}  // namespace

void csv_writer::add_columns(const provider_instance& provider, std::uint16_t event) {
    const auto [found, is_new] = events_.try_emplace(event_key(provider.id, event));
    if (!is_new) {
        return;
    }
    const std::vector<field_schema>& fields = provider.schema.events[event].fields;
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const auto [column, is_another] =
            column_of_.try_emplace(column_name(fields[i].name), columns_.size());
        if (is_another) {
            columns_.push_back(column->first);
        }
        field_indices& indices = found->second;
        indices.resize(std::max(indices.size(), column->second + 1), no_field);
        indices[column->second] = i;
    }
}

void csv_writer::append_header() {
    if (has_header_) {
        return;
    }
    has_header_ = true;
    std::string_view between;
    for (const std::string_view name : csv_columns) {
        append(buffer(), between);
        append(buffer(), name);
        between = ",";
    }
    for (const std::string& name : columns_) {
        append(buffer(), between);
        append(buffer(), name);
    }
    buffer().push_back('\n');
}

void csv_writer::append_cell(std::string_view text) {
    const bool is_quoted = formulas_ == formula_texts::quoted && is_formula(text);
    const bool is_plain =
        !text.empty() && !is_quoted && std::all_of(text.begin(), text.end(), [](char each) {
            return (each >= '0' && each <= '9') || (each >= 'A' && each <= 'Z') ||
                   (each >= 'a' && each <= 'z') || each == '_' || each == '-' || each == '.' ||
                   each == '/' || each == ':';
        });
    if (is_plain) {
        append(cells_, text);
        return;
    }
    // Escapes characters that a terminal would interpret or that would break the line.
    fmt::memory_buffer visible;
    append_distinct(visible, text);
    cells_.push_back('"');
    if (is_quoted) {
        cells_.push_back('\'');
    }
    for (const char each : visible) {
        if (each == '"') {
            cells_.push_back('"');
        }
        cells_.push_back(each);
    }
    cells_.push_back('"');
}

void csv_writer::append_record(const merged_record& record, const provider_instance* provider,
                               const clock_converter& clock) {
    const record_view& decoded = record.record;
    append_header();
    time_.append_to(buffer(), clock, decoded.time);
    cells_.clear();
    if (provider == nullptr) {
        append_format(buffer(), ",{},,,{},,,,,,,,,", decoded.cpu, decoded.thread);
        cells_.resize(columns_.size());
        std::fill_n(cells_.data(), columns_.size(), ',');
    } else {
        const event_schema& event = provider->schema.events[decoded.event];
        append_cell(provider->process);
        append_format(buffer(), ",{},{},{},{},{},{},{},,,,,", decoded.cpu,
                      std::string_view(cells_.data(), cells_.size()), provider->pid, decoded.thread,
                      provider->schema.name, event.name, name_of(event.severity));
        cells_.clear();
        append(buffer(), is_truncated(decoded) ? "true," : ",");
        append(buffer(), append_fields(decoded, *provider) ? "" : "true");
    }
    append(buffer(), {cells_.data(), cells_.size()});
    buffer().push_back('\n');
}

/// Returns false if a field is damaged.
bool csv_writer::append_fields(const record_view& record, const provider_instance& provider) {
    const auto chosen = events_.find(event_key(provider.id, record.event));
    const std::vector<field_schema>& fields = provider.schema.events[record.event].fields;
    without_columns_ += chosen == events_.end() && !fields.empty() ? 1U : 0U;
    bool is_sound = true;
    for (std::size_t column = 0; column < columns_.size(); ++column) {
        cells_.push_back(',');
        if (chosen == events_.end() || column >= chosen->second.size() ||
            chosen->second[column] == no_field) {
            continue;
        }
        const field_schema& field = fields[chosen->second[column]];
        const exported_value value = export_field(scratch_, provider.schema, field, record.payload);
        is_sound = is_sound && value.kind != exported_kind::damaged;
        if (value.kind == exported_kind::literal) {
            append(cells_, value.text);
        } else if (value.kind == exported_kind::text) {
            append_cell(value.text);
        }
    }
    return is_sound;
}

/// A row with an event's columns empty, but for CPU and provider. `counts` are the cells from
/// `lost` to `unsupported`.
void csv_writer::append_loss_row(std::string_view cpu, std::string_view provider,
                                 std::string_view counts) {
    append_header();
    append_format(buffer(), ",{},,,,{},,,{},,", cpu, provider, counts);
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        buffer().push_back(',');
    }
    buffer().push_back('\n');
}

void csv_writer::append_ring_loss(std::uint32_t ring, bool is_shared, std::uint64_t lost,
                                  std::string_view reason) {
    append_loss_row(is_shared ? "" : fmt::format("{}", ring), "",
                    reason == loss_name::overwritten ? fmt::format(",,{},", lost)
                                                     : fmt::format("{},{},,", lost, reason));
}

void csv_writer::append_provider_loss(const provider_instance* provider, std::uint64_t lost,
                                      std::string_view reason) {
    append_loss_row("", provider == nullptr ? "" : std::string_view(provider->schema.name),
                    fmt::format("{},{},,", lost, reason));
}

void csv_writer::finish() {
    append_header();
    if (skipped() != 0) {
        append_loss_row("", "", fmt::format(",,,{}", skipped()));
    }
    flush();
}

}  // namespace elog
