// SPDX-License-Identifier: MIT
//
// Timed scopes: one event with the duration, at the end; nested, and ended by another thread.
#include <cstdint>
#include <string_view>
#include <thread>
#include <utility>

#include <eventlog/eventlog.hpp>

struct page {
    std::uint32_t items;
};
struct query {
    std::string_view sql;
    std::uint32_t rows;
};
using web_shop = eventlog::provider<"web_shop", eventlog::timed<page>, eventlog::timed<query>>;

static std::uint32_t run(std::string_view sql) {
    std::uint32_t rows = 0;
    // An event with texts is made at the end, by a callable.
    const auto scope = web_shop::time([&] { return query{sql, rows}; });
    rows = 3;
    return rows;
}

int main() {
    auto scope = web_shop::time(page{});
    scope.event().items = run("select * from cart");
    // The thread that owns the scope at its end emits the event.
    std::thread([sent = std::move(scope)] {}).join();
}
