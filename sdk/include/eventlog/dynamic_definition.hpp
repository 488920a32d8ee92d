// SPDX-License-Identifier: MIT
//
// eventlog::definition: builds the definition of a dynamic provider step by step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <eventlog/detail/enum_names.hpp>
#include <eventlog/detail/fields.hpp>
#include <eventlog/eventlog.h>
#include <eventlog/metadata.hpp>
#include <eventlog/schema_format.hpp>

namespace eventlog {
inline namespace v0 {

/// An enumeration that definition_builder::enumeration has added; for fields of that builder.
struct enumeration_id {
    std::size_t index = 0;
};

/// One value of an enumeration and its name.
struct named_number {
    std::string_view name{};
    std::int64_t value = 0;
};

/// Properties of a field. Members that are left out have their defaults.
struct field_options {
    bool optional = false;
    std::string_view unit{};
    std::string_view description{};
    eventlog::format format = eventlog::format::plain;  // plain: the default of the type
    std::optional<enumeration_id> enumeration{};        // instead of that of a C++ enumeration
};

/// Properties of an event, as in event_info. EVENTLOG_HERE sets the last two.
struct event_options {
    eventlog::level level = eventlog::level::info;
    std::uint64_t keywords = 0;
    std::string_view description{};
    std::string_view when{};
    eventlog::kind kind = eventlog::kind::instant;
    bool session_bound = false;
    eventlog::oversize oversize = eventlog::oversize::drop;
    std::string_view file{};
    std::uint32_t line = 0;
};

/// Collects a definition and owns its texts:
///
///     enum class payment { card, cash };
///
///     const auto shop = eventlog::definition("shop")
///                           .event("order_placed", {.description = "A customer orders"})
///                           .field<std::uint64_t>("order")
///                           .field<std::string_view>("customer", {.optional = true})
///                           .field<payment>("paid_with")
///                           .event("closed");
///     const eventlog::dynamic_provider provider(shop);
///     provider.emit(0, std::uint64_t{17}, "ann", payment::cash);
///
/// The events are numbered from 0 in the order in which they are added. The schema equals that of
/// the same provider in C++. Nothing is checked here: dynamic_provider::error() reports mistakes.
/// Functions may throw std::bad_alloc.
class [[nodiscard]] definition_builder {
  public:
    explicit definition_builder(std::string_view name) : name_(to_text(name)) {}

    definition_builder& description(std::string_view text) {
        description_ = to_text(text);
        return *this;
    }

    /// Sets the line of the program that declares the provider: `.source(__FILE__, __LINE__)`.
    definition_builder& source(std::string_view file, std::uint32_t line) {
        file_ = to_text(file);
        line_ = line;
        return *this;
    }

    /// Names a group of events, whose bit events have in their keywords: 1 << bit.
    definition_builder& keyword(std::string_view name, unsigned bit) {
        keywords_.push_back({to_text(name), bit});
        return *this;
    }
    definition_builder& keyword(const eventlog::keyword& word) {
        return keyword(word.name, word.bit);
    }

    /// Adds an enumeration whose values are known at run time only.
    [[nodiscard]] enumeration_id enumeration(std::string_view name,
                                             const std::vector<named_number>& values,
                                             bool is_bitmask = false) {
        enumerations_.push_back({to_text(name), {}, is_bitmask, {}, {}});
        for (const named_number& value : values) {
            enumerations_.back().values.push_back({to_text(value.name), value.value});
        }
        return {enumerations_.size() - 1};
    }

    /// Adds an event. The next fields are its fields.
    definition_builder& event(std::string_view name, const event_options& options = {}) {
        eventlog_event_definition plain{};
        plain.level = static_cast<std::uint32_t>(options.level);
        plain.kind = static_cast<std::uint32_t>(options.kind);
        plain.keywords = options.keywords;
        plain.session_bound = options.session_bound;
        plain.truncates = options.oversize == oversize::truncate;
        plain.line = options.line;
        events_.push_back({to_text(name),
                           to_text(options.description),
                           to_text(options.when),
                           to_text(options.file),
                           plain,
                           {},
                           {}});
        return *this;
    }

    /// Adds an event for dynamic_provider::time: its first field is the duration.
    definition_builder& timed_event(std::string_view name, event_options options = {}) {
        options.kind = kind::end;
        event(name, options);
        const eventlog_field_definition duration = EVENTLOG_DURATION_FIELD;
        events_.back().fields.push_back({duration.name, {}, {}, duration, none});
        return *this;
    }

    /// Adds a field to the last event. Type is the type of a member of an event in C++. Names of a
    /// C++ enumeration are found at compile time, or described as there.
    template <class Type>
    definition_builder& field(std::string_view name, const field_options& options = {}) {
        static_assert(detail::leaf_field<Type>,
                      "eventlog: a field of a dynamic event needs a type that is a single field: a "
                      "number, bool, char, text, bytes, enumeration, std::array, span or optional. "
                      "Add the members of a struct one by one.");
        constexpr const detail::field_kind& kind = detail::kind_of<Type>;
        eventlog_field_definition plain{};
        plain.type = static_cast<std::uint32_t>(kind.type);
        plain.count = static_cast<std::uint32_t>(kind.count);
        plain.is_sequence = kind.count == 0;
        plain.format = static_cast<std::uint32_t>(options.format == format::plain ? kind.shown
                                                                                  : options.format);
        plain.optional = options.optional || kind.optional;
        std::size_t enumeration = none;
        if (options.enumeration) {
            enumeration = options.enumeration->index;
        } else if constexpr (kind.is_enumeration) {
            enumeration = enumeration_of(*kind.enumeration, kind.enumeration_identity);
        }
        if (events_.empty()) {
            event("");  // rejected as an event without a name
        }
        events_.back().fields.push_back({to_text(name), to_text(options.unit),
                                         to_text(options.description), plain, enumeration});
        return *this;
    }

    /// Adds session_begin and session_end, as a provider in C++ has them behind its events.
    definition_builder& sessions() {
        return add(EVENTLOG_SESSION_BEGIN_EVENT).add(EVENTLOG_SESSION_END_EVENT);
    }
    /// Adds state_complete, for on_new_listener; the last event of a provider in C++.
    definition_builder& replays_state() { return add(EVENTLOG_STATE_COMPLETE_EVENT); }

    /// The definition. It refers to this object, until that changes or ends. The call writes to the
    /// object, so one thread at a time may make it.
    [[nodiscard]] const eventlog_definition& get() const;
    /// get(), for dynamic_provider and eventlog_provider_create.
    operator const eventlog_definition&() const { return get(); }

  private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    struct described_field {
        std::string name;
        std::string unit;
        std::string description;
        eventlog_field_definition plain;
        std::size_t enumeration;
    };
    struct described_event {
        std::string name;
        std::string description;
        std::string when;
        std::string file;
        eventlog_event_definition plain;
        std::vector<described_field> fields;
        mutable std::vector<eventlog_field_definition> list;
    };
    struct described_value {
        std::string name;
        std::int64_t value;
    };
    struct described_enumeration {
        std::string name;
        std::string_view identity;  // of a C++ enumeration
        bool is_bitmask;
        std::vector<described_value> values;
        mutable std::vector<eventlog_value_definition> list;
    };
    struct described_keyword {
        std::string name;
        std::uint32_t bit;
    };
    /// The structs of C that get() returns.
    struct plain_lists {
        std::vector<eventlog_keyword_definition> keywords;
        std::vector<eventlog_enumeration_definition> enumerations;
        std::vector<eventlog_event_definition> events;
        eventlog_definition definition;
    };

    /// A text of C cannot have a NUL. Replaced, it is visible in a description, and rejected in a
    /// name.
    static std::string to_text(std::string_view text) {
        std::string made(text);
        for (std::size_t at = made.find('\0'); at != std::string::npos; at = made.find('\0', at)) {
            made.replace(at, 1, "\xef\xbf\xbd");
        }
        return made;
    }

    /// Adds one of the events that the library defines.
    definition_builder& add(const eventlog_event_definition& event) {
        events_.push_back({event.name, event.description, event.when, {}, event, {}, {}});
        return *this;
    }

    std::size_t enumeration_of(const detail::enum_description& described,
                               std::string_view identity) {
        for (std::size_t i = 0; i < enumerations_.size(); ++i) {
            if (enumerations_[i].identity == identity) {
                return i;
            }
        }
        enumerations_.push_back(
            {std::string(described.name), identity, described.is_bitmask, {}, {}});
        for (std::size_t i = 0; i < described.value_count; ++i) {
            enumerations_.back().values.push_back(
                {std::string(described.values[i].name), described.values[i].value});
        }
        return enumerations_.size() - 1;
    }

    void list_enumerations() const;
    void list_fields(const described_event& event) const;

    std::string name_;
    std::string description_;
    std::string file_;
    std::uint32_t line_ = 0;
    std::vector<described_keyword> keywords_;
    std::vector<described_enumeration> enumerations_;
    std::vector<described_event> events_;
    mutable plain_lists lists_{};
};

inline void definition_builder::list_enumerations() const {
    lists_.enumerations.clear();
    for (const described_enumeration& described : enumerations_) {
        described.list.clear();
        for (const described_value& value : described.values) {
            described.list.push_back({value.name.c_str(), value.value});
        }
        lists_.enumerations.push_back({described.name.c_str(), described.list.data(),
                                       static_cast<std::uint32_t>(described.list.size()),
                                       described.is_bitmask});
    }
}

inline void definition_builder::list_fields(const described_event& event) const {
    // Of another builder; rejected as an enumeration without a name.
    static constexpr eventlog_enumeration_definition unknown{};
    event.list.clear();
    for (const described_field& field : event.fields) {
        eventlog_field_definition plain = field.plain;
        plain.name = field.name.c_str();
        plain.unit = field.unit.c_str();
        plain.description = field.description.c_str();
        if (field.enumeration != none) {
            plain.enumeration = field.enumeration < lists_.enumerations.size()
                                    ? &lists_.enumerations[field.enumeration]
                                    : &unknown;
        }
        event.list.push_back(plain);
    }
}

inline const eventlog_definition& definition_builder::get() const {
    list_enumerations();
    lists_.keywords.clear();
    for (const described_keyword& word : keywords_) {
        lists_.keywords.push_back({word.name.c_str(), word.bit});
    }
    lists_.events.clear();
    for (const described_event& event : events_) {
        list_fields(event);
        eventlog_event_definition plain = event.plain;
        plain.name = event.name.c_str();
        plain.description = event.description.c_str();
        plain.when = event.when.c_str();
        plain.fields = event.list.data();
        plain.field_count = static_cast<std::uint32_t>(event.list.size());
        plain.file = event.file.c_str();
        lists_.events.push_back(plain);
    }
    lists_.definition = {EVENTLOG_DEFINITION_SIZES,
                         .name = name_.c_str(),
                         .description = description_.c_str(),
                         .keywords = lists_.keywords.data(),
                         .keyword_count = static_cast<std::uint32_t>(lists_.keywords.size()),
                         .events = lists_.events.data(),
                         .event_count = static_cast<std::uint32_t>(lists_.events.size()),
                         .file = file_.c_str(),
                         .line = line_};
    return lists_.definition;
}

/// Begins the definition of a provider; see definition_builder.
inline definition_builder definition(std::string_view name) {
    return definition_builder(name);
}

}  // namespace v0
}  // namespace eventlog
