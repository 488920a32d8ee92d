// SPDX-License-Identifier: MIT
#include "top/top_frame.hpp"

#include <algorithm>
#include <cmath>

#include "terminal/wrapped_text.hpp"

namespace elog {
namespace {

constexpr std::size_t mark_width = 2;
constexpr std::size_t number_width = 9;  // with the column_gap in front
constexpr std::size_t column_gap = 2;
constexpr std::size_t sparkline_min = 10;
// From this width on, columns for bytes are shown.
constexpr std::size_t wide = 110;

/// Widths of columns.
struct list_layout {
    std::size_t name = 0;  // width of names
    bool has_bytes = false;
    std::size_t sparkline = 0;  // width
};

std::string shown_span(double seconds) {
    if (seconds < 120) {
        return fmt::format("{:.3g} s", seconds);
    }
    return seconds < 7200 ? fmt::format("{:.0f} min", seconds / 60)
                          : fmt::format("{:.1f} h", seconds / 3600);
}

std::string shown_name(const top_row& row) {
    return row.event == nullptr ? row.provider->name : "  " + row.event->name;
}

list_layout lay_out_list(const std::vector<top_row>& rows, const frame_style& style) {
    list_layout layout;
    layout.has_bytes = style.columns >= wide;
    const std::size_t numbers = number_width * (layout.has_bytes ? 4 : 3);
    const std::size_t fixed = mark_width + numbers + column_gap + sparkline_min;
    const std::size_t room = style.columns - std::min(style.columns, fixed);
    std::size_t longest = 16;
    for (const top_row& row : rows) {
        longest = std::max(longest, columns_of(shown_name(row)));
    }
    layout.name = std::min(longest, room);
    layout.sparkline =
        std::min(style.columns - std::min(style.columns, fixed - sparkline_min + layout.name),
                 rate_counter::history_max);
    return layout;
}

void add_title(frame_line& line, const char* title, bool is_order, const frame_style& style) {
    const char* mark = style.has_blocks ? "▼" : "v";
    line.add_right(is_order ? mark + std::string(title) : title, number_width,
                   is_order ? paint::strong : paint::faint);
}

frame_line draw_titles(const list_layout& layout, const top_view& view, const frame_notes& notes,
                       const frame_style& style) {
    frame_line line(style);
    line.fill_to(mark_width);
    const bool by_name = view.order() == top_order::name;
    const char* mark = style.has_blocks ? "▼" : "v";
    line.add(by_name ? std::string("EVENT") + mark : "EVENT",
             by_name ? paint::strong : paint::faint);
    line.fill_to(mark_width + layout.name);
    add_title(line, "PER SEC", view.order() == top_order::rate, style);
    if (layout.has_bytes) {
        add_title(line, "BYTES/S", false, style);
    }
    add_title(line, "TOTAL", view.order() == top_order::total, style);
    add_title(line, "LOST", view.order() == top_order::lost, style);
    line.skip(column_gap);
    line.add(
        fmt::format("LAST {}", shown_span(notes.interval * static_cast<double>(layout.sparkline))),
        paint::faint);
    return line;
}

void add_numbers(frame_line& line, const rate_counter& events, const rate_counter& bytes,
                 bool has_bytes) {
    const paint how = events.rate() > 0 ? paint::plain : paint::faint;
    line.add_right(short_number(events.rate()), number_width, how);
    if (has_bytes) {
        line.add_right(short_number(bytes.rate()), number_width, how);
    }
    line.add_right(short_number(static_cast<double>(events.total())), number_width);
}

frame_line draw_row(const top_row& row, bool is_chosen, const list_layout& layout,
                    const frame_style& style) {
    frame_line line(style);
    line.add(is_chosen ? ">" : "", paint::strong);
    line.fill_to(mark_width);
    const bool is_provider = row.event == nullptr;
    line.add(shown_name(row), layout.name,
             is_chosen     ? paint::reversed
             : is_provider ? paint::strong
                           : paint_of(row.event->severity));
    line.fill_to(mark_width + layout.name);
    const rate_counter& events = is_provider ? row.provider->events : row.event->events;
    const rate_counter& bytes = is_provider ? row.provider->bytes : row.event->bytes;
    add_numbers(line, events, bytes, layout.has_bytes);
    if (is_provider) {
        const rate_counter& lost = row.provider->lost;
        line.add_right(short_number(static_cast<double>(lost.total())), number_width,
                       lost.total() == 0 ? paint::faint : paint::red);
    } else {
        line.skip(number_width);
    }
    line.skip(column_gap);
    const std::size_t width = std::min(layout.sparkline, line.left());
    line.add_blocks(sparkline(events.history(), width, style), width,
                    is_provider ? paint::faint : paint::green);
    return line;
}

frame_line draw_heading(const top_statistics& shown, const top_view& view, const frame_notes& notes,
                        const frame_style& style) {
    frame_line line(style);
    line.add("elog top", paint::strong);
    line.skip(column_gap);
    line.add(notes.listening, line.left() - std::min<std::size_t>(line.left(), 24), paint::plain);
    add_state(line, shown, view);
    return line;
}

std::string counted(std::size_t number, const char* what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

frame_line draw_sums(const top_statistics& shown, const frame_notes& notes,
                     const frame_style& style) {
    std::size_t kinds = 0;
    for (const top_provider& each : shown.providers()) {
        kinds += each.seen.size();
    }
    frame_line line(style);
    line.add(fmt::format("{}, {}: {}/s, {}B/s, {} so far, ",
                         counted(shown.providers().size(), "provider"), counted(kinds, "event"),
                         short_number(shown.events().rate()), short_number(shown.bytes().rate()),
                         short_number(static_cast<double>(shown.events().total()))));
    const bool complete = shown.lost().total() == 0 && !notes.has_uncounted_losses;
    line.add(fmt::format("{}{} lost", notes.has_uncounted_losses ? "at least " : "",
                         short_number(static_cast<double>(shown.lost().total()))),
             complete ? paint::plain : paint::red);
    if (shown.lost().rate() > 0) {
        line.add(fmt::format(", {}/s now", short_number(shown.lost().rate())), paint::red);
    }
    if (notes.refused != 0) {
        line.add(fmt::format(", {} without room", counted(notes.refused, "provider")), paint::red);
    }
    return line;
}

/// Draws all lines but the last.
top_frame draw_list(const top_statistics& shown, const top_view& view, const frame_notes& notes,
                    const frame_style& style) {
    const std::vector<top_row> rows = view.rows_of(shown);
    const list_layout layout = lay_out_list(rows, style);
    top_frame drawn;
    drawn.lines.push_back(draw_heading(shown, view, notes, style));
    drawn.lines.push_back(draw_sums(shown, notes, style));
    drawn.lines.push_back(draw_titles(layout, view, notes, style));
    const std::size_t used = drawn.lines.size() + 1;
    drawn.page.rows = std::max<std::size_t>(style.rows - std::min(style.rows, used), 1);
    if (rows.empty()) {
        frame_line& line = drawn.lines.emplace_back(style);
        line.fill_to(mark_width);
        line.add("No events yet. List the events of programs with: elog list");
        return drawn;
    }
    const std::size_t chosen = view.chosen_row(rows);
    const std::size_t first = view.first_row(chosen, rows.size(), drawn.page.rows);
    const std::size_t end = std::min(rows.size(), first + drawn.page.rows);
    for (std::size_t i = first; i < end; ++i) {
        drawn.lines.push_back(draw_row(rows[i], notes.shows_keys && i == chosen, layout, style));
    }
    return drawn;
}

}  // namespace

paint paint_of(eventlog::level severity) noexcept {
    switch (severity) {
        case eventlog::level::error:
            return paint::red;
        case eventlog::level::warn:
            return paint::magenta;
        default:
            return paint::plain;
    }
}

void add_state(frame_line& line, const top_statistics& shown, const top_view& view) {
    const auto seconds = static_cast<std::uint64_t>(std::lround(shown.seconds()));
    const std::string time = fmt::format(
        "{}{}:{:02}", seconds >= 3600 ? fmt::format("{}:", seconds / 3600) : "",
        seconds >= 3600 ? fmt::format("{:02}", seconds / 60 % 60) : std::to_string(seconds / 60),
        seconds % 60);
    const std::string text = fmt::format("{}{}{}", view.is_paused() ? "paused  " : "",
                                         view.is_frozen() ? "frozen  " : "", time);
    if (line.left() > text.size()) {
        const bool is_usual = !view.is_paused() && !view.is_frozen();
        line.add_right(text, line.left(), is_usual ? paint::faint : paint::magenta);
    }
}

frame_line draw_keys(const top_view& view, const frame_style& style) {
    frame_line line(style);
    const std::string states = fmt::format("space {}  p {}", view.is_frozen() ? "go on" : "freeze",
                                           view.is_paused() ? "resume" : "pause");
    const std::string up_down = style.has_blocks ? "↑↓" : "up/down";
    const std::string sides = style.has_blocks ? "←→" : "left/right";
    line.add(view.opened() ? fmt::format("q quit  {}  {} scroll  esc all events", states, up_down)
                           : fmt::format("q quit  {}  {} choose  enter its values  {} order",
                                         states, up_down, sides),
             paint::faint);
    return line;
}

top_frame draw_top(const top_statistics& shown, const top_view& view, const frame_notes& notes,
                   const frame_style& style) {
    top_frame drawn =
        view.opened() ? draw_fields(shown, view, style) : draw_list(shown, view, notes, style);
    if (notes.shows_keys) {
        const std::size_t above = style.rows - std::min<std::size_t>(style.rows, 1);
        drawn.lines.resize(above, frame_line(style));
        if (notes.complaint.empty()) {
            drawn.lines.push_back(draw_keys(view, style));
        } else {
            drawn.lines.emplace_back(style).add(notes.complaint, style.columns, paint::red);
        }
    }
    if (drawn.lines.size() > style.rows) {
        drawn.lines.resize(style.rows, frame_line(style));
    }
    return drawn;
}

}  // namespace elog
