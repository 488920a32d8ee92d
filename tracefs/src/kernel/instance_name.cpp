// SPDX-License-Identifier: MIT
#include "kernel/instance_name.hpp"

#include <charconv>
#include <system_error>

#include <fmt/core.h>

namespace eventlog::tracefs {
namespace {

constexpr std::string_view prefix = "eventlog-";

/// Removes a number and the dash behind it.
template <class Number>
bool take_number(std::string_view& text, Number& number) {
    const auto [end, mistake] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (mistake != std::errc{}) {
        return false;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.starts_with('-')) {
        text.remove_prefix(1);
        return !text.empty();
    }
    return text.empty();
}

}  // namespace

std::string instance_name(const core::process_identity& owner) {
    return fmt::format("{}{}-{}-{}", prefix, owner.pid, owner.start_time, owner.pid_namespace);
}

std::optional<core::process_identity> instance_owner(std::string_view name) {
    if (!name.starts_with(prefix)) {
        return std::nullopt;
    }
    std::string_view rest = name.substr(prefix.size());
    core::process_identity owner;
    const bool is_ours = take_number(rest, owner.pid) && take_number(rest, owner.start_time) &&
                         take_number(rest, owner.pid_namespace);
    // A different spelling was not written by this library.
    if (!is_ours || instance_name(owner) != name) {
        return std::nullopt;
    }
    return owner;
}

}  // namespace eventlog::tracefs
