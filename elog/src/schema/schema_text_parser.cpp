// SPDX-License-Identifier: MIT
//
// Parses the text of a schema in one pass: everything is declared before its use.
#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <utility>

#include "schema/schema_binary.hpp"
#include "schema/schema_text.hpp"
#include "schema/schema_token_reader.hpp"
#include "schema/schema_values.hpp"

namespace elog {
namespace {

using eventlog::field_type;

class schema_parser : schema_token_reader {
  public:
    schema_parser(const std::string& file, std::string_view text)
        : schema_token_reader(file, text), made_{file, {}, {}, {}, {}, {}} {}

    located_schema parse();

  private:
    void parse_item();
    void parse_keyword();
    void parse_enumeration(bool is_bitmask);
    void parse_value(enumeration_schema& made, field_type type, name_set& names,
                     std::set<std::uint64_t>& values);
    void parse_event();
    void parse_event_words(event_schema& made);
    void parse_event_keywords(event_schema& made);
    [[nodiscard]] source_place parse_source();
    void parse_field(event_schema& made, name_set& names);
    void parse_type(field_schema& made);
    [[nodiscard]] std::optional<std::uint16_t> find_enumeration(std::string_view label) const;
    [[nodiscard]] std::uint16_t need_enumeration(field_type type);
    void parse_count(field_schema& made);
    void parse_field_words(field_schema& made);
    void check_field(const field_schema& made, const event_schema& event,
                     text_position where) const;

