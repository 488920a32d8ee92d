// SPDX-License-Identifier: MIT
//
// Versions and names of events.
#include <signal.h>
#include <unistd.h>

#include <string>

#include <eventlog/dynamic_provider.hpp>

#include "steps.hpp"
#include "user_events_abi.h"
#include "user_events_route/checks.hpp"
#include "user_events_route/traced.hpp"

namespace route_steps {

namespace {

constexpr eventlog_field_definition number_field[] = {
    {.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_32}};

eventlog::dynamic_provider define(const char* name, const char* event_name) {
    const eventlog_event_definition event = {
        .name = event_name, .fields = number_field, .field_count = 1};
    return eventlog::dynamic_provider(
        {EVENTLOG_DEFINITION_SIZES, .name = name, .events = &event, .event_count = 1});
}

}  // namespace

void check_versions() {
    const std::string own = name_of("traced_silent");
    std::string other_event;
    std::string other = TRACING "events/user_events_multi/enable";
    const eventlog_field_definition fields[] = {
        {.name = "code", .type = EVENTLOG_TYPE_UNSIGNED_32}};
    const eventlog_event_definition events[] = {
        {.name = "silent", .fields = fields, .field_count = 1}};
    {
        const eventlog::dynamic_provider version(
            {EVENTLOG_DEFINITION_SIZES, .name = "traced", .events = events, .event_count = 1});
        const eventlog::route_status status = version.status().routes[EVENTLOG_ROUTE_USER_EVENTS];
        step("the other version can be offered, too", status.code == EVENTLOG_STATUS_OK);
        // Now two events have names that begin like this.
        std::string names = names_of("eventlog_traced_silent");
        if (has_page) {
            names.erase(names.find(own), own.size() + 1);
            names.pop_back();
            other_event = names;
            other = EVENTS + names + "/enable";
            show_format(names);
        }
        set_file(other.c_str(), "1");
        step("its gate is open", wait_until([&] { return version.enabled(0); }));
        step("the first version's gate is closed", !traced::enabled<silent>());
        version.emit(0, 300U);
        set_file(other.c_str(), "0");
        show_trace("versions");
    }
    if (has_page) {
        expect_removed(other_event);
    } else {
        step("it is removed with its provider",
             wait_until([&] { return ::access(other.c_str(), F_OK) != 0; }));
    }
    step("the first version stays", ::access((EVENTS + own).c_str(), F_OK) == 0);
}

void check_names() {
    const std::string provider_name(63, 'p');
    const std::string event_name(63, 'e');
    std::string longest;
    std::string shared;
    {
        const eventlog::dynamic_provider provider =
            define(provider_name.c_str(), event_name.c_str());
        step("the longest names can be offered", route_of(provider).code == EVENTLOG_STATUS_OK);
        const std::string both = provider_name + "_" + event_name;
        longest = name_of(both);
        show_format(longest);
        set_event_enabled(both, true);
        step("its gate is open", wait_until([&] { return provider.enabled(0); }));
        provider.emit(0, 500U);
        show_trace("longest names");
        set_event_enabled(both, false);

        const eventlog::dynamic_provider first = define("left", "right_end");
        const eventlog::dynamic_provider second = define("left_right", "end");
        shared = name_of("left_right_end");
        show_format(shared);
        step("two events have one name", names_of("eventlog_left_right_end") == shared + " ");
        set_event_enabled("left_right_end", true);
        step("both gates are open",
             wait_until([&] { return first.enabled(0) && second.enabled(0); }));
        first.emit(0, 501U);
        second.emit(0, 502U);
        show_trace("shared name");
        set_event_enabled("left_right_end", false);
    }
    expect_removed(longest);
    expect_removed(shared);
}

}  // namespace route_steps
