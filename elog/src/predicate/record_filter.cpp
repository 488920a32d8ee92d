// SPDX-License-Identifier: MIT
#include "predicate/record_filter.hpp"

#include <optional>
#include <utility>

#include "text/did_you_mean.hpp"

namespace elog {

void known_names::add(const provider_schema& provider, const event_schema& event) {
    providers_.insert(provider.name);
    events_.insert(event.name);
    qualified_events_.insert(fmt::format("{}:{}", provider.name, event.name));
    for (const field_schema& field : event.fields) {
        fields_.insert(field.name);
        if (field.enumeration < provider.enumerations.size()) {
            for (const auto& [value, name] : provider.enumerations[field.enumeration].values) {
                values_.try_emplace(name, field.name);
            }
        }
    }
}

void known_names::reject(std::string_view source, const field_reference& unknown) const {
    if (unknown.name == "session" && !unknown.field_only) {
        reject_expression(source, unknown.column, "No event belongs to a session.");
    }
    if (const auto value = values_.find(unknown.name); value != values_.end()) {
        reject_expression(
            source, unknown.column,
            fmt::format("'{0}' is a value of '{1}', not a field: write {1} == {0}, and "
                        "|| between several values. Texts need double quotes.",
                        unknown.name, value->second));
    }
    std::vector<std::string_view> names(fields_.begin(), fields_.end());
    for (const auto& [name, field] : values_) {
        names.emplace_back(name);
    }
    if (!unknown.field_only) {
        names.insert(names.end(), built_in_names().begin(), built_in_names().end());
    }
    const std::string advice = did_you_mean(unknown.name, names);
    reject_expression(source, unknown.column,
                      fmt::format("No event has a field '{}'.{}", unknown.name,
                                  advice.empty() ? " Texts need double quotes; see the "
                                                   "fields with: elog list"
                                                 : advice));
}

std::optional<std::string> known_names::describe_unknown(std::string_view built_in,
                                                         std::string_view text) const {
    const bool is_event = built_in == "event";
    if (!is_event && built_in != "provider") {
        return std::nullopt;
    }
    const bool is_qualified = is_event && text.find(':') != std::string_view::npos;
    const name_set& known = is_qualified ? qualified_events_ : is_event ? events_ : providers_;
    if (known.contains(text)) {
        return std::nullopt;
    }
    return fmt::format("No {} has the name \"{}\".{}", built_in, text,
                       did_you_mean(text, {known.begin(), known.end()}));
}

record_filter::record_filter(predicate wanted, std::int64_t reference_time, event_choice chosen)
    : wanted_(std::move(wanted)),
      reference_time_(reference_time),
      chosen_(std::move(chosen)),
      known_(wanted_.nodes().size(), false) {}

void record_filter::add(const provider_instance& provider) {
    if (tests_.size() <= provider.id) {
        tests_.resize(std::size_t{provider.id} + 1);
    }
    std::vector<compiled_predicate>& tests = tests_[provider.id];
    tests.clear();
    mismatches_.begin_provider(provider.id);
    tests.reserve(provider.schema.events.size());
    const predicate_context context{wanted_, reference_time_, known_};
    std::optional<user_error> mistake;
    for (const event_schema& event : provider.schema.events) {
        if (chosen_ && !chosen_(provider.schema, event)) {
            tests.emplace_back();
            continue;
        }
        has_events_ = true;
        names_.add(provider.schema, event);
        try {
            tests.emplace_back(context, provider, event);
            if (!tests.back().never_matches()) {
                mismatches_.note_compatible(provider.schema, event);
            }
        } catch (const user_error& error) {
            mismatches_.note(provider, tests.size(), error);
            tests.emplace_back();
            mistake = mistake ? mistake : std::optional(error);
        }
    }
    if (mistake) {
        throw user_error(*mistake);
    }
}

void record_filter::check_names() const {
    if (!has_events_) {
        return;
    }
    for (std::size_t i = 0; i < known_.size(); ++i) {
        const predicate_node& node = wanted_.nodes()[i];
        if (node.kind == predicate_kind::name && !known_[i]) {
            names_.reject(wanted_.source(), node.place);
        }
    }
}

std::vector<std::string> record_filter::unknown_events() const {
    std::vector<std::string> found;
    if (!has_events_) {
        return found;
    }
    for (const predicate_node& node : wanted_.nodes()) {
        if (node.kind != predicate_kind::relation || node.how != comparison::equal) {
            continue;
        }
        for (std::size_t side = 0; side < 2; ++side) {
            const predicate_node& name = wanted_.nodes()[node.children[side]];
            const predicate_node& text = wanted_.nodes()[node.children[1 - side]];
            if (name.kind != predicate_kind::name || name.place.field_only ||
                text.kind != predicate_kind::text) {
                continue;
            }
            if (const auto unknown = names_.describe_unknown(name.place.name, text.value.text)) {
                found.push_back(expression_message(wanted_.source(), text.column, *unknown));
            }
        }
    }
    return found;
}

record_filter::verdict record_filter::verdict_of(std::uint32_t provider,
                                                 std::uint16_t event) const noexcept {
    const compiled_predicate* test = find(provider, event);
    if (test == nullptr || test->never_matches()) {
        return verdict::never;
    }
    return test->always_matches() ? verdict::always : verdict::depends;
}

}  // namespace elog
