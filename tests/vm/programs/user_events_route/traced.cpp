// SPDX-License-Identifier: MIT
#include "user_events_route/traced.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>

#include <eventlog/dynamic_provider.hpp>

#include "steps.hpp"
#include "user_events_abi.h"

namespace route_steps {

const bool has_page = kernel_has_status_page();

eventlog::route_status route() {
    return traced::status().routes[EVENTLOG_ROUTE_USER_EVENTS];
}

eventlog::route_status route_of(const eventlog::dynamic_provider& provider) {
    return provider.status().routes[EVENTLOG_ROUTE_USER_EVENTS];
}

void show_trace(const char* title) {
    FILE* file = std::fopen(TRACING "trace", "r");
    std::array<char, 16384> line{};
    std::printf("trace %s\n", title);
    while (file != nullptr && std::fgets(line.data(), line.size(), file) != nullptr) {
        if (line[0] != '#') {
            static_cast<void>(std::fputs(line.data(), stdout));
        }
    }
    std::printf("end of trace\n");
    if (file != nullptr) {
        static_cast<void>(std::fclose(file));
    }
    clear_trace();
}

void show_format(const std::string& name) {
    const std::string path = EVENTS + name + "/format";
    FILE* const file = std::fopen(path.c_str(), "r");
    std::array<char, 1024> line{};
    while (file != nullptr && std::fgets(line.data(), line.size(), file) != nullptr) {
        std::printf("format %s", line.data());
    }
    if (file != nullptr) {
        static_cast<void>(std::fclose(file));
    }
    std::printf("\n");
}

void remove_event(std::string_view name) {
    const std::string removal = "-:user_events/" + std::string(name);
    const int file = ::open(TRACING "dynamic_events", O_WRONLY | O_APPEND);
    bool removed = false;
    step("it can be removed", wait_until([&] {
             removed = removed || ::write(file, removal.data(), removal.size()) ==
                                      static_cast<ssize_t>(removal.size());
             return removed;
         }));
    static_cast<void>(::close(file));
}

void expect_removed(std::string_view name) {
    if (has_page) {
        remove_event(name);
    }
    const std::string path = EVENTS + std::string(name);
    step("the event is removed", wait_until([&] { return ::access(path.c_str(), F_OK) != 0; }));
}

}  // namespace route_steps
