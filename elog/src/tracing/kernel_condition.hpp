// SPDX-License-Identifier: MIT
//
// Translates as much of a predicate as possible into the kernel's filter language (events.rst of
// Linux), so that events it rejects need not be read.
//
// - The condition is true for every event that the predicate accepts; elog filters the rest again.
// - A test that the kernel cannot express, or would evaluate differently, becomes true. Texts are
//   compared for equality only, because the kernel ends them at their first NUL; numbers only
//   within the range of the field's type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <eventlog/schema_format.hpp>

#include "predicate/compiled_predicate.hpp"

namespace elog {

/// A field known to the kernel, and its offset in the payload.
struct kernel_field {
    std::string name;
    eventlog::field_type type{};
    std::uint16_t count = 1;
    std::uint32_t offset = 0;
};

struct kernel_condition {
    std::string text;       // empty: none, all events match
    bool is_whole = false;  // true for exactly the same events as the predicate
    bool never_matches =
        false;  // the predicate is false for all events, which the filter language cannot express
    /// Why the condition is not whole, as a sentence without its end, and the column of the
    /// predicate where that part begins; 0: unknown.
    std::string reason{};
    std::size_t column = 0;
};

[[nodiscard]] kernel_condition make_kernel_condition(const folded_predicate& wanted,
                                                     const std::vector<kernel_field>& fields);

}  // namespace elog
