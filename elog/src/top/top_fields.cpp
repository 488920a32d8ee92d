// SPDX-License-Identifier: MIT
//
// Draws the screen of one event: its rate as a graph, and statistics of its fields.
#include <algorithm>
#include <optional>
#include <utility>

#include "terminal/wrapped_text.hpp"
#include "top/top_frame.hpp"

namespace elog {
namespace {

constexpr std::size_t field_gap = 2;
constexpr std::size_t type_max = 12;
constexpr std::size_t percent_width = 6;
constexpr std::size_t lines_of_field_max = 12;

struct fields_layout {
    std::size_t name = 5;  // widths
    std::size_t type = 4;
    std::size_t smallest = 1;
    std::size_t average = 1;
    std::size_t bar = 10;
    std::size_t lines_of_field = 3;  // of a field that is not measured

    [[nodiscard]] std::size_t type_column() const noexcept { return name + field_gap; }
    [[nodiscard]] std::size_t value_column() const noexcept {
        return type_column() + type + field_gap;
    }
};

/// Fields that are not measured share the rows that the measured ones leave.
std::size_t lines_of_field(const std::vector<field_statistics>& fields, std::size_t rows) {
    const auto measured = static_cast<std::size_t>(
        std::count_if(fields.begin(), fields.end(),
                      [](const field_statistics& each) { return each.is_measured(); }));
    const std::size_t others = fields.size() - measured;
    const std::size_t left = rows - std::min(rows, measured);
    return others == 0 ? 1 : std::clamp<std::size_t>(left / others, 3, lines_of_field_max);
}

fields_layout lay_out_fields(const std::vector<field_statistics>& fields, std::size_t rows,
                             const frame_style& style) {
    fields_layout layout;
    for (const field_statistics& each : fields) {
        layout.name = std::max(layout.name, columns_of(each.name()));
        layout.type = std::max(layout.type, columns_of(each.type()));
        if (each.is_measured()) {
            layout.smallest = std::max(layout.smallest, columns_of(each.smallest()));
            layout.average = std::max(layout.average, columns_of(each.average()));
        }
    }
    layout.name = std::min(layout.name, style.columns / 4);
    layout.type = std::min(layout.type, type_max);
    layout.bar = style.columns >= 110 ? 24 : 10;
    layout.lines_of_field = lines_of_field(fields, rows);
    return layout;
}

double part_of(std::uint64_t part, std::uint64_t all) {
    return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
}

class fields_drawing {
  public:
    fields_drawing(const fields_layout& layout, const frame_style& style)
        : layout_(layout), style_(style) {}

    void draw(const field_statistics& field) {
        line_.emplace(style_);
        line_->add(field.name(), layout_.name, paint::strong);
        line_->fill_to(layout_.type_column());
        line_->add(field.type(), layout_.type, paint::faint);
        if (field.is_measured()) {
            draw_measured(field);
        } else {
            draw_frequent(field);
        }
    }

    [[nodiscard]] std::vector<frame_line> take() { return std::move(lines_); }

  private:
    void end_line() {
        lines_.push_back(std::move(*line_));
        line_.emplace(style_);
    }

    void add_labelled(const char* label, const std::string& value) {
        line_->add(label, paint::faint);
        line_->skip(1);
        line_->add(value);
    }

    void draw_measured(const field_statistics& field) {
        std::size_t column = layout_.value_column();
        line_->fill_to(column);
        add_labelled("min", field.smallest());
        column += 4 + layout_.smallest + field_gap;
        line_->fill_to(column);
        add_labelled("avg", field.average());
        column += 4 + layout_.average + field_gap;
        line_->fill_to(column);
        add_labelled("max", field.largest());
        if (field.absent() != 0) {
            line_->skip(field_gap);
            line_->add(
                fmt::format("({:.1f}% have none)", 100 * part_of(field.absent(), field.count())),
                paint::faint);
        }
        end_line();
    }

    void draw_share(const std::string& text, std::uint64_t count, std::uint64_t all, paint how) {
        const double part = part_of(count, all);
        line_->fill_to(layout_.value_column());
        line_->add_right(fmt::format("{:.1f}%", 100 * part), percent_width);
        line_->skip(1);
        line_->add_blocks(bar(part, layout_.bar, style_), layout_.bar, paint::green);
        line_->skip(1);
        line_->add(text, how);
        end_line();
    }

