// SPDX-License-Identifier: MIT
#include "text/json_object.hpp"

#include "text/json_text.hpp"

namespace elog {

json_object& json_object::add_raw(const char* name, std::string_view value) {
    members_ += members_.empty() ? "\"" : ",\"";
    members_ += name;
    members_ += "\":";
    members_ += value;
    return *this;
}

json_object& json_object::add_text(const char* name, std::string_view value) {
    fmt::memory_buffer text;
    append_json_text(text, value);
    return add_raw(name, {text.data(), text.size()});
}

json_object& json_object::add(const char* name, double value) {
    fmt::memory_buffer text;
    append_json_number(text, value);
    return add_raw(name, {text.data(), text.size()});
}

json_object& json_object::add(const char* name, const std::vector<std::string>& values) {
    fmt::memory_buffer text;
    for (const std::string& value : values) {
        text.push_back(text.size() == 0 ? '[' : ',');
        append_json_text(text, value);
    }
    text.push_back(']');
    return add_raw(name, values.empty() ? std::string_view("[]")
                                        : std::string_view(text.data(), text.size()));
}

json_object& json_object::add(const char* name, const std::vector<json_object>& values) {
    std::string text;
    for (const json_object& value : values) {
        text += text.empty() ? '[' : ',';
        text += value.text();
    }
    return add_raw(name, values.empty() ? "[]" : text + ']');
}

json_object& json_object::add_members(const json_object& other) {
    members_ += members_.empty() || other.members_.empty() ? "" : ",";
    members_ += other.members_;
    return *this;
}

}  // namespace elog
