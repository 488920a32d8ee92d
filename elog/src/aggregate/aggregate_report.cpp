// SPDX-License-Identifier: MIT
#include "aggregate/aggregate_report.hpp"

#include <algorithm>
#include <cmath>

#include "aggregate/aggregate_values.hpp"
#include "aggregate/key_format.hpp"
#include "text/append_format.hpp"
#include "text/escaped_text.hpp"
#include "text/json_object.hpp"
#include "text/json_text.hpp"

namespace elog {
namespace {

constexpr std::size_t bar_min = 10;
constexpr std::size_t bar_max = 60;
constexpr std::size_t empty_shown = 3;  // lines without a bar; longer sequences become one line
constexpr std::size_t column_max = 48;  // of a key; longer text is cut

std::size_t width_of(std::string_view text) noexcept {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
    }));
}

/// The beginning of a text that is too long, with a mark.
std::string shortened(std::string_view text) {
    if (width_of(text) <= column_max) {
        return std::string(text);
    }
    std::size_t end = 0;
    for (std::size_t characters = 0; end < text.size(); ++end) {
        const bool begins = (static_cast<unsigned char>(text[end]) & 0xc0U) != 0x80U;
        characters += begins ? 1U : 0U;
        if (characters > column_max - 3) {
            break;
        }
    }
    return std::string(text.substr(0, end)) + "...";
}

void append_blanks(fmt::memory_buffer& out, std::size_t count) {
    for (; count != 0; --count) {
        out.push_back(' ');
    }
}

/// Number of consecutive empty buckets from `begin`.
std::size_t empty_from(const std::vector<formatted_bucket>& buckets, std::size_t begin) noexcept {
    std::size_t end = begin;
    while (end < buckets.size() && buckets[end].count == 0) {
        ++end;
    }
    return end - begin;
}

/// Draws a bar, in eighths of a column where the terminal has block characters.
void append_bar(fmt::memory_buffer& out, double share, std::size_t room,
                const report_style& style) {
    const double length = std::clamp(share, 0.0, 1.0) * static_cast<double>(room);
    auto whole = static_cast<std::size_t>(length);
    if (!style.blocks) {
        whole += length > 0 && whole == 0 ? 1U : 0U;
        for (; whole != 0; --whole) {
            out.push_back('#');
        }
        return;
    }
    auto eighths = static_cast<std::size_t>((length - std::floor(length)) * 8);
    eighths += length > 0 && whole == 0 && eighths == 0 ? 1U : 0U;
    for (; whole != 0; --whole) {
        append(out, "\xe2\x96\x88");
    }
    if (eighths != 0) {
        append(out, "\xe2\x96");
        out.push_back(static_cast<char>(0x90 - eighths));
    }
}

class table_writer {
  public:
    table_writer(fmt::memory_buffer& out, const aggregator& computed, const report_style& style)
        : out_(out),
          computed_(computed),
          query_(computed.query()),
          style_(style),
          rows_(computed.rows()) {}

    void write() {
        if (has_numbers()) {
            write_numbers();
        }
        for (const aggregator::row& row : rows_) {
            for (std::size_t i = 0; i < query_.calls.size(); ++i) {
                if (is_distribution(query_.calls[i].what)) {
                    write_distribution(row, i);
                }
            }
        }
        if (rows_.size() < computed_.groups()) {
            append_format(out_, "... and {} more\n", computed_.groups() - rows_.size());
        }
    }

  private:
    [[nodiscard]] bool has_numbers() const {
        return std::any_of(query_.calls.begin(), query_.calls.end(),
                           [](const auto& call) { return !is_distribution(call.what); });
    }

    /// The cells of one row: keys, then numbers.
    [[nodiscard]] std::vector<std::string> cells_of(const aggregator::row& row) const {
        std::vector<std::string> cells;
        for (const key_text& key : *row.keys) {
            cells.push_back(shortened(key.shown));
        }
        for (std::size_t i = 0; i < query_.calls.size(); ++i) {
            if (!is_distribution(query_.calls[i].what)) {
                cells.push_back(format_value(query_.calls[i].what, row.values[i],
                                             computed_.display_format_of(i)));
            }
        }
        return cells;
    }