    located_schema made_;
    name_set keyword_names_;
    name_set enumeration_names_;
    name_set event_names_;
    std::vector<std::string> enumeration_labels_;  // their names in this text
    std::vector<field_type> enumeration_types_;
};

located_schema schema_parser::parse() {
    made_.provider = position();
    if (!take_word("provider")) {
        reject_current("A schema begins with: provider NAME {, not with");
    }
    made_.schema.name = expect_name("the provider");
    made_.schema.description = take_description();
    made_.schema.source = parse_source();
    expect_symbol('{', "behind the provider");
    while (!is_symbol('}')) {
        parse_item();
    }
    if (made_.schema.events.empty()) {
        reject("A provider needs at least one event.");
    }
    advance();
    if (current().kind != token_kind::end) {
        reject_current("A file holds one provider; behind it stands");
    }
    std::sort(made_.schema.keywords.begin(), made_.schema.keywords.end());
    try {
        write_binary(made_.schema);
    } catch (const user_error& too_large) {
        made_.reject(made_.provider, too_large.what());
    }
    return std::move(made_);
}

void schema_parser::parse_item() {
    if (take_word("keyword")) {
        parse_keyword();
    } else if (take_word("enum")) {
        parse_enumeration(false);
    } else if (take_word("flags")) {
        parse_enumeration(true);
    } else if (is_word("event")) {
        parse_event();
    } else {
        reject_current("A provider has: keyword, enum, flags, event, or a '}' at its end; not");
    }
}

void schema_parser::parse_keyword() {
    std::string name = expect_unique_name("a keyword", keyword_names_);
    expect_symbol('=', "between a keyword and its bit");
    const token bit = expect_number("the keyword's bit, 0 to 63");
    if (bit.negative || bit.magnitude >= schema_format::keywords_max) {
        reject(bit.where, "The bit of a keyword is 0 to 63.");
    }
    for (const auto& [taken, owner] : made_.schema.keywords) {
        if (taken == bit.magnitude) {
            reject(bit.where,
                   fmt::format("Bit {} is that of the keyword {} already.", taken, owner));
        }
    }
    made_.schema.keywords.emplace_back(static_cast<unsigned>(bit.magnitude), std::move(name));
}

void schema_parser::parse_enumeration(bool is_bitmask) {
    const text_position where = position();
    const std::string label = expect_unique_name("an enumeration", enumeration_names_);
    if (find_type(label)) {
        reject(where, fmt::format("{0} is the name of a type: give the enumeration another, "
                                  "as in: {0}_2 called {0}.",
                                  label));
    }
    enumeration_schema made{
        take_word("called") ? expect_name("the enumeration") : label, is_bitmask, {}};
    if (made_.schema.enumerations.size() == schema_format::enumerations_max) {
        reject(where, "A provider has up to 1024 enumerations. Split it in two.");
    }
    expect_symbol(':', "between an enumeration and its type");
    const std::optional<type_word> type = look_up(find_type);
    if (!type || type->count != 1 || !eventlog::is_integer(type->type)) {
        reject_current("An enumeration's type is i8, i16, i32, i64, u8, u16, u32 or u64, not");
    }
    advance();
    expect_symbol('{', "in front of the values");
    name_set names;
    std::set<std::uint64_t> values;
    while (!is_symbol('}')) {
        parse_value(made, type->type, names, values);
        if (!take_symbol(',') && !is_symbol('}')) {
            reject_current("Between values stands a ',', and behind them a '}'; not");
        }
    }
    advance();
    made_.enumerations.push_back(where);
    enumeration_labels_.push_back(label);
    enumeration_types_.push_back(type->type);
    made_.schema.enumerations.push_back(std::move(made));
}

void schema_parser::parse_value(enumeration_schema& made, field_type type, name_set& names,
                                std::set<std::uint64_t>& values) {
    std::string name = expect_unique_name("a value of this enumeration", names);
    expect_symbol('=', "between a name and its value");
    const token number = expect_number("the value");
    if (!fits(type, number.negative, number.magnitude)) {
        reject(number.where, fmt::format("{} does not fit {}.", number.text, name_of(type)));
    }
    const std::uint64_t value = number.negative ? ~number.magnitude + 1 : number.magnitude;
    if (!values.insert(value).second) {
        reject(number.where, "Another name has this value already.");
    }
    if (made.values.size() == 0xffff) {
        reject(number.where, "An enumeration has up to 65535 values.");
    }
    made.values.emplace_back(value, std::move(name));
}

void schema_parser::parse_event() {
    advance();
    const text_position where = position();
    event_schema made;
    made.name = expect_unique_name("an event", event_names_);
    if (made_.schema.events.size() == schema_format::events_max) {
        reject(where, "A provider has up to 1024 events. Split it in two.");
    }
    made_.events.push_back(where);
    made_.fields.emplace_back();
    parse_event_words(made);
    expect_symbol('{', "in front of the event's fields");
    name_set names;
    while (!is_symbol('}')) {
        parse_field(made, names);
        static_cast<void>(take_symbol(','));
    }
    if (made.session_bound && made.fields.empty()) {
        reject("The first field of an event that belongs to a session is the session: u64.");
    }
    advance();
    if (const std::size_t size = assign_offsets(made); size > fixed_size_max) {
        reject(where, fmt::format("The fields of this event take {} bytes, more than the "
                                  "{} that a record holds. Use smaller arrays, or bytes.",
                                  size, fixed_size_max));
    }
    made_.schema.events.push_back(std::move(made));
}

/// [at "FILE":LINE]
source_place schema_parser::parse_source() {
    if (!take_word("at")) {
        return {};
    }
    source_place made;
    const text_position where = position();
    made.file = expect_text("the file that declares it");
    if (made.file.empty()) {
        reject(where, "The name of the file is empty.");
    }
    expect_symbol(':', "between a file and its line");
    const token line = expect_number("the line in the file");
    if (line.negative || line.magnitude == 0 || line.magnitude > UINT32_MAX) {
        reject(line.where, "The line in a file is 1 to 4294967295.");
    }
    made.line = static_cast<std::uint32_t>(line.magnitude);
    return made;
}

/// [LEVEL] [KIND] [session] [truncates] [[KEYWORDS]] [DESCRIPTION] [when MEANING] [at FILE:LINE]
void schema_parser::parse_event_words(event_schema& made) {
    if (const auto level = look_up(find_level)) {
        made.severity = *level;
        advance();
    }
    if (const auto kind = look_up(find_kind)) {
        made.kind = *kind;
        advance();
    }
    made.session_bound = take_word("session");
    made.truncates = take_word("truncates");
    if (take_symbol('[')) {
        parse_event_keywords(made);
    }
    made.description = take_description();
    if (take_word("when")) {
        made.when = expect_text("when the event is logged");
    }
    made.source = parse_source();
    if (!is_symbol('{')) {
        reject_current(
            "Behind the name of an event stand, in this order and if there are any: a level "
            "(error, "
            "warn, info, verbose, trace), a kind (instant, begin, end, gauge, session_begin, "
            "session_end, state_complete), session, truncates, [KEYWORDS], \"DESCRIPTION\", when "
            "\"MEANING\", at \"FILE\":LINE; then '{'. This is");
    }
}

void schema_parser::parse_event_keywords(event_schema& made) {
    do {
        const text_position where = position();
        const std::string name = expect_name("a keyword");
        const auto& all = made_.schema.keywords;
        const auto found = std::find_if(
            all.begin(), all.end(), [&](const auto& keyword) { return keyword.second == name; });
        if (found == all.end()) {
            reject(where, fmt::format("There is no keyword {} above. Declare it: keyword {} "
                                      "= BIT.",
                                      name, name));
        }
        const std::uint64_t bit = std::uint64_t{1} << found->first;
        if ((made.keywords & bit) != 0) {
            reject(where, fmt::format("The event has the keyword {} already.", name));
        }
        made.keywords |= bit;
    } while (take_symbol(','));
    expect_symbol(']', "behind the keywords");
}

/// NAME : TYPE [as ENUMERATION] [[COUNT] | []] [?] [format FORMAT] [unit UNIT] [DESCRIPTION]
void schema_parser::parse_field(event_schema& made, name_set& names) {
    const text_position where = position();
    field_schema field;
    field.name = expect_unique_name("a field", names);
    if (made.fields.size() == schema_format::fields_max) {
        reject(where, "An event has up to 100 fields. Split it in two.");
    }
    expect_symbol(':', "between a field and its type");
    parse_type(field);
    parse_count(field);
    if (take_symbol('?')) {
        field.presence = 0;
    }
    parse_field_words(field);
    check_field(field, made, where);
    made_.fields.back().push_back(where);
    made.fields.push_back(std::move(field));
}

void schema_parser::parse_type(field_schema& made) {
    const text_position where = position();
    if (const auto type = look_up(find_type)) {
        made.type = type->type;
        made.count = type->count;
        made.format = type->format;
        advance();
        if (!take_word("as")) {
            return;
        }
        if (!eventlog::is_integer(made.type) || made.count != 1) {
            reject(where, "Only an integer can be shown as an enumeration.");
        }
        made.enumeration = need_enumeration(made.type);
        return;
    }
    if (const auto found =
            look_up([this](std::string_view label) { return find_enumeration(label); })) {
        made.enumeration = *found;
        made.type = enumeration_types_[made.enumeration];
        advance();
        return;
    }
    reject_current(fmt::format(
        "A field's type is {}, or an enumeration that is declared above; not", list_types()));
}

std::optional<std::uint16_t> schema_parser::find_enumeration(std::string_view label) const {
    const auto& all = enumeration_labels_;
    const auto found = std::find(all.begin(), all.end(), label);
    return found == all.end() ? std::nullopt
                              : std::optional(static_cast<std::uint16_t>(found - all.begin()));
}

/// The enumeration of an `as`, whose values must fit `type`, which may differ from its own.
std::uint16_t schema_parser::need_enumeration(field_type type) {
    const text_position where = position();
    const std::string name = expect_name("an enumeration");
    const std::optional<std::uint16_t> index = find_enumeration(name);
    if (!index) {
        reject(where, fmt::format("There is no enumeration {} above.", name));
    }
    for (const auto& [value, value_name] : made_.schema.enumerations[*index].values) {
        const bool negative = is_signed(enumeration_types_[*index]) && (value >> 63U) != 0;
        if (!fits(type, negative, negative ? ~value + 1 : value)) {
            reject(where, fmt::format("The value {} of the enumeration {} does not fit {}.",
                                      value_name, name, name_of(type)));
        }
    }
    return *index;
}

void schema_parser::parse_count(field_schema& made) {
    const text_position where = position();
    if (!take_symbol('[')) {
        return;
    }
    if (made.type >= field_type::text || made.count != 1) {
        reject(where, "There are no arrays of text, bytes, ip4, ip6 and mac.");
    }
    if (take_symbol(']')) {
        if (!eventlog::may_repeat(made.type)) {
            reject(where, "Characters of any number are text.");
        }
        made.count = 0;
        return;
    }
    const token count = expect_number("the number of elements");
    if (count.negative || count.magnitude < 2 || count.magnitude > 0xfff0) {
        reject(count.where, "An array has 2 to 65520 elements.");
    }
    expect_symbol(']', "behind the number of elements");
    made.count = static_cast<std::uint16_t>(count.magnitude);
}

void schema_parser::parse_field_words(field_schema& made) {
    // A word that a colon follows is the next field's name.
    if (is_word("format") && !is_before_colon()) {
        advance();
        const auto format = look_up(find_format);
        if (!format) {
            reject_current(fmt::format("A format is {}; not", list_formats()));
        }
        if (!eventlog::format_fits(*format, made.type, made.count) ||
            made.format != eventlog::format::plain) {
            reject(fmt::format("The format {} does not go with the type of {}.", current().text,
                               made.name));
        }
        made.format = *format;
        advance();
    }
    if (is_word("unit") && !is_before_colon()) {
        if (!eventlog::takes_unit(made.type)) {
            reject(fmt::format("Only numbers have a unit, and {} is none. Say it in the "
                               "description.",
                               made.name));
        }
        advance();
        made.unit = expect_text("a unit");
    }
    made.description = take_description();
    if (!is_symbol('}') && !is_symbol(',') &&
        (current().kind != token_kind::word || !is_before_colon())) {
        reject_current(
            "Behind a field's type stand, in this order and if there are any: [COUNT] or "
            "[], ?, format FORMAT, unit \"UNIT\", \"DESCRIPTION\"; then the next field, "
            "NAME: TYPE, or '}'. This is");
    }
}

void schema_parser::check_field(const field_schema& made, const event_schema& event,
                                text_position where) const {
    const bool is_session = made.type == field_type::unsigned_64 && made.count == 1 &&
                            made.presence == schema_format::no_index;
    if (event.session_bound && event.fields.empty() && !is_session) {
        reject(where, "The first field of an event that belongs to a session is the session: u64, "
                      "no array, and not optional.");
    }
}

}  // namespace

void located_schema::reject(text_position where, std::string_view reason) const {
    throw user_error("{}:{}:{}: {}", file, where.line, where.column, reason);
}

located_schema parse_schema_text(std::string file, std::string_view text) {
    if (text.size() > schema_text_size_max) {
        throw user_error("{}:1:1: The text is larger than 8 MiB, which no schema is.", file);
    }
    return schema_parser(file, text).parse();
}

}  // namespace elog
