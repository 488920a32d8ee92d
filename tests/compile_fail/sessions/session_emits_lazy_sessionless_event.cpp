// SPDX-License-Identifier: MIT
//
// expect: this event does not belong to a session
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <eventlog/eventlog.hpp>

struct lost {
    std::uint32_t bytes;
};

void emit_it(const eventlog::session<eventlog::provider<"bad", lost>>& connection) {
    connection.emit([] { return lost{}; });
}
