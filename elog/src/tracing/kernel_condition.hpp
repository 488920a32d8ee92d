// SPDX-License-Identifier: MIT
//
// As much of a predicate as the kernel can ask of a trace event, in the words of its filter (see
// Linux' events.rst): what it leaves out nobody has to read.
//
// It is true for whatever the predicate is true for. Where the kernel cannot ask what the predicate
// does, it asks nothing; where it would understand something else, that counts as cannot: texts it
// only compares for equality, as it takes them to end at their first NUL, and numbers only as far
// as the field's type goes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <eventlog/schema_format.hpp>

#include "predicate/compiled_predicate.hpp"

namespace elog {

/// A field that the kernel knows, and where a payload of ours has it.
struct kernel_field {
    std::string name;
    eventlog::field_type type{};
    std::uint16_t count = 1;
    std::uint32_t offset = 0;
};

struct kernel_condition {
    std::string text;       // empty: none, all events come
    bool is_whole = false;  // it is true for nothing else
    bool never_matches =
        false;  // the predicate is true for nothing, for which the kernel has no words
    /// Why the kernel cannot ask all of it, as a sentence without its end, and where in the
    /// predicate what it cannot ask begins; 0: no place in it.
    std::string reason{};
    std::size_t column = 0;
};

[[nodiscard]] kernel_condition make_kernel_condition(const folded_predicate& wanted,
                                                     const std::vector<kernel_field>& fields);

}  // namespace elog
