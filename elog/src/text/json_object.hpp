// SPDX-License-Identifier: MIT
//
// Builds a JSON object that a command prints as one line.
#pragma once

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace elog {

/// Version of all JSON output: the first member of each object that a command writes, but for
/// events and losses in JSON Lines. It increases when a member changes its name, type or meaning or
/// is removed; see elog-json(5).
inline constexpr int json_version = 1;

class json_object {
  public:
    // Members keep the order in which they are added. Names must need no escaping. Values are
    // untrusted: bytes that are not UTF-8 become U+FFFD.
    template <std::convertible_to<std::string_view> Text>
    json_object& add(const char* name, const Text& value) {
        return add_text(name, value);
    }
    json_object& add(const char* name, bool value) {
        return add_raw(name, value ? "true" : "false");
    }
    template <std::integral Number>
    json_object& add(const char* name, Number value) {
        return add_raw(name, std::to_string(value));
    }
    /// null for a number that is not finite.
    json_object& add(const char* name, double value);
    json_object& add(const char* name, const json_object& value) {
        return add_raw(name, value.text());
    }
    json_object& add(const char* name, const std::vector<std::string>& values);
    json_object& add(const char* name, const std::vector<json_object>& values);
    /// null for nullopt.
    template <class Value>
    json_object& add(const char* name, const std::optional<Value>& value) {
        return value ? add(name, *value) : add_raw(name, "null");
    }

    /// Adds the members of another object.
    json_object& add_members(const json_object& other);

    [[nodiscard]] std::string text() const { return "{" + members_ + "}"; }
    [[nodiscard]] std::string line() const { return "{" + members_ + "}\n"; }

  private:
    json_object& add_text(const char* name, std::string_view value);
    json_object& add_raw(const char* name, std::string_view value);

    std::string members_;
};

/// An object for the output of a command, which begins with the version.
[[nodiscard]] inline json_object versioned_object() {
    return json_object().add("version", json_version);
}

}  // namespace elog
