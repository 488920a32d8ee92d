// SPDX-License-Identifier: MIT
//
// The way in which tracers are asked, in one line: which events, of which of them, and what to do:
//
//     shop:order_placed /items > 2/ { @[customer] = count(), quantize(items); trunc(@, 5) }
//
// It is another way to write what elog record and elog agg are asked, and nothing more: elog(1) is
// the specification, and predicates and aggregations are taken apart where they always are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace elog {

struct one_liner {
    std::vector<std::string> patterns;
    std::string predicate;    // empty: all of them
    std::string aggregation;  // empty: shown as lines

    /// Throws failure: one-liner, column N: reason.
    [[nodiscard]] static one_liner parse(std::string_view text);

    /// The command that means the same, and its arguments.
    [[nodiscard]] std::vector<std::string> words() const;
};

}  // namespace elog
