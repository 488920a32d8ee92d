// SPDX-License-Identifier: MIT
#include "terminal/wrapped_text.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <utility>

#include "text/append_format.hpp"
#include "text/escaped_text.hpp"
#include "text/utf8.hpp"

namespace elog {
namespace {

using code_range = std::pair<std::uint32_t, std::uint32_t>;

template <std::size_t Count>
bool is_in(std::uint32_t code, const code_range (&ranges)[Count]) noexcept {
    return std::any_of(std::begin(ranges), std::end(ranges), [code](const code_range& range) {
        return code >= range.first && code <= range.second;
    });
}

// The most common blocks; terminals differ in the rest.
constexpr code_range combining[] = {
    {0x300, 0x36f}, {0x1ab0, 0x1aff}, {0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}};
constexpr code_range wide_ranges[] = {{0x1100, 0x115f}, {0x2e80, 0xa4cf},   {0xac00, 0xd7a3},
                                      {0xf900, 0xfaff}, {0xfe30, 0xfe6f},   {0xff00, 0xff60},
                                      {0xffe0, 0xffe6}, {0x1f300, 0x1faff}, {0x20000, 0x3fffd}};

}  // namespace

std::size_t columns_of(std::string_view text) noexcept {
    std::size_t columns = 0;
    while (!text.empty()) {
        const utf8_character next = first_character(text);
        columns += is_in(next.code, combining) ? 0 : is_in(next.code, wide_ranges) ? 2 : 1;
        text.remove_prefix(std::max<std::size_t>(next.length, 1));
    }
    return columns;
}

wrapped_line::wrapped_line(fmt::memory_buffer& out, const terminal_style& style, std::size_t indent,
                           std::size_t hanging)
    : out_(out), style_(style), hanging_(hanging) {
    add_blanks(indent);
    filled_to_ = column_;
}

wrapped_line::~wrapped_line() {
    out_.push_back('\n');
}

void wrapped_line::add_blanks(std::size_t count) {
    append_format(out_, "{:{}}", "", count);
    column_ += count;
}

void wrapped_line::add(std::string_view piece, paint how) {
    fmt::memory_buffer visible;
    append_visible(visible, piece);
    const std::string_view shown(visible.data(), visible.size());
    const std::size_t columns = columns_of(shown);
    const std::size_t blank = column_ == filled_to_ ? 0 : 1;
    if (column_ + blank + columns > style_.width && column_ > hanging_) {
        out_.push_back('\n');
        column_ = 0;
        add_blanks(hanging_);
    } else {
        add_blanks(blank);
    }
    append_painted(out_, style_, how, shown);
    column_ += columns;
    filled_to_ = SIZE_MAX;
}

void wrapped_line::add_words(std::string_view text, paint how) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        if (end != 0) {
            add(text.substr(0, end), how);
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

void wrapped_line::fill_to(std::size_t column) {
    add_blanks(std::max(column, column_ + 1) - column_);
    filled_to_ = column_;
}

}  // namespace elog
