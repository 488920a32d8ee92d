// SPDX-License-Identifier: MIT
//
// Routes that open after the kernel's limit or permissions change.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <string>

#include <eventlog/dynamic_provider.hpp>

#include "steps.hpp"
#include "user_events_abi.h"
#include "user_events_route/checks.hpp"
#include "user_events_route/traced.hpp"

namespace route_steps {

namespace {

constexpr eventlog_field_definition late_fields[] = {
    {.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_32}};
constexpr eventlog_event_definition late_events[] = {
    {.name = "event", .fields = late_fields, .field_count = 1}};
constexpr eventlog_definition late{EVENTLOG_DEFINITION_SIZES, .name = "late", .events = late_events,
                                   .event_count = 1};

/// Whether the provider retries the route and succeeds.
bool is_tried_again(const eventlog::dynamic_provider& provider) {
    return wait_until([&] {
        eventlog_provider_run_callbacks(provider.handle());
        return route_of(provider).code == EVENTLOG_STATUS_OK;
    });
}

/// Registers events until the kernel's page has no free bit, or lowers the kernel's limit.
void fill_event_table() {
    if (!has_page) {
        set_file(USER_EVENTS_MAX, "1");
        return;
    }
    // Several descriptors: each event of a descriptor makes its next registration slower.
    constexpr unsigned some = 256;
    int error = 0;
    for (unsigned first = 0; error == 0; first += some) {
        const int data = ::open(TRACING "user_events_data", O_RDWR);
        for (unsigned i = first; i < first + some && error == 0; ++i) {
            const std::string description = "filler_" + std::to_string(i) + " u32 number";
            std::uint32_t index = 0;
            error = register_directly(data, description.c_str(), nullptr, &index) ? 0 : errno;
        }
        static_cast<void>(::close(data));
    }
    step("the page is full", error == EMFILE);
    step("the first bit is not an event's",
         file_contains(TRACING "user_events_status", "Active: 32767"));
}

}  // namespace

void check_limit() {
    fill_event_table();
    std::string name;
    {
        const eventlog::dynamic_provider provider(late);
        step("the eventlog directory can still be used",
             provider.status().code == EVENTLOG_STATUS_OK);
        step("there are too many events", route_of(provider).code == EVENTLOG_STATUS_INCOMPLETE);
        std::printf("limit: %s\n", route_of(provider).text.data());
        step("its gate is closed", !provider.enabled(0));
        if (has_page) {
            remove_event("filler_0");
        } else {
            set_file(USER_EVENTS_MAX, "32768");
        }
        step("the event is registered below the limit", is_tried_again(provider));
        name = name_of("late_event");
    }
    expect_removed(name);
}

namespace {

/// Runs as an ordinary user, which cannot publish in root's directory either.
[[noreturn]] void run_as_user(int ready, int allowed) {
    step("the user is an ordinary one", ::setgid(1000) == 0 && ::setuid(1000) == 0);
    const eventlog::dynamic_provider provider(late);
    step("the directory is not the user's", provider.status().code == EVENTLOG_STATUS_NO_DIRECTORY);
    step("user_events are not permitted either",
         route_of(provider).code == EVENTLOG_STATUS_NO_PERMISSION);
    std::printf("permission: %s\n", route_of(provider).text.data());
    char byte = 'r';
    step("the child waits", ::write(ready, &byte, 1) == 1 && ::read(allowed, &byte, 1) == 1);
    step("the route opens when it is permitted", is_tried_again(provider));
    step("root is asked to enable the event", ::write(ready, &byte, 1) == 1);
    step("the gate is open without a file", wait_until([&] { return provider.enabled(0); }));
    provider.emit(0, 400U);
    step("the event is written", route_of(provider).counters.written == 1);
    static_cast<void>(std::fflush(stdout));
    ::_exit(0);  // without clean-up: the kernel must release everything
}

}  // namespace

void check_permission() {
    std::array<int, 2> ready{};
    std::array<int, 2> allowed{};
    step("there are pipes", ::pipe(ready.data()) == 0 && ::pipe(allowed.data()) == 0);
    static_cast<void>(std::fflush(stdout));
    const pid_t child = ::fork();
    if (child == 0) {
        run_as_user(ready[1], allowed[0]);
    }
    static_cast<void>(::close(ready[1]));
    char byte = 0;
    step("the child has been refused", ::read(ready[0], &byte, 1) == 1);
    step("root allows it", ::chmod(TRACING, 0711) == 0 &&
                               ::chmod(TRACING "user_events_data", 0666) == 0 &&
                               ::chmod(TRACING "user_events_status", 0644) == 0 &&
                               ::write(allowed[1], &byte, 1) == 1);
    step("the child's route is open", ::read(ready[0], &byte, 1) == 1);
    const std::string name = name_of("late_event");
    show_format(name);
    set_event_enabled("late_event", true);
    int status = -1;
    step("the child ends well", ::waitpid(child, &status, 0) == child && status == 0);
    // While the event is enabled: afterwards it is removed, and its records are unreadable.
    show_trace("permission");
    set_event_enabled("late_event", false);
    expect_removed(name);
}

}  // namespace route_steps
