// SPDX-License-Identifier: MIT
#include "script/printf_format.hpp"

#include <algorithm>
#include <utility>

#include "aggregate/key_format.hpp"
#include "base/characters.hpp"
#include "predicate/expression_parser.hpp"
#include "script/script.hpp"
#include "text/escaped_text.hpp"

namespace elog {
namespace {

class printf_parser : private expression_parser {
  public:
    printf_parser(std::string_view text, std::size_t column)
        : expression_parser(script_source, text, column) {}

    printf_format parse() {
        if (current().kind != expression_token_kind::text) {
            reject(
                current().column,
                R"(printf begins with a text in double quotes: printf("%s %d", customer, items).)");
        }
        split(current().text, current().column);
        advance();
        std::size_t next = 0;
        while (is_symbol(",")) {
            advance();
            take_field(next);
            ++next;
        }
        require_end("commas separate the fields of printf.");
        if (next != conversions()) {
            reject(column_, fmt::format("The text has {} conversions and {} fields follow it: "
                                        "write one field for each %s, %d or %x, and %% for a "
                                        "percent sign.",
                                        conversions(), next));
        }
        return std::move(made_);
    }

  private:
    [[nodiscard]] std::size_t conversions() const noexcept { return made_.pieces.size() - 1; }

    void take_field(std::size_t index) {
        if (current().kind != expression_token_kind::word) {
            reject_missing("A field");
        }
        field_reference field = parse_field_reference();
        if (index < conversions()) {
            made_.pieces[index].field = std::move(field);
        }
    }

    void split(std::string_view format, std::size_t column) {
        column_ = column;
        // The line ends in any case.
        if (format.ends_with('\n')) {
            format.remove_suffix(1);
        }
        made_.pieces.emplace_back();
        while (!format.empty()) {
            const char c = format.front();
            format.remove_prefix(1);
            if (c != '%') {
                made_.pieces.back().text += c;
            } else if (format.starts_with('%')) {
                made_.pieces.back().text += '%';
                format.remove_prefix(1);
            } else {
                take_conversion(format);
            }
        }
    }

    void take_conversion(std::string_view& format) {
        printf_piece& piece = made_.pieces.back();
        for (; format.starts_with('-') || format.starts_with('0'); format.remove_prefix(1)) {
            (format.front() == '-' ? piece.left : piece.zeros) = true;
        }
        for (; !format.empty() && is_digit(format.front()); format.remove_prefix(1)) {
            piece.width = piece.width * 10 + static_cast<std::size_t>(format.front() - '0');
            if (piece.width > printf_width_max) {
                reject(column_, fmt::format("A conversion is up to {} wide.", printf_width_max));
            }
        }
        while (format.starts_with('l')) {
            format.remove_prefix(1);
        }
        const char found = format.empty() ? '\0' : format.front();
        if (found == '\0' || std::string_view("sduixX").find(found) == std::string_view::npos) {
            reject(column_, "The text has a % without a conversion: there are %s, which shows a "
                            "field as elog print does, %d, %x, widths such as %-10s, and %%.");
        }
        format.remove_prefix(1);
        piece.conversion = found == 'u' || found == 'i' ? 'd' : found == 'X' ? 'x' : found;
        if (made_.pieces.size() > printf_fields_max) {
            reject(column_, fmt::format("printf shows up to {} fields.", printf_fields_max));
        }
        made_.pieces.emplace_back();
    }

    printf_format made_;
    std::size_t column_ = 1;
};

bool is_integer(const value_location& place) noexcept {
    return place.stored.is == value_class::integer || place.stored.is == value_class::boolean ||
           place.stored.is == value_class::character;
}

std::string hexadecimal_of(const value_location& place, const record_view& record,
                           const clock_converter& clock) {
    if (!is_there(place.stored, record)) {
        return "-";
    }
    std::uint64_t bits = place.stored.source == field_source::fixed
                             ? place.fixed_bits
                             : load_bits(place.stored, record, clock);
    if (place.stored.size < sizeof bits) {
        bits &= (std::uint64_t{1} << (place.stored.size * 8)) - 1;
    }
    return fmt::format("{:x}", bits);
}

/// %d shows the number of a bool, a character and a named value, in the unit of the schema.
std::string decimal_of(const value_location& place, const provider_schema& provider,
                       const record_view& record, const clock_converter& clock) {
    if (!is_there(place.stored, record)) {
        return "-";
    }
    if (place.stored.is == value_class::floating) {
        return format_key(place, provider, record, clock).json;
    }
    const std::uint64_t bits = place.stored.source == field_source::fixed
                                   ? place.fixed_bits
                                   : load_bits(place.stored, record, clock);
    return place.stored.is_signed ? fmt::format("{}", static_cast<std::int64_t>(bits))
                                  : fmt::format("{}", bits);
}

std::size_t characters_in(std::string_view text) noexcept {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;
    }));
}

void append_padded(fmt::memory_buffer& out, const printf_piece& piece, std::string_view value) {
    const std::size_t length = characters_in(value);
    const std::size_t blanks = piece.width - std::min(piece.width, length);
    const bool zeros = piece.zeros && !piece.left && piece.conversion != 's' && value != "-";
    if (zeros && value.starts_with('-')) {
        out.push_back('-');
        value.remove_prefix(1);
    }
    const std::string padding(blanks, zeros ? '0' : ' ');
    append(out, piece.left ? value : std::string_view(padding));
    append(out, piece.left ? std::string_view(padding) : value);
}

}  // namespace

bool printf_format::has_fields() const noexcept {
    return pieces.size() > 1;
}

printf_format printf_format::parse(std::string_view text, std::size_t column) {
    return printf_parser(text, column).parse();
}

printf_plan::printf_plan(const printf_format& format, const provider_instance& provider,
                         const event_schema& event) {
    for (const printf_piece& piece : format.pieces) {
        if (piece.conversion == '\0') {
            continue;
        }
        places.push_back(find_location(piece.field, provider, event, script_source));
        if (!places.back()) {
            continue;
        }
        const value_location& place = *places.back();
        const std::string called =
            fmt::format("'{}' of {}:{}", piece.field.name, provider.schema.name, event.name);
        const bool is_decimal = is_integer(place) || place.stored.is == value_class::floating;
        if ((piece.conversion == 'd' && !is_decimal) ||
            (piece.conversion == 'x' && !is_integer(place))) {
            reject_expression(script_source, piece.field.column,
                              fmt::format("{} is no {}: show it with %s.", called,
                                          piece.conversion == 'd' ? "number" : "integer"));
        }
    }
}

void append_line(fmt::memory_buffer& out, const printf_format& format, const printf_plan& plan,
                 const provider_schema& provider, const record_view& record,
                 const clock_converter& clock) {
    for (std::size_t i = 0; i < format.pieces.size(); ++i) {
        const printf_piece& piece = format.pieces[i];
        append(out, piece.text);
        if (piece.conversion == '\0') {
            continue;
        }
        if (!plan.places[i]) {
            append_padded(out, piece, "-");
        } else if (piece.conversion == 's') {
            append_padded(out, piece, format_key(*plan.places[i], provider, record, clock).shown);
        } else if (piece.conversion == 'd') {
            append_padded(out, piece, decimal_of(*plan.places[i], provider, record, clock));
        } else {
            append_padded(out, piece, hexadecimal_of(*plan.places[i], record, clock));
        }
    }
    out.push_back('\n');
}

void append_line(fmt::memory_buffer& out, const printf_format& format) {
    append(out, format.pieces.front().text);
    out.push_back('\n');
}

}  // namespace elog
