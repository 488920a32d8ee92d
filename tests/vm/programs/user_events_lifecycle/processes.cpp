// SPDX-License-Identifier: MIT
//
// Child processes, shared memory, exec, and many processes.
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <eventlog/dynamic_provider.hpp>

#include "steps.hpp"
#include "user_events_abi.h"
#include "user_events_lifecycle/lives.hpp"
#include "user_events_lifecycle/scenarios.hpp"

namespace lifecycle {

void run_spawning() {
    set_event_enabled(true);
    const pid_t child = ::vfork();
    if (child == 0) {
        ::_exit(0);
    }
    int status = -1;
    step("a child of vfork ends", ::waitpid(child, &status, 0) == child && status == 0);
    char name[] = "true";
    char* const arguments[] = {name, nullptr};
    char* const environment[] = {nullptr};
    pid_t spawned = -1;
    step("a program is spawned",
         ::posix_spawn(&spawned, "/bin/true", nullptr, nullptr, arguments, environment) == 0 &&
             ::waitpid(spawned, &status, 0) == spawned && status == 0);
    step("the gate is still open", lives::enabled<mark>());
    lives::emit(mark{20});
    set_event_enabled(false);
    set_event_enabled(true);
    lives::emit(mark{21});
    step("both events are written", route().counters.written == 2);
    set_event_enabled(false);
}

namespace {

int emit_in_shared_memory(void* /*argument*/) {
    lives::emit(mark{30});
    // The parent waits; the kernel changes the shared word through this process.
    ::_exit(wait_until([] { return !lives::enabled<mark>(); }) ? 0 : 1);
}

}  // namespace

void run_shared_memory() {
    static std::array<char, 262144> stack{};
    set_event_enabled(true);
    const pid_t child =
        ::clone(emit_in_shared_memory, stack.data() + stack.size(), CLONE_VM | SIGCHLD, nullptr);
    step("a process shares our memory", child > 0);
    step("it emits",
         wait_until([] { return trace_contains("eventlog_lives_mark: number=0x1e (30)"); }));
    set_file(EVENTS "eventlog_lives_mark/enable", "0");
    int status = -1;
    step("it has seen the gate close", ::waitpid(child, &status, 0) == child && status == 0);
    step("the parent has seen it, too", !lives::enabled<mark>());
    set_event_enabled(true);
    lives::emit(mark{31});
    step("the events of both are counted", route().counters.written == 2);
    set_event_enabled(false);
}

[[noreturn]] void run_exec(bool again) {
    if (!again) {
        set_event_enabled(true);
        lives::emit(mark{40});
        static_cast<void>(std::fflush(stdout));
        static_cast<void>(::execl("/proc/self/exe", "user_events_lives", "exec-again", nullptr));
        step("exec", false);
    }
    step("the new image's gate is open", wait_until([] { return lives::enabled<mark>(); }));
    lives::emit(mark{41});
    step("it counts anew", route().counters.written == 1);
    set_event_enabled(false);
    static_cast<void>(std::fflush(stdout));
    // An image without eventlog: the events have no users.
    static_cast<void>(::execl("/bin/sleep", "sleep", "1000", nullptr));
    step("exec", false);
    ::_exit(1);
}

namespace {

constexpr unsigned kinds = 10;

/// Runs one of many processes, each with its own events.
void run_one_of_many(unsigned process) {
    const std::string name = "many_" + std::to_string(process);
    const eventlog_field_definition fields[] = {
        {.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_32}};
    std::array<std::string, kinds> names;
    std::array<eventlog_event_definition, kinds> events{};
    for (unsigned kind = 0; kind < kinds; ++kind) {
        names[kind] = "kind_" + std::to_string(kind);
        events[kind] = {.name = names[kind].c_str(), .fields = fields, .field_count = 1};
    }
    const eventlog::dynamic_provider provider({EVENTLOG_DEFINITION_SIZES, .name = name.c_str(),
                                               .events = events.data(), .event_count = kinds});
    const bool offered =
        provider.status().routes[EVENTLOG_ROUTE_USER_EVENTS].code == EVENTLOG_STATUS_OK;
    bool open = true;
    for (unsigned kind = 0; kind < kinds; ++kind) {
        open = wait_until([&] { return provider.enabled(kind); }) && open;
        provider.emit(kind, 1000 * process + kind);
    }
    const bool written =
        provider.status().routes[EVENTLOG_ROUTE_USER_EVENTS].counters.written == kinds;
    // Waits for the other processes: an event is removed with its last process, and so are its
    // records.
    char byte = 0;
    static_cast<void>(::read(STDIN_FILENO, &byte, 1));
    ::_exit(offered && open && written ? 0 : 1);
}

}  // namespace

void run_multitude() {
    constexpr unsigned processes = 100;
    std::array<int, 2> hold{};
    step("there is a pipe", ::pipe(hold.data()) == 0);
    std::vector<pid_t> children;
    for (unsigned process = 0; process < processes; ++process) {
        const pid_t child = ::fork();
        if (child == 0) {
            static_cast<void>(::dup2(hold[0], STDIN_FILENO));
            static_cast<void>(::close(hold[1]));
            run_one_of_many(process);
        }
        children.push_back(child);
    }
    const auto last = [](unsigned process) {
        return EVENTS "eventlog_many_" + std::to_string(process) + "_kind_9";
    };
    for (unsigned process = 0; process < processes; ++process) {
        if (!wait_until([&] { return ::access(last(process).c_str(), F_OK) == 0; })) {
            step(last(process).c_str(), false);
        }
    }
    set_file(EVENTS "enable", "1");
    std::size_t lines = 0;
    step("the trace has all events", wait_until([&] {
             FILE* trace = std::fopen(TRACING "trace", "r");
             std::array<char, 512> line{};
             lines = 0;
             while (trace != nullptr && std::fgets(line.data(), line.size(), trace) != nullptr) {
                 lines += std::strstr(line.data(), "eventlog_many_") != nullptr ? 1 : 0;
             }
             if (trace != nullptr) {
                 static_cast<void>(std::fclose(trace));
             }
             return lines == std::size_t{processes} * kinds;
         }));
    static_cast<void>(std::system("grep -o 'eventlog_many_.*' " TRACING "trace"));
    set_file(EVENTS "enable", "0");
    static_cast<void>(::close(hold[1]));
    bool is_correct = true;
    for (const pid_t child : children) {
        int status = -1;
        is_correct = ::waitpid(child, &status, 0) == child && status == 0 && is_correct;
    }
    step("each process has written its events", is_correct);
}

}  // namespace lifecycle
