// SPDX-License-Identifier: MIT
//
// A question in one line, in the syntax of other tracers: events, a predicate, and an action:
//
//     shop:order_placed /items > 2/ { @[customer] = count(), quantize(items); trunc(@, 5) }
//
// It is converted to the words of `elog record` or `elog agg`, which parse predicate and
// aggregation. elog(1) is the specification.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace elog {

inline constexpr std::size_t one_liner_size_max = 8192;

struct one_liner {
    std::vector<std::string> patterns;
    std::string predicate;    // empty: all events
    std::string aggregation;  // empty: events are printed

    /// Throws user_error: one-liner, column N: reason.
    [[nodiscard]] static one_liner parse(std::string_view text);

    /// The equivalent command and its arguments.
    [[nodiscard]] std::vector<std::string> words() const;
};

}  // namespace elog
