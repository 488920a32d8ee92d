// SPDX-License-Identifier: MIT
//
// Events, sizes and children.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include <eventlog/eventlog.hpp>

#include "steps.hpp"
#include "user_events_abi.h"
#include "user_events_route/checks.hpp"
#include "user_events_route/traced.hpp"

namespace route_steps {

namespace {

void emit_sample(std::uint64_t number) {
    const std::string why = "reason " + std::to_string(number % 7);
    traced::emit(sample{number,
                        why,
                        -static_cast<std::int32_t>(number % 1000),
                        static_cast<std::uint16_t>(number),
                        static_cast<color>(number % 3),
                        number % 2 == 0,
                        {'t', 'a', 'g'},
                        number % 5 == 0 ? std::optional<std::uint32_t>{} : 7U,
                        0.5});
}

void show_formats() {
    for (const char* event : {"sample", "word", "in_session", "silent", "empty"}) {
        show_format(name_of(std::string("traced_") + event));
    }
}

}  // namespace

void check_fields() {
    step("the route can be used", route().code == EVENTLOG_STATUS_OK);
    std::printf("status: %s\n", route().text.data());
    step("there is no listener at first", !traced::enabled<sample>());
    emit_sample(1);
    const std::string too_large(4044, 'x');
    traced::emit(word{too_large});
    step("events without a listener are not counted",
         route().counters.written == 0 && route().counters.lost_too_large == 0);
    traced::emit([] {
        step("a lazy event without a listener is not created", false);
        return silent{0};
    });
    show_formats();

    set_event_enabled("traced_sample", true);
    step("the kernel opens the gate", wait_until([] { return traced::enabled<sample>(); }));
    step("the other gates stay closed", !traced::enabled<silent>());
    for (const std::uint64_t number : {10U, 11U, 12U}) {
        emit_sample(number);
    }
    traced::emit(silent{1});
    step("all events are counted", route().counters.written == 3);
    show_trace("fields");

    set_event_enabled("traced_in_session", true);
    {
        eventlog::session<traced> session(4711);
        session.emit(in_session{3});
    }
    set_event_enabled("traced_in_session", false);
    show_trace("session");

    set_event_enabled("traced_empty", true);
    step("its gate is open, too", wait_until([] { return traced::enabled<empty>(); }));
    traced::emit(empty{});
    bool made = false;
    traced::emit([&] {
        made = true;
        return empty{};
    });
    step("a lazy event with a listener is created", made);
    set_event_enabled("traced_empty", false);
    step("an event without fields is written", route().counters.lost_refused == 0);
    show_trace("empty");
}

void check_many() {
    const std::uint64_t before = route().counters.written;
    for (std::uint64_t number = 0; number < 10'000; ++number) {
        emit_sample(number);
    }
    step("ten thousand are counted", route().counters.written - before == 10'000);
    show_trace("many");
}

void check_end_of_listening() {
    const std::uint64_t before = route().counters.written;
    set_event_enabled("traced_sample", false);
    step("the kernel closes the gate", wait_until([] { return !traced::enabled<sample>(); }));
    emit_sample(77);
    step("no further event is counted", route().counters.written == before);
    show_trace("nothing");
}

void check_sizes() {
    set_event_enabled("traced_word", true);
    // The word of 4 bytes, the text and its NUL: 4048 bytes. The test checks that each arrives.
    for (const char letter : {'x', 'y', 'z'}) {
        const std::string largest(4043, letter);
        traced::emit(word{largest});
    }
    step("the largest events of ftrace are written", route().counters.lost_too_large == 0);
    const std::string too_large(4044, 'x');
    traced::emit(word{too_large});
    step("a byte more is refused, and counted", route().counters.lost_too_large == 1);
    traced::emit(word{""});
    traced::emit(word{"a word"});
    set_event_enabled("traced_word", false);
    show_trace("sizes");
}

void check_fork() {
    set_event_enabled("traced_silent", true);
    static_cast<void>(std::fflush(stdout));
    const pid_t child = ::fork();
    if (child == 0) {
        step("the child's gate is open", wait_until([] { return traced::enabled<silent>(); }));
        step("the child has counted nothing", route().counters.written == 0);
        traced::emit(silent{100});
        step("the child counts", route().counters.written == 1);
        std::exit(0);
    }
    int status = -1;
    step("the child ends well", ::waitpid(child, &status, 0) == child && status == 0);
    step("the parent's gate is still open", traced::enabled<silent>());
    traced::emit(silent{101});
    set_event_enabled("traced_silent", false);
    step("the parent's gate is closed", wait_until([] { return !traced::enabled<silent>(); }));
    show_trace("fork");
}

}  // namespace route_steps
