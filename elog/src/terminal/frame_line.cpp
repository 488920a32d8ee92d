// SPDX-License-Identifier: MIT
#include "terminal/frame_line.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "terminal/wrapped_text.hpp"
#include "text/escaped_text.hpp"
#include "text/utf8.hpp"

namespace elog {
namespace {

// Indexed by eighths of a character.
constexpr std::array<const char*, 9> heights{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
constexpr std::array<const char*, 9> plain_heights{" ", ".", ".", ":", ":", "|", "|", "#", "#"};
constexpr std::array<const char*, 9> lengths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};

/// The number of bytes of visible text that fit into `columns`.
std::size_t fitting(std::string_view text, std::size_t columns) {
    std::size_t size = 0;
    std::size_t used = 0;
    while (size < text.size()) {
        const std::size_t length =
            std::max<std::size_t>(first_character(text.substr(size)).length, 1);
        const std::size_t wide = columns_of(text.substr(size, length));
        if (used + wide > columns) {
            break;
        }
        used += wide;
        size += length;
    }
    return size;
}

std::string repeated(const char* text, std::size_t times) {
    std::string all;
    for (std::size_t i = 0; i < times; ++i) {
        all += text;
    }
    return all;
}

}  // namespace

void frame_line::paint_text(std::string_view text, paint how) {
    fmt::memory_buffer out;
    append_painted(out, {style_.columns, style_.has_colours}, how, text);
    text_.append(out.data(), out.size());
    columns_ += columns_of(text);
}

void frame_line::add(std::string_view text, std::size_t width, paint how) {
    const std::size_t room = std::min(width, left());
    // Bounds the time for long text. A column takes at most four bytes, plus some combining
    // characters of no width.
    fmt::memory_buffer visible;
    append_visible(visible, text.substr(0, 16 * room + 16));
    const std::string_view shown(visible.data(), visible.size());
    if (columns_of(shown) <= room) {
        paint_text(shown, how);
    } else if (room != 0) {
        std::string cut(shown.substr(0, fitting(shown, room - 1)));
        cut += style_.has_blocks ? "…" : "~";
        paint_text(cut, how);
    }
}

void frame_line::add_right(std::string_view text, std::size_t width, paint how) {
    fmt::memory_buffer visible;
    append_visible(visible, text);
    const std::size_t columns = columns_of({visible.data(), visible.size()});
    skip(width - std::min(columns, width));
    add(text, width, how);
}

void frame_line::add_blocks(std::string_view blocks, std::size_t width, paint how) {
    if (width <= left()) {
        paint_text(blocks, how);
    }
}

void frame_line::fill_to(std::size_t column) {
    const std::size_t end = std::min(column, style_.columns);
    if (end > columns_) {
        text_.append(end - columns_, ' ');
        columns_ = end;
    }
}

std::string short_number(double number) {
    constexpr std::array<const char*, 7> units{"", "k", "M", "G", "T", "P", "E"};
    double rest = std::fabs(number);
    std::size_t unit = 0;
    // 999.5 and above would be rounded to four digits.
    while (rest >= 999.5 && unit + 1 < units.size()) {
        rest /= 1000;
        ++unit;
    }
    const bool is_whole = rest == std::floor(rest) && unit == 0;
    const int digits = is_whole || rest >= 99.95 ? 0 : rest >= 0.995 ? 1 : 2;
    return fmt::format("{}{:.{}f}{}", number < 0 ? "-" : "", rest, digits, units[unit]);
}

std::string sparkline(std::span<const double> values, std::size_t width, const frame_style& style,
                      std::size_t levels, std::size_t level) {
    const std::span<const double> shown = values.last(std::min(values.size(), width));
    double largest = 0;
    for (const double value : shown) {
        largest = std::max(largest, value);
    }
    const auto steps = static_cast<double>(8 * levels);
    std::string line(width - shown.size(), ' ');
    for (const double value : shown) {
        // A value above 0 is always visible.
        double height = largest > 0 ? value / largest * steps : 0;
        height = value > 0 ? std::max(height, 1.0) : 0;
        const double here = std::clamp(height - static_cast<double>(8 * level), 0.0, 8.0);
        const auto eighths = static_cast<std::size_t>(std::lround(here));
        line += style.has_blocks ? heights[eighths] : plain_heights[eighths];
    }
    return line;
}

std::string bar(double part, std::size_t width, const frame_style& style) {
    const double wanted = std::clamp(part, 0.0, 1.0) * static_cast<double>(width);
    if (!style.has_blocks) {
        const auto filled = static_cast<std::size_t>(std::lround(wanted));
        return std::string(filled, '#') + std::string(width - filled, ' ');
    }
    const auto eighths = static_cast<std::size_t>(std::lround(wanted * 8));
    const std::size_t rest = eighths % 8;
    return repeated(lengths[8], eighths / 8) + lengths[rest] +
           std::string(width - eighths / 8 - (rest == 0 ? 0 : 1), ' ');
}

}  // namespace elog
