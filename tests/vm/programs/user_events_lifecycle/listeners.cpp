// SPDX-License-Identifier: MIT
//
// Listeners that start and stop, formats, and tracefs that is mounted late.
#include <fcntl.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <thread>

#include <eventlog/dynamic_provider.hpp>

#include "steps.hpp"
#include "user_events_abi.h"
#include "user_events_lifecycle/lives.hpp"
#include "user_events_lifecycle/scenarios.hpp"

namespace lifecycle {

namespace {

int open_perf() {
    perf_event_attr wanted{};
    wanted.size = sizeof wanted;
    wanted.type = PERF_TYPE_TRACEPOINT;
    wanted.config = static_cast<std::uint64_t>(read_number(EVENTS "eventlog_lives_mark/id"));
    return static_cast<int>(::syscall(SYS_perf_event_open, &wanted, 0, -1, -1, 0UL));
}

bool status_is(const char* text) {
    FILE* file = std::fopen(TRACING "user_events_status", "r");
    std::array<char, 512> line{};
    bool found = false;
    while (file != nullptr && std::fgets(line.data(), line.size(), file) != nullptr) {
        found = found || std::string_view(line.data()) == std::string(text) + "\n";
    }
    if (file != nullptr) {
        static_cast<void>(std::fclose(file));
    }
    return found;
}

void expect_gate(const char* what, bool open, const char* status) {
    step(what, wait_until([&] { return lives::enabled<mark>() == open; }));
    step(status, status_is(status));
    lives::emit(mark{7});
}

}  // namespace

void run_listeners() {
    expect_gate("no listener", false, "eventlog_lives_mark");
    set_file(EVENTS "eventlog_lives_mark/enable", "1");
    expect_gate("ftrace", true, "eventlog_lives_mark # Used by ftrace");
    const int perf = open_perf();
    step("perf can be opened", perf >= 0);
    expect_gate("both", true, "eventlog_lives_mark # Used by ftrace perf");
    set_file(EVENTS "eventlog_lives_mark/enable", "0");
    expect_gate("perf", true, "eventlog_lives_mark # Used by perf");
    static_cast<void>(::close(perf));
    expect_gate("no listener again", false, "eventlog_lives_mark");
    step("three are written", route().counters.written == 3);
    step("and none is lost", route().counters.lost_refused == 0);
}

namespace {

/// The number of events that ftrace received, including those it has overwritten.
std::uint64_t count_in_trace() {
    std::uint64_t sum = 0;
    for (unsigned cpu = 0;; ++cpu) {
        const std::string path = TRACING "per_cpu/cpu" + std::to_string(cpu) + "/stats";
        FILE* const file = std::fopen(path.c_str(), "r");
        if (file == nullptr) {
            return sum;
        }
        std::array<char, 128> line{};
        std::uint64_t number = 0;
        while (std::fgets(line.data(), line.size(), file) != nullptr) {
            if (std::sscanf(line.data(), "entries: %" SCNu64, &number) == 1 ||
                std::sscanf(line.data(), "overrun: %" SCNu64, &number) == 1) {
                sum += number;
            }
        }
        static_cast<void>(std::fclose(file));
    }
}

}  // namespace

void run_toggling() {
    constexpr unsigned rounds = 100;
    // With record-cmd, each round lasts a quarter of a second.
    set_file(TRACING "options/record-cmd", "0");
    const int enable = ::open(EVENTS "eventlog_lives_mark/enable", O_WRONLY);
    step("the event is there", enable >= 0);
    std::atomic<bool> continues{true};
    std::thread emitter([&] {
        for (std::uint32_t number = 0; continues.load(std::memory_order_relaxed); ++number) {
            lives::emit(mark{number});
        }
    });
    unsigned complete = 0;
    for (unsigned round = 0; round < rounds; ++round) {
        const std::uint64_t before = route().counters.written;
        bool is_correct = ::write(enable, "1", 1) == 1;
        // The thread is emitting when the event is disabled.
        const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        while (route().counters.written == before && std::chrono::steady_clock::now() < end) {
            ::sched_yield();
        }
        is_correct = route().counters.written != before && is_correct;
        is_correct = ::write(enable, "0", 1) == 1 && is_correct;
        complete += is_correct ? 1 : 0;
    }
    continues.store(false, std::memory_order_relaxed);
    emitter.join();
    static_cast<void>(::close(enable));
    set_file(TRACING "options/record-cmd", "1");
    const std::uint64_t written = route().counters.written;
    const std::uint64_t traced = count_in_trace();
    std::printf("written %" PRIu64 ", in the trace %" PRIu64 "\n", written, traced);
    step("each round has events", complete == rounds);
    step("nothing is lost", is_nothing_lost());
    // The kernel also reports success for events that it received after ftrace stopped.
    step("all of the trace is counted", traced >= rounds && traced <= written);
}

void run_single_format() {
    const eventlog_field_definition number = {.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_32};
    const eventlog_field_definition code = {.name = "code", .type = EVENTLOG_TYPE_UNSIGNED_64};
    const auto define = [](const eventlog_field_definition& field) {
        const eventlog_event_definition event = {
            .name = "event", .fields = &field, .field_count = 1};
        return eventlog::dynamic_provider(
            {EVENTLOG_DEFINITION_SIZES, .name = "single", .events = &event, .event_count = 1});
    };
    constexpr std::string_view plain = "eventlog_single_event ";
    const eventlog::dynamic_provider first = define(number);
    step("the first has the name",
         names_of("eventlog_single_event").find(plain) != std::string::npos);
    const eventlog::dynamic_provider second = define(code);
    step("the second can be offered, too",
         second.status().routes[EVENTLOG_ROUTE_USER_EVENTS].code == EVENTLOG_STATUS_OK);
    std::string names = names_of("eventlog_single_event");
    step("the first still has its name", names.find(plain) != std::string::npos);
    names.erase(names.find(plain), plain.size());
    std::printf("second: %s\n", names.c_str());
    step("the second has another name",
         names.starts_with("eventlog_single_event_") && names.find(' ') == names.size() - 1);
    names.pop_back();
    const std::string enable = EVENTS + names + "/enable";
    set_file(enable.c_str(), "1");
    step("the second's gate opens", wait_until([&] { return second.enabled(0); }));
    step("the first's does not", !first.enabled(0));
    second.emit(0, std::uint64_t{70});
    set_file(EVENTS "eventlog_single_event/enable", "1");
    step("the first's gate opens", wait_until([&] { return first.enabled(0); }));
    first.emit(0, 71U);
    set_file(EVENTS "enable", "0");
    step("the second's event has the second's field",
         trace_contains((names + ": code=0x46 (70)").c_str()));
    step("the first's event has the first's",
         trace_contains("eventlog_single_event: number=0x47 (71)"));
}

void run_late_mount() {
    std::printf("early: %s\n", route().text.data());
    static_cast<void>(std::fflush(stdout));
    step("it is found when it is mounted", wait_until([] {
             lives::run_callbacks();
             return route().code == EVENTLOG_STATUS_OK;
         }));
    std::printf("late: %s\n", route().text.data());
    static_cast<void>(std::fflush(stdout));
    step("the gate opens", wait_until([] { return lives::enabled<mark>(); }));
    lives::emit(mark{50});
    step("the event is written", route().counters.written == 1);
}

}  // namespace lifecycle
