// SPDX-License-Identifier: MIT
//
// expect: which may not live until the end of the timed scope. Pass a callable that returns
#include <cstdint>
#include <string>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct query {
    std::string_view sql;
    std::uint32_t rows;
};
using web_shop = eventlog::provider<"web_shop", eventlog::timed<query>>;

void run(const std::string& table) {
    auto scope = web_shop::time(query{"select * from " + table, 0});
    scope.event().rows = 3;
}
