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
#include "schema/schema_tokens.hpp"
#include "schema/schema_values.hpp"

namespace elog {
namespace {

using eventlog::field_type;

class schema_parser {
  public:
    schema_parser(std::string file, std::string_view text)
        : made_{std::move(file), {}, {}, {}, {}, {}}, tokens_(made_.file, text) {
        next();
        after_ = tokens_.next();
    }

    located_schema parse();

  private:
    using name_set = std::set<std::string, std::less<>>;

    // `now_` is the current token; `after_` is a look-ahead for colons.
    void next() {
        now_ = started_ ? std::move(after_) : tokens_.next();
        after_ = started_ ? tokens_.next() : token{};
        started_ = true;
    }
    [[noreturn]] void reject(std::string_view reason) const { tokens_.reject(now_.where, reason); }
    [[nodiscard]] bool is_symbol(char symbol) const {
        return now_.kind == token_kind::symbol && now_.text[0] == symbol;
    }
    [[nodiscard]] bool is_word(std::string_view word) const {
        return now_.kind == token_kind::word && now_.text == word;
    }
    [[nodiscard]] bool take_symbol(char symbol);
    [[nodiscard]] bool take_word(std::string_view word);
    void expect_symbol(char symbol, std::string_view where);
    [[nodiscard]] std::string expect_name(std::string_view whose);
    [[nodiscard]] std::string expect_unique_name(std::string_view whose, name_set& taken);
    [[nodiscard]] token expect_number(std::string_view what);
    [[nodiscard]] std::string expect_text(std::string_view what);
    [[nodiscard]] std::string take_description();

    void parse_item();
    void parse_keyword();
    void parse_enumeration(bool combines);
    void parse_value(enumeration_schema& made, field_type type, name_set& names,
                     std::set<std::uint64_t>& values);
    void parse_event();
    void parse_event_words(event_schema& made);
    void parse_event_keywords(event_schema& made);
    void parse_field(event_schema& made, name_set& names);
    void parse_type(field_schema& made);
    [[nodiscard]] std::optional<std::uint16_t> find_enumeration(std::string_view label) const;
    [[nodiscard]] std::uint16_t need_enumeration(field_type type, text_position where);
    void parse_count(field_schema& made);
    void parse_field_words(field_schema& made);
    void check_field(const field_schema& made, const event_schema& event,
                     text_position where) const;

