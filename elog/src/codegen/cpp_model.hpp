// SPDX-License-Identifier: MIT
//
// A schema as a provider in C++: checks, names and types of the generated header.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "schema/schema_text.hpp"

namespace elog {

struct cpp_type {
    std::string name;
    eventlog::format format = eventlog::format::plain;  // the type's default
};

/// The entry of an event in the provider's list: eventlog::timed adds the duration, and both
/// wrappers imply the kind.
enum class cpp_wrapper { none, timed, gauge };

class cpp_model {
  public:
    /// Throws user_error, FILE:LINE:COLUMN: reason, for a schema that C++ cannot express. `source`
    /// must outlive this.
    explicit cpp_model(const located_schema& source);

    /// The schema without the events that the C++ library adds.
    [[nodiscard]] const provider_schema& schema() const noexcept { return schema_; }
    /// Whether one of these was state_complete.
    [[nodiscard]] bool replays_state() const noexcept { return replays_state_; }

    // Names, by the position of what they name.
    [[nodiscard]] const std::vector<std::string>& keywords() const noexcept { return keywords_; }
    [[nodiscard]] const std::vector<std::string>& events() const noexcept { return events_; }
    [[nodiscard]] const std::vector<std::string>& fields(std::size_t event) const {
        return fields_[event];
    }
    [[nodiscard]] const std::vector<std::string>& values(std::size_t enumeration) const {
        return values_[enumeration];
    }
    /// The namespace of an enumeration whose name occurs before; else empty.
    [[nodiscard]] const std::string& namespace_of_enumeration(std::size_t index) const {
        return enumeration_namespaces_[index];
    }
    /// The enumeration's name in any scope. It begins with ::, because a struct or an enumeration
    /// may have the provider's name.
    [[nodiscard]] std::string name_of_enumeration(std::size_t index) const;

    /// Whether the library finds values and names of the enumeration itself.
    [[nodiscard]] bool has_deducible_names(std::size_t index) const;
    [[nodiscard]] cpp_type type_of(const field_schema& field) const;
    /// The field_info of a field, empty if it needs none. `member` is its name in C++.
    [[nodiscard]] std::string field_info(const field_schema& field,
                                         const std::string& member) const;
    [[nodiscard]] cpp_wrapper wrapper_of(std::size_t id) const;
    /// The first field that is a member: the library adds the session and the duration.
    [[nodiscard]] std::size_t first_field(std::size_t id) const {
        return (schema_.events[id].session_bound ? 1U : 0U) +
               (wrapper_of(id) == cpp_wrapper::timed ? 1U : 0U);
    }

  private:
    void drop_implicit_events();
    void check_name(std::string_view name, text_position where) const;
    void check_text(std::string_view text, text_position where) const;
    void check_enumerations() const;
    void check_event(std::size_t id) const;
    void assign_names();

    const located_schema& source_;
    provider_schema schema_;
    bool replays_state_ = false;
    std::vector<std::string> keywords_;
    std::vector<std::string> enumeration_namespaces_;
    std::vector<std::vector<std::string>> values_;
    std::vector<std::string> events_;
    std::vector<std::vector<std::string>> fields_;
};

/// std::uint32_t, ...
[[nodiscard]] std::string cpp_integer(eventlog::field_type type);

/// A string literal with the same bytes.
[[nodiscard]] std::string cpp_literal(std::string_view text);

}  // namespace elog
