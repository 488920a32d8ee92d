// SPDX-License-Identifier: MIT
#include "output/text_options.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include <fmt/core.h>

#include "predicate/expression_lexer.hpp"
#include "text/did_you_mean.hpp"

namespace elog {
namespace {

class known_field_names {
  public:
    explicit known_field_names(const provider_map& providers) {
        for (const auto& [id, provider] : providers) {
            for (const event_schema& event : provider.schema.events) {
                add(event);
            }
        }
    }

    /// `words` are further candidates for a suggestion.
    void check(std::string_view option, const named_field& field,
               const std::vector<std::string_view>& words) const {
        if (!has_events_ || names_.contains(field.name)) {
            return;
        }
        std::vector<std::string_view> known(names_.begin(), names_.end());
        // Such a word with a leading point was written as a field on purpose.
        std::copy_if(words.begin(), words.end(), std::back_inserter(known),
                     [&](std::string_view word) { return word != field.name; });
        const std::string advice = did_you_mean(field.name, known);
        reject_expression(
            option, field.column,
            fmt::format("No event has a field '{}'.{}", field.name,
                        advice.empty() ? " See which there are with: elog schema show" : advice));
    }

    [[nodiscard]] bool has_sessions() const noexcept { return has_sessions_ || !has_events_; }

  private:
    void add(const event_schema& event) {
        has_events_ = true;
        has_sessions_ = has_sessions_ || event.session_bound;
        for (const field_schema& field : event.fields) {
            names_.insert(field.name);
        }
    }

    std::set<std::string_view> names_;
    bool has_events_ = false;
    bool has_sessions_ = false;
};

}  // namespace

void check_fields(const text_options& options, const provider_map& providers) {
    const known_field_names names(providers);
    if (options.fields) {
        for (const named_field& field : *options.fields) {
            names.check("--fields", field, {});
        }
    }
    if (!options.line) {
        return;
    }
    for (const line_part& part : options.line->parts()) {
        if (part.kind == line_part_kind::field) {
            names.check("--format", part.field, line_template::variable_names());
        } else if (part.kind == line_part_kind::session && !names.has_sessions()) {
            reject_expression("--format", part.field.column, "No event belongs to a session.");
        }
    }
}

}  // namespace elog
