// SPDX-License-Identifier: MIT
//
// expect: this event belongs to a session. Emit it through the eventlog::session object.
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct answered {
    static constexpr eventlog::event_info info{.session_bound = true};
    std::uint16_t status;
};
using web = eventlog::provider<"web", answered>;

int main() {
    const eventlog::session<web> request(1);
    web::emit(answered{200});
}
