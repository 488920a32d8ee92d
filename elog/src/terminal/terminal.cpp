// SPDX-License-Identifier: MIT
#include "terminal/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "text/escaped_text.hpp"

namespace elog {
namespace {

constexpr std::size_t width_min = 40;
constexpr std::size_t width_max = 1000;

std::string_view variable(const char* name) noexcept {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view{} : std::string_view(value);
}

/// COLUMNS; nullopt if it is no number above 0.
std::optional<std::size_t> wanted_width() noexcept {
    const std::string_view text = variable("COLUMNS");
    std::size_t width = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
    const bool sound = error == std::errc{} && end == text.data() + text.size() && width != 0;
    return sound ? std::optional(width) : std::nullopt;
}

color_choice colors = color_choice::automatic;
std::optional<terminal_style> pager_style;

bool has_colors(int descriptor) noexcept {
    if (colors != color_choice::automatic) {
        return colors == color_choice::always;
    }
    return ::isatty(descriptor) == 1 && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
}

// In the order of paint.
constexpr std::array<std::string_view, 7> paint_codes{
    "", "\x1b[1m", "\x1b[2m", "\x1b[1;31m", "\x1b[1;35m", "\x1b[32m", "\x1b[7m"};
static_assert(paint_codes.size() == static_cast<std::size_t>(paint::reversed) + 1);

}  // namespace

std::optional<std::size_t> terminal_width(int descriptor) noexcept {
    winsize size{};
    const bool known = ::ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col != 0;
    return known ? std::optional<std::size_t>(size.ws_col) : std::nullopt;
}

void set_color_choice(color_choice choice) noexcept {
    colors = choice;
}

void set_pager_style(const terminal_style& style) noexcept {
    pager_style = style;
}

bool has_capable_terminal() noexcept {
    const std::string_view type = variable("TERM");
    return !type.empty() && type != "dumb";
}

terminal_style style_of(int descriptor) noexcept {
    if (pager_style && descriptor == STDOUT_FILENO) {
        return *pager_style;
    }
    terminal_style style;
    std::optional<std::size_t> width = wanted_width();
    if (!width) {
        width = terminal_width(descriptor);
    }
    style.width = std::clamp(width.value_or(style.width), width_min, width_max);
    style.has_colours = has_colors(descriptor);
    return style;
}

void append_painted(fmt::memory_buffer& out, const terminal_style& style, paint how,
                    std::string_view text) {
    const std::string_view code =
        style.has_colours ? paint_codes.at(static_cast<std::size_t>(how)) : std::string_view{};
    constexpr std::string_view end = "\x1b[0m";
    append(out, code);
    append(out, text);
    append(out, code.empty() ? std::string_view{} : end);
}

}  // namespace elog
