// SPDX-License-Identifier: MIT
//
// expect: this event refers to text or bytes, which may not live until the end
#include <cstdint>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct statement {
    std::string_view sql;
    std::uint32_t rows;
};
using bad = eventlog::provider<"bad", eventlog::timed<statement>>;

void run() {
    auto scope = bad::time(statement{"select 1", 1});
    scope.cancel();
}
