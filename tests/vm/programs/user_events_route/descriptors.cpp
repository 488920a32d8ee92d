// SPDX-License-Identifier: MIT
//
// Applications that close the library's descriptors.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>

#include <eventlog/eventlog.hpp>

#include "steps.hpp"
#include "user_events_abi.h"
#include "user_events_route/checks.hpp"
#include "user_events_route/traced.hpp"

namespace route_steps {

namespace {

void close_all_descriptors() {
    for (int file = 3; file < 1024; ++file) {
        static_cast<void>(::close(file));
    }
}

}  // namespace

void check_lost_descriptor() {
    set_event_enabled("traced_silent", true);
    close_all_descriptors();
    const int own = ::open("/tmp/own", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    // The daemon uses all numbers that the library's descriptor can have had.
    for (int file = own + 1; file < 1000; ++file) {
        static_cast<void>(::dup2(own, file));
    }
    const std::uint64_t before = route().counters.written;
    // The library checks its descriptor again after a tick of its clock.
    ::usleep(50'000);
    traced::emit(silent{200});
    step("a new descriptor is opened", route().counters.written == before + 1);
    struct stat status {};
    step("nothing is written to the program's file",
         ::fstat(own, &status) == 0 && status.st_size == 0);
    step("the route can still be used", route().code == EVENTLOG_STATUS_OK);
    set_event_enabled("traced_silent", false);
    step("the gate still closes", wait_until([] { return !traced::enabled<silent>(); }));
    show_trace("descriptor");
}

namespace {

struct echo {
    std::uint32_t number;
};
using neighbor = eventlog::provider<"neighbor", echo>;

}  // namespace

void check_lost_descriptors_of_two() {
    set_event_enabled("traced_silent", true);
    set_event_enabled("neighbor_echo", true);
    // After the first round they have the lowest two numbers.
    for (std::uint32_t round = 0; round < 3; ++round) {
        close_all_descriptors();
        ::usleep(50'000);
        if (round == 1) {
            traced::emit(silent{round});
            neighbor::emit(echo{round});
        } else {
            neighbor::emit(echo{round});
            traced::emit(silent{round});
        }
    }
    show_format(name_of("neighbor_echo"));
    show_trace("descriptors of two");
    set_event_enabled("traced_silent", false);
    set_event_enabled("neighbor_echo", false);
    step("both gates close",
         wait_until([] { return !traced::enabled<silent>() && !neighbor::enabled<echo>(); }));
}

}  // namespace route_steps