    [[nodiscard]] std::vector<std::string> head() const {
        std::vector<std::string> cells;
        for (const aggregate_key& key : query_.keys) {
            cells.push_back(key.text);
        }
        for (const aggregate_call& call : query_.calls) {
            if (!is_distribution(call.what)) {
                cells.push_back(call.text);
            }
        }
        return cells;
    }

    void write_cells(const std::vector<std::string>& cells,
                     const std::vector<std::size_t>& widths) {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const std::size_t blanks = widths[i] - width_of(cells[i]);
            append(out_, i == 0 ? "" : "  ");
            if (i >= query_.keys.size()) {
                append_blanks(out_, blanks);
                append(out_, cells[i]);
            } else {
                append(out_, cells[i]);
                append_blanks(out_, blanks);
            }
        }
    }

    void write_numbers() {
        std::vector<std::vector<std::string>> lines{head()};
        for (const aggregator::row& row : rows_) {
            lines.push_back(cells_of(row));
        }
        std::vector<std::size_t> widths(lines[0].size(), 0);
        for (const auto& cells : lines) {
            for (std::size_t i = 0; i < cells.size(); ++i) {
                widths[i] = std::max(widths[i], width_of(cells[i]));
            }
        }
        std::size_t used = 0;
        for (const std::size_t width : widths) {
            used += width + 2;
        }
        write_cells(lines[0], widths);
        out_.push_back('\n');
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            write_cells(lines[i + 1], widths);
            write_row_bar(rows_[i], used);
            out_.push_back('\n');
        }
    }

    /// Draws a bar next to a single column of numbers that are parts of a whole, if there is room.
    void write_row_bar(const aggregator::row& row, std::size_t used) {
        const aggregate_function what = query_.calls[0].what;
        const bool adds_up = what == aggregate_function::count || what == aggregate_function::sum;
        if (query_.calls.size() != 1 || query_.keys.empty() || !adds_up ||
            style_.width < used + bar_min) {
            return;
        }
        const double most = numeric_value(what, rows_.front().values[0]);
        const double share = most > 0 ? numeric_value(what, row.values[0]) / most : 0;
        if (share > 0) {
            append(out_, "  ");
            append_bar(out_, share, std::min(style_.width - used, bar_max), style_);
        }
    }

    void write_distribution(const aggregator::row& row, std::size_t call) {
        append(out_, query_.calls[call].text);
        for (std::size_t i = 0; i < query_.keys.size(); ++i) {
            append_format(out_, "{}{}={}", i == 0 ? " of " : " ", query_.keys[i].text,
                          shortened((*row.keys)[i].shown));
        }
        out_.push_back('\n');
        const accumulator& values = row.values[call];
        const std::vector<formatted_bucket> buckets =
            format_buckets(query_.calls[call].what, values, computed_.display_format_of(call),
                           computed_.bucket_width_of(call));
        std::size_t label = 0;
        std::uint64_t most = 0;
        for (const formatted_bucket& bucket : buckets) {
            label = std::max(label, width_of(bucket.label));
            most = std::max(most, bucket.count);
        }
        const std::size_t number = fmt::formatted_size("{}", most);
        const std::size_t used = label + number + 7;
        const std::size_t room =
            std::clamp(style_.width - std::min(style_.width, used), bar_min, bar_max);
        for (std::size_t i = 0; i < buckets.size(); ++i) {
            const std::size_t empty = empty_from(buckets, i);
            if (empty > empty_shown) {
                append_blanks(out_, label + 2 - std::min(label, std::size_t{3}));
                append(out_, "...\n");
                i += empty - 1;
                continue;
            }
            const formatted_bucket& bucket = buckets[i];
            append_blanks(out_, label - width_of(bucket.label) + 2);
            append_format(out_, "{}  {:>{}}", bucket.label, bucket.count, number);
            if (bucket.count != 0) {
                append(out_, "  ");
                append_bar(out_, static_cast<double>(bucket.count) / static_cast<double>(most),
                           room, style_);
            }
            out_.push_back('\n');
        }
        if (values.buckets().outside() != 0) {
            append_format(out_, "  outside: {}\n", values.buckets().outside());
        }
    }

    fmt::memory_buffer& out_;
    const aggregator& computed_;
    const aggregation& query_;
    const report_style& style_;
    std::vector<aggregator::row> rows_;
};

