// SPDX-License-Identifier: MIT
//
// The two views of the checks: requirements for elog doctor, features for its --all.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/check.hpp"

namespace elog::doctor {

struct named_check {
    const char* name;
    check_result (*run)(const machine_facts& machine);
};

struct check_view {
    finding check_result::*row;
    std::span<const named_check> checks;  // in the order of the rows
    std::array<const char*, 3> states;    // by check_state
    const char* list;                     // names of JSON members
    std::array<const char*, 4> members;   // name, state, text and repair
    bool shows_root;

    [[nodiscard]] const char* name_of(check_state state) const noexcept {
        return states[static_cast<std::size_t>(state)];
    }
};

extern const check_view requirements_view;
extern const check_view features_view;

/// Runs the checks of a view.
[[nodiscard]] std::vector<finding> find_rows(const check_view& shown);

/// One JSON object with the rows as a list. `head`: members in front of it, each on a line.
[[nodiscard]] std::string rows_as_json(const check_view& shown, const std::vector<finding>& rows,
                                       std::string_view head = {});

}  // namespace elog::doctor