    void draw_frequent(const field_statistics& field) {
        const std::size_t extra = field.absent() == 0 ? 0 : 1;
        const std::size_t room = layout_.lines_of_field - extra;
        const bool all_fit = field.distinct_values() <= room && field.beyond() == 0;
        const std::vector<field_statistics::frequency> shown =
            field.most_frequent(all_fit ? room : room - 1);
        std::uint64_t others = field.count() - field.absent();
        for (const field_statistics::frequency& each : shown) {
            draw_share(each.text, each.count, field.count(), paint::plain);
            others -= each.count;
        }
        if (!all_fit) {
            draw_share(fmt::format("{}{} others", field.beyond() == 0 ? "" : "more than ",
                                   field.distinct_values() - shown.size()),
                       others, field.count(), paint::faint);
        }
        if (extra != 0) {
            draw_share("no value", field.absent(), field.count(), paint::faint);
        }
    }

    const fields_layout& layout_;
    frame_style style_;
    std::optional<frame_line> line_;
    std::vector<frame_line> lines_;
};

frame_line draw_heading(const top_statistics& shown, const top_view& view, const top_event* event,
                        const frame_style& style) {
    frame_line line(style);
    const event_name& name = *view.opened();
    line.add(fmt::format("{}:{}", name.provider, name.event), style.columns * 2 / 3, paint::strong);
    if (event != nullptr) {
        line.skip(field_gap);
        line.add(name_of(event->severity), paint_of(event->severity));
        line.skip(field_gap);
        line.add(event->description, line.left() - std::min<std::size_t>(line.left(), 20),
                 paint::plain);
    }
    add_state(line, shown, view);
    return line;
}

frame_line draw_sums(const top_statistics& shown, const top_event* event,
                     const frame_style& style) {
    frame_line line(style);
    if (event != nullptr) {
        const std::vector<double>& rates = event->events.history();
        const double largest = rates.empty() ? 0 : *std::max_element(rates.begin(), rates.end());
        line.add(fmt::format("{}/s, {}/s at most, {}B/s, {} so far",
                             short_number(event->events.rate()), short_number(largest),
                             short_number(event->bytes.rate()),
                             short_number(static_cast<double>(event->events.total()))));
    }
    const std::string examined = short_number(static_cast<double>(shown.examined()));
    if (shown.examined() == shown.seen_count()) {
        line.add(fmt::format("; values of {}", examined), paint::faint);
    } else {
        line.add(fmt::format("; values of {}, of {} since", examined,
                             short_number(static_cast<double>(shown.seen_count()))),
                 paint::magenta);
    }
    return line;
}

void draw_graph(const top_event* event, const frame_style& style, std::vector<frame_line>& lines) {
    const std::size_t levels = style.rows >= 40 ? 6 : style.rows >= 20 ? 3 : 1;
    const std::size_t width = std::min(style.columns, rate_counter::history_max);
    const std::vector<double> none;
    const std::vector<double>& rates = event == nullptr ? none : event->events.history();
    for (std::size_t level = levels; level-- > 0;) {
        frame_line& line = lines.emplace_back(style);
        line.add_blocks(sparkline(rates, width, style, levels, level), width, paint::green);
    }
}

frame_line draw_titles(const fields_layout& layout, const frame_style& style) {
    frame_line line(style);
    line.add("FIELD", paint::faint);
    line.fill_to(layout.type_column());
    line.add("TYPE", paint::faint);
    line.fill_to(layout.value_column());
    line.add("VALUES", paint::faint);
    return line;
}

std::vector<frame_line> draw_values(const top_statistics& shown, const fields_layout& layout,
                                    const frame_style& style) {
    fields_drawing drawing(layout, style);
    for (const field_statistics& each : shown.fields()) {
        drawing.draw(each);
    }
    std::vector<frame_line> lines = drawing.take();
    if (lines.empty()) {
        frame_line& line = lines.emplace_back(style);
        line.add(shown.seen_count() == 0 ? "This event has not occurred since you opened it."
                                         : "The event has no fields.");
    }
    return lines;
}

}  // namespace

top_frame draw_fields(const top_statistics& shown, const top_view& view, const frame_style& style) {
    const top_event* event = shown.find(*view.opened());
    top_frame drawn;
    drawn.lines.push_back(draw_heading(shown, view, event, style));
    drawn.lines.push_back(draw_sums(shown, event, style));
    draw_graph(event, style, drawn.lines);
    const std::size_t used = drawn.lines.size() + 2;
    drawn.page.rows = std::max<std::size_t>(style.rows - std::min(style.rows, used), 1);
    const fields_layout layout = lay_out_fields(shown.fields(), drawn.page.rows, style);
    drawn.lines.push_back(draw_titles(layout, style));
    const std::vector<frame_line> values = draw_values(shown, layout, style);
    drawn.page.scroll_max = values.size() - std::min(values.size(), drawn.page.rows);
    const std::size_t first = std::min(view.scrolled(), drawn.page.scroll_max);
    const std::size_t end = std::min(values.size(), first + drawn.page.rows);
    for (std::size_t i = first; i < end; ++i) {
        drawn.lines.push_back(values[i]);
    }
    return drawn;
}

}  // namespace elog