void append_json_buckets(fmt::memory_buffer& out, const aggregator& computed, std::size_t call,
                         const accumulator& values) {
    append(out, "{\"buckets\":[");
    const char* between = "";
    for (const formatted_bucket& bucket :
         format_buckets(computed.query().calls[call].what, values, computed.display_format_of(call),
                        computed.bucket_width_of(call))) {
        append_format(out, R"({}{{"from":{},"to":{},"count":{}}})", between, bucket.begin,
                      bucket.end, bucket.count);
        between = ",";
    }
    append_format(out, "],\"outside\":{}}}", values.buckets().outside());
}

void append_json_row(fmt::memory_buffer& out, const aggregator& computed,
                     const aggregator::row& row) {
    const aggregation& query = computed.query();
    append(out, "{\"key\":{");
    for (std::size_t i = 0; i < query.keys.size(); ++i) {
        append(out, i == 0 ? "" : ",");
        append_json_text(out, query.keys[i].text);
        out.push_back(':');
        append(out, (*row.keys)[i].json);
    }
    append(out, "},\"values\":{");
    for (std::size_t i = 0; i < query.calls.size(); ++i) {
        append(out, i == 0 ? "" : ",");
        append_json_text(out, query.calls[i].text);
        out.push_back(':');
        if (is_distribution(query.calls[i].what)) {
            append_json_buckets(out, computed, i, row.values[i]);
        } else {
            append(out, format_json_value(query.calls[i].what, row.values[i]));
        }
    }
    append(out, "}}");
}

}  // namespace

void append_table(fmt::memory_buffer& out, const aggregator& computed, const report_style& style,
                  const std::optional<std::string>& begins) {
    if (begins) {
        append_format(out, "-- {} --\n", *begins);
    }
    table_writer(out, computed, style).write();
    append_format(out, "{} events, {} lost", computed.taken(), computed.lost());
    if (computed.overwritten() != 0) {
        append_format(out, ", {} overwritten", computed.overwritten());
    }
    out.push_back('\n');
}

void append_json(fmt::memory_buffer& out, const aggregator& computed,
                 const std::optional<std::string>& begins) {
    append_format(out, R"({{"version":{},)", json_version);
    if (begins) {
        append_format(out, R"("start_time":"{}",)", *begins);
    }
    append_format(out,
                  "\"events\":{},\"lost\":{},\"overwritten\":{},\"overflowed\":{},"
                  "\"damaged\":{},\"unknown\":{},\"type_mismatches\":{},\"groups\":[",
                  computed.taken(), computed.lost(), computed.overwritten(), computed.overflowed(),
                  computed.damaged(), computed.unknown(), computed.mismatched_records());
    const char* between = "";
    for (const aggregator::row& row : computed.rows()) {
        append(out, between);
        append_json_row(out, computed, row);
        between = ",";
    }
    append(out, "]}\n");
}

std::vector<std::string> incompleteness_warnings(const aggregator& computed) {
    std::vector<std::string> all;
    if (computed.overflowed() != 0) {
        all.push_back(fmt::format("{} events had other keys than the first {} and are left out. "
                                  "Raise the limit with --keys, or use fewer keys.",
                                  computed.overflowed(), computed.groups()));
    }
    if (computed.damaged() != 0) {
        all.push_back(fmt::format("{} events did not fit their schema and are left out.",
                                  computed.damaged()));
    }
    if (computed.unknown() != 0) {
        all.push_back(fmt::format("{} events are of unknown providers and are left out.",
                                  computed.unknown()));
    }
    return all;
}

}  // namespace elog
