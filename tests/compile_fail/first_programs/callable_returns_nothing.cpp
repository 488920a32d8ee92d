// SPDX-License-Identifier: MIT
//
// expect: the callable does not return an event of this provider. Return one, or add the type
#include <cstdint>

#include <eventlog/eventlog.hpp>

struct answered {
    static constexpr eventlog::event_info info{.session_bound = true};
    std::uint16_t status;
};
using web = eventlog::provider<"web", answered>;

void serve(const eventlog::session<web>& request) {
    request.emit([] { static_cast<void>(answered{200}); });
}
