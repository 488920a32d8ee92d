// SPDX-License-Identifier: MIT
//
// Implements elog/event.hpp on the data of event_info.hpp.
#include <algorithm>

#include <elog/event.hpp>

#include "event_info.hpp"

namespace elog {

std::string_view field::name() const noexcept {
    return known_->schema->name;
}

std::string_view field::type() const noexcept {
    return name_of(known_->schema->type);
}

std::string_view field::unit() const noexcept {
    return known_->schema->unit;
}

std::string_view field::description() const noexcept {
    return known_->schema->description;
}

std::size_t field::size() const noexcept {
    return known_->schema->count;
}

bool field::is_optional() const noexcept {
    return known_->schema->presence != schema_format::no_index;
}

std::string_view event::provider() const noexcept {
    return known_->provider->schema.name;
}

std::string_view event::name() const noexcept {
    return known_->schema->name;
}

std::string_view event::description() const noexcept {
    return known_->schema->description;
}

std::string_view event::when() const noexcept {
    return known_->schema->when;
}

elog::level event::level() const noexcept {
    return static_cast<elog::level>(known_->schema->severity);
}

bool event::has_keyword(std::string_view name) const noexcept {
    const auto& keywords = known_->provider->schema.keywords;
    return std::any_of(keywords.begin(), keywords.end(), [&](const auto& keyword) {
        return keyword.second == name && (known_->schema->keywords >> keyword.first & 1U) != 0;
    });
}

std::size_t event::size() const noexcept {
    return known_->fields.size();
}

field event::operator[](std::size_t index) const noexcept {
    return elog::field(known_->fields[index]);
}

std::optional<std::size_t> event::find(std::string_view field) const noexcept {
    for (std::size_t index = 0; index < known_->fields.size(); ++index) {
        if (known_->fields[index].schema->name == field) {
            return index;
        }
    }
    return std::nullopt;
}

}  // namespace elog
