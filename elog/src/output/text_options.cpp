// SPDX-License-Identifier: MIT
#include "output/text_options.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "predicate/expression_lexer.hpp"
#include "text/did_you_mean.hpp"

namespace elog {

line_name_check::line_name_check(const text_options& options, event_choice chosen)
    : fields_(options.fields), line_(options.line), chosen_(std::move(chosen)) {}

void line_name_check::add(const provider_schema& provider) {
    if (!fields_ && !line_) {
        return;
    }
    for (const event_schema& event : provider.events) {
        if (chosen_ && !chosen_(provider, event)) {
            continue;
        }
        has_events_ = true;
        has_sessions_ = has_sessions_ || event.session_bound;
        for (const field_schema& field : event.fields) {
            names_.insert(field.name);
        }
    }
}

/// `words` are further candidates for a suggestion.
void line_name_check::check(std::string_view option, const named_field& field,
                            const std::vector<std::string_view>& words) const {
    if (names_.contains(field.name)) {
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

void line_name_check::check() const {
    if (!has_events_) {
        return;
    }
    if (fields_) {
        for (const named_field& field : *fields_) {
            check("--fields", field, {});
        }
    }
    if (!line_) {
        return;
    }
    for (const line_part& part : line_->parts()) {
        if (part.kind == line_part_kind::field) {
            check("--format", part.field, line_template::variable_names());
        } else if (part.kind == line_part_kind::session && !has_sessions_) {
            reject_expression("--format", part.field.column, "No event belongs to a session.");
        }
    }
}

void check_fields(const text_options& options, const provider_map& providers) {
    line_name_check names(options);
    for (const auto& [id, provider] : providers) {
        names.add(provider.schema);
    }
    names.check();
}

}  // namespace elog
