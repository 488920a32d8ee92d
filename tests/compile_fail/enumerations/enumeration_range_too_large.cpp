// SPDX-License-Identifier: MIT
//
// expect: has more than 4096 values, each of which the compiler tries. Write the smaller value first, or list the values in .values.
#include <cstdint>
#include <limits>

#include <eventlog/eventlog.hpp>

enum class status : std::int64_t { ok = 200 };
consteval auto describe(eventlog::of<status>) {
    return eventlog::enum_info{.range = {std::numeric_limits<std::int64_t>::min(),
                                         std::numeric_limits<std::int64_t>::max()}};
}
struct answered {
    status result;
};

void emit_it() {
    eventlog::provider<"bad", answered>::emit(answered{status::ok});
}
