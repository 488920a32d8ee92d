// SPDX-License-Identifier: MIT
//
// A provider that emits its state to each new listener: counts, and emits the count 200 times a
// second until its input ends.
#include <poll.h>
#include <unistd.h>

#include <cstdint>

#include <eventlog/eventlog.hpp>

namespace {

struct state {
    std::uint64_t count;
};
struct change {
    std::uint64_t count;
};
using depot = eventlog::provider<"depot", state, change>;
consteval auto describe(eventlog::of<depot>) {
    return eventlog::provider_info{.replays_state = true};
}

constinit std::uint64_t changes = 0;

bool input_has_ended() {
    pollfd input{.fd = STDIN_FILENO, .events = 0, .revents = 0};
    return ::poll(&input, 1, 5) != 0;
}

}  // namespace

int main() {
    depot::on_new_listener([] { depot::emit(state{changes}); });
    while (!input_has_ended()) {
        depot::emit(change{changes + 1});
        ++changes;
    }
    return 0;
}