    located_schema made_;
    schema_tokens tokens_;
    bool started_ = false;
    token now_;
    token after_;
    name_set keyword_names_;
    name_set enumeration_names_;
    name_set event_names_;
    std::vector<std::string> enumeration_labels_;  // their names in this text
    std::vector<field_type> enumeration_types_;
};

bool schema_parser::take_symbol(char symbol) {
    const bool found = is_symbol(symbol);
    if (found) {
        next();
    }
    return found;
}

bool schema_parser::take_word(std::string_view word) {
    const bool found = is_word(word);
    if (found) {
        next();
    }
    return found;
}

void schema_parser::expect_symbol(char symbol, std::string_view where) {
    if (!take_symbol(symbol)) {
        reject(fmt::format("There must be a '{}' {}, not {}.", symbol, where, describe(now_)));
    }
}

std::string schema_parser::expect_name(std::string_view whose) {
    if (now_.kind != token_kind::word) {
        reject(fmt::format("There must be the name of {}, not {}.", whose, describe(now_)));
    }
    std::string name = now_.text;
    next();
    return name;
}

std::string schema_parser::expect_unique_name(std::string_view whose, name_set& taken) {
    const text_position where = now_.where;
    std::string name = expect_name(whose);
    if (!taken.insert(name).second) {
        tokens_.reject(where, fmt::format("There is {} called {} already.", whose, name));
    }
    return name;
}

token schema_parser::expect_number(std::string_view what) {
    if (now_.kind != token_kind::number) {
        reject(fmt::format("There must be {}, not {}.", what, describe(now_)));
    }
    token number = now_;
    next();
    return number;
}

std::string schema_parser::expect_text(std::string_view what) {
    if (now_.kind != token_kind::text) {
        reject(fmt::format("There must be {} in double quotes, not {}.", what, describe(now_)));
    }
    if (now_.text.size() > 255) {
        reject(fmt::format("The text has {} bytes; up to 255 are allowed.", now_.text.size()));
    }
    std::string text = now_.text;
    next();
    return text;
}

std::string schema_parser::take_description() {
    return now_.kind == token_kind::text ? expect_text("a description") : std::string();
}

located_schema schema_parser::parse() {
    made_.provider = now_.where;
    if (!take_word("provider")) {
        reject(fmt::format("A schema begins with: provider NAME {{, not with {}.", describe(now_)));
    }
    made_.schema.name = expect_name("the provider");
    made_.schema.description = take_description();
    expect_symbol('{', "behind the provider");
    while (!is_symbol('}')) {
        parse_item();
    }
    if (made_.schema.events.empty()) {
        reject("A provider needs at least one event.");
    }
    next();
    if (now_.kind != token_kind::end) {
        reject(fmt::format("A file holds one provider; behind it stands {}.", describe(now_)));
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
        reject(fmt::format("A provider has: keyword, enum, flags, event, or a '}}' at its end; not "
                           "{}.",
                           describe(now_)));
    }
}

void schema_parser::parse_keyword() {
    std::string name = expect_unique_name("a keyword", keyword_names_);
    expect_symbol('=', "between a keyword and its bit");
    const token bit = expect_number("the keyword's bit, 0 to 63");
    if (bit.negative || bit.magnitude >= eventlog::keywords_max) {
        tokens_.reject(bit.where, "The bit of a keyword is 0 to 63.");
    }
    for (const auto& [taken, owner] : made_.schema.keywords) {
        if (taken == bit.magnitude) {
            tokens_.reject(bit.where,
                           fmt::format("Bit {} is that of the keyword {} already.", taken, owner));
        }
    }
    made_.schema.keywords.emplace_back(static_cast<unsigned>(bit.magnitude), std::move(name));
}

void schema_parser::parse_enumeration(bool combines) {
    const text_position where = now_.where;
    const std::string label = expect_unique_name("an enumeration", enumeration_names_);
    if (find_type(label)) {
        tokens_.reject(where,
                       fmt::format("{0} is the name of a type: give the enumeration another, "
                                   "as in: {0}_2 called {0}.",
                                   label));
    }
    enumeration_schema made{
        take_word("called") ? expect_name("the enumeration") : label, combines, {}};
    if (made_.schema.enumerations.size() == eventlog::enumerations_max) {
        tokens_.reject(where, "A provider has up to 1024 enumerations. Split it in two.");
    }
    expect_symbol(':', "between an enumeration and its type");
    const std::optional<type_word> type =
        now_.kind == token_kind::word ? find_type(now_.text) : std::nullopt;
    if (!type || type->count != 1 || !eventlog::is_integer(type->type)) {
        reject(fmt::format("An enumeration's type is i8, i16, i32, i64, u8, u16, u32 or u64, not "
                           "{}.",
                           describe(now_)));
    }
    next();
    expect_symbol('{', "in front of the values");
    name_set names;
    std::set<std::uint64_t> values;
    while (!is_symbol('}')) {
        parse_value(made, type->type, names, values);
        if (!take_symbol(',') && !is_symbol('}')) {
            reject(fmt::format("Between values stands a ',', and behind them a '}}'; not {}.",
                               describe(now_)));
        }
    }
    next();
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
        tokens_.reject(number.where,
                       fmt::format("{}{} does not fit {}.", number.negative ? "-" : "",
                                   number.magnitude, name_of(type)));
    }
    const std::uint64_t value = number.negative ? ~number.magnitude + 1 : number.magnitude;
    if (!values.insert(value).second) {
        tokens_.reject(number.where, "Another name has this value already.");
    }
    if (made.values.size() == 0xffff) {
        tokens_.reject(number.where, "An enumeration has up to 65535 values.");
    }
    made.values.emplace_back(value, std::move(name));
}

void schema_parser::parse_event() {
    next();
    const text_position where = now_.where;
    event_schema made;
    made.name = expect_unique_name("an event", event_names_);
    if (made_.schema.events.size() == eventlog::events_max) {
        tokens_.reject(where, "A provider has up to 1024 events. Split it in two.");
    }
    made_.events.push_back(where);
    made_.fields.emplace_back();
    parse_event_words(made);
    expect_symbol('{', "in front of the event's fields");
    name_set names;
    while (!is_symbol('}')) {
        parse_field(made, names);
    }
    if (made.session_bound && made.fields.empty()) {
        reject("The first field of an event that belongs to a session is the session: u64.");
    }
    next();
    if (const std::size_t size = assign_offsets(made); size > fixed_size_max) {
        tokens_.reject(where, fmt::format("The fields of this event take {} bytes, more than the "
                                          "{} that a record holds. Use smaller arrays, or bytes.",
                                          size, fixed_size_max));
    }
    made_.schema.events.push_back(std::move(made));
}

/// LEVEL [KIND] [session] [cut] [[KEYWORDS]] [DESCRIPTION] [when MEANING]
void schema_parser::parse_event_words(event_schema& made) {
    const auto level =
        now_.kind == token_kind::word ? find_level(now_.text) : std::optional<eventlog::level>();
    if (!level) {
        reject(fmt::format("Behind an event's name stands its level, error, warn, info, verbose or "
                           "trace; not {}.",
                           describe(now_)));
    }
    made.severity = *level;
    next();
    if (const auto kind = now_.kind == token_kind::word ? find_kind(now_.text)
                                                        : std::optional<eventlog::kind>()) {
        made.kind = *kind;
        next();
    }
    made.session_bound = take_word("session");
    made.cuts_texts = take_word("cut");
    if (take_symbol('[')) {
        parse_event_keywords(made);
    }
    made.description = take_description();
    if (take_word("when")) {
        made.meaning = expect_text("when the event is logged");
    }
    if (!is_symbol('{')) {
        reject(
            fmt::format("Behind the level of an event stand, in this order and if there are any: "
                        "a kind (instant, begin, end, counter, session_begin, session_end, "
                        "dump_complete), session, cut, [KEYWORDS], \"DESCRIPTION\", when "
                        "\"MEANING\"; then '{{'. This is {}.",
                        describe(now_)));
    }
}

void schema_parser::parse_event_keywords(event_schema& made) {
    do {
        const text_position where = now_.where;
        const std::string name = expect_name("a keyword");
        const auto& all = made_.schema.keywords;
        const auto found = std::find_if(
            all.begin(), all.end(), [&](const auto& keyword) { return keyword.second == name; });
        if (found == all.end()) {
            tokens_.reject(where,
                           fmt::format("There is no keyword {} above. Declare it: keyword {} "
                                       "= BIT.",
                                       name, name));
        }
        const std::uint64_t bit = std::uint64_t{1} << found->first;
        if ((made.keywords & bit) != 0) {
            tokens_.reject(where, fmt::format("The event has the keyword {} already.", name));
        }
        made.keywords |= bit;
    } while (take_symbol(','));
    expect_symbol(']', "behind the keywords");
}

/// NAME : TYPE [as ENUMERATION] [[COUNT]] [?] [format FORMAT] [unit UNIT] [DESCRIPTION]
void schema_parser::parse_field(event_schema& made, name_set& names) {
    const text_position where = now_.where;
    field_schema field;
    field.name = expect_unique_name("a field", names);
    if (made.fields.size() == eventlog::fields_max) {
        tokens_.reject(where, "An event has up to 100 fields. Split it in two.");
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
    const text_position where = now_.where;
    if (now_.kind == token_kind::word) {
        if (const auto type = find_type(now_.text)) {
            made.type = type->type;
            made.count = type->count;
            made.format = type->format;
            next();
            if (take_word("as")) {
                const text_position name = now_.where;
                if (!eventlog::is_integer(made.type) || made.count != 1) {
                    tokens_.reject(where, "Only an integer can be shown as an enumeration.");
                }
                made.enumeration = need_enumeration(made.type, name);
            }
            return;
        }
        if (const auto found = find_enumeration(now_.text)) {
            made.enumeration = *found;
            made.type = enumeration_types_[made.enumeration];
            next();
            return;
        }
    }
    reject(fmt::format("A field's type is {}, or an enumeration that is declared above; not {}.",
                       list_types(), describe(now_)));
}

std::optional<std::uint16_t> schema_parser::find_enumeration(std::string_view label) const {
    const auto& all = enumeration_labels_;
    const auto found = std::find(all.begin(), all.end(), label);
    return found == all.end() ? std::nullopt
                              : std::optional(static_cast<std::uint16_t>(found - all.begin()));
}

/// The enumeration of an `as`, whose values must fit `type`, which may differ from its own.
std::uint16_t schema_parser::need_enumeration(field_type type, text_position where) {
    const std::string name = expect_name("an enumeration");
    const std::optional<std::uint16_t> index = find_enumeration(name);
    if (!index) {
        tokens_.reject(where, fmt::format("There is no enumeration {} above.", name));
    }
    for (const auto& [value, value_name] : made_.schema.enumerations[*index].values) {
        const bool negative = is_signed(enumeration_types_[*index]) && (value >> 63U) != 0;
        if (!fits(type, negative, negative ? ~value + 1 : value)) {
            tokens_.reject(where, fmt::format("The value {} of the enumeration {} does not fit {}.",
                                              value_name, name, name_of(type)));
        }
    }
    return *index;
}

void schema_parser::parse_count(field_schema& made) {
    const text_position where = now_.where;
    if (!take_symbol('[')) {
        return;
    }
    if (made.type == field_type::text || made.type == field_type::bytes || made.count != 1) {
        tokens_.reject(where, "There are no arrays of text, bytes, ip4, ip6 and mac.");
    }
    const token count = expect_number("the number of elements");
    if (count.negative || count.magnitude < 2 || count.magnitude > 0xfff0) {
        tokens_.reject(count.where, "An array has 2 to 65520 elements.");
    }
    expect_symbol(']', "behind the number of elements");
    made.count = static_cast<std::uint16_t>(count.magnitude);
}

void schema_parser::parse_field_words(field_schema& made) {
    // A word that a colon follows is the next field's name.
    const auto colon_follows = [&] {
        return after_.kind == token_kind::symbol && after_.text == ":";
    };
    if (is_word("format") && !colon_follows()) {
        next();
        const auto format = now_.kind == token_kind::word ? find_format(now_.text) : std::nullopt;
        if (!format) {
            reject(fmt::format("A format is {}; not {}.", list_formats(), describe(now_)));
        }
        if (!eventlog::format_fits(*format, made.type, made.count) ||
            made.format != eventlog::format::plain) {
            reject(fmt::format("The format {} does not go with the type of {}.", now_.text,
                               made.name));
        }
        made.format = *format;
        next();
    }
    if (is_word("unit") && !colon_follows()) {
        if (!eventlog::takes_unit(made.type)) {
            reject(fmt::format("Only numbers have a unit, and {} is none. Say it in the "
                               "description.",
                               made.name));
        }
        next();
        made.unit = expect_text("a unit");
    }
    made.description = take_description();
    if (!is_symbol('}') && (now_.kind != token_kind::word || !colon_follows())) {
        reject(
            fmt::format("Behind a field's type stand, in this order and if there are any: [COUNT],"
                        " ?, format FORMAT, unit \"UNIT\", \"DESCRIPTION\"; then the next field, "
                        "NAME: TYPE, or '}}'. This is {}.",
                        describe(now_)));
    }
}

void schema_parser::check_field(const field_schema& made, const event_schema& event,
                                text_position where) const {
    const bool is_session = made.type == field_type::unsigned_64 && made.count == 1 &&
                            made.presence == eventlog::no_index;
    if (event.session_bound && event.fields.empty() && !is_session) {
        tokens_.reject(where,
                       "The first field of an event that belongs to a session is the session: u64, "
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
    return schema_parser(std::move(file), text).parse();
}

}  // namespace elog
