// SPDX-License-Identifier: MIT
//
// Tests the route through user_events over the life of a process and its memory. The first argument
// names the scenario; some scenarios wait for the script that runs them.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <eventlog/dynamic_provider.hpp>
#include <eventlog/eventlog.hpp>

#include "steps.hpp"
#include "user_events_abi.h"

namespace {

struct mark {
    std::uint32_t number;
};
using lives = eventlog::provider<"lives", mark>;

/// The bit of a gate that the kernel sets.
constexpr std::uint32_t kernel_bit = 1U << 31U;

eventlog::route_status route() {
    return lives::status().routes[EVENTLOG_ROUTE_USER_EVENTS];
}

void set_event_enabled(bool on) {
    ::set_event_enabled("lives_mark", on);
    step(on ? "the gate opens" : "the gate closes",
         wait_until([&] { return lives::enabled<mark>() == on; }));
}

/// A caller of the C functions passes memory that cannot be read: the kernel rejects the event, and
/// the program continues.
void run_fault() {
    const eventlog_field_definition fields[] = {
        {.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_64}};
    const eventlog_event_definition events[] = {
        {.name = "event", .fields = fields, .field_count = 1}};
    const eventlog::dynamic_provider provider(
        {EVENTLOG_DEFINITION_SIZES, .name = "faulty", .events = events, .event_count = 1});
    void* nowhere = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    step("there is memory without access", nowhere != MAP_FAILED);
    set_file(EVENTS "eventlog_faulty_event/enable", "1");
    step("the gate opens", wait_until([&] { return provider.enabled(0); }));
    const eventlog_piece missing{nowhere, 8};
    eventlog_emit_pieces(provider.handle(), 0, &missing, 1, 0);
    const auto counters = [&] {
        return provider.status().routes[EVENTLOG_ROUTE_USER_EVENTS].counters;
    };
    step("it is refused, and counted", counters().lost_refused == 1);
    provider.emit(0, 9U);
    step("the next one is written", counters().written == 1);
    set_file(EVENTS "eventlog_faulty_event/enable", "0");
    step("the trace has that one", trace_contains("eventlog_faulty_event: number=0x9 (9)"));
}

/// The addresses of mappings of files whose path contains `name`.
std::vector<void*> find_mapped(const char* name) {
    FILE* maps = std::fopen("/proc/self/maps", "r");
    std::array<char, 512> line{};
    std::vector<void*> found;
    while (maps != nullptr && std::fgets(line.data(), line.size(), maps) != nullptr) {
        std::uintptr_t address = 0;
        if (std::strstr(line.data(), name) != nullptr &&
            std::sscanf(line.data(), "%" SCNxPTR, &address) == 1) {
            found.push_back(reinterpret_cast<void*>(address));
        }
    }
    if (maps != nullptr) {
        static_cast<void>(std::fclose(maps));
    }
    return found;
}

/// The pages of gates, by the name that the files receive after they are mapped.
std::vector<void*> find_gate_pages() {
    return find_mapped("/providers/");
}

/// The page of status bits, on kernels that have one.
std::vector<void*> find_status_pages() {
    return find_mapped("user_events_status");
}

/// The kernel must fault the page of a gate in before it can set the bit.
void run_absent_page() {
    const std::vector<void*> pages = find_gate_pages();
    step("the gate is in shared memory", pages.size() == 1);
    void* page = pages.front();
    for (const bool on : {true, false, true, false}) {
        step("its page is dropped", ::madvise(page, 4096, MADV_DONTNEED) == 0);
        set_event_enabled(on);
        lives::emit(mark{on ? 1U : 2U});
    }
    step("each enabled event is written", route().counters.written == 2);
}

/// Enables and disables an event repeatedly, and checks that the kernel changes no word of the
/// page: it sets no bit and clears none.
void expect_untouched(void* page, std::uint32_t pattern, const char* enable, void* own_gate) {
    auto* const words = static_cast<volatile std::uint32_t*>(page);
    std::fill_n(words, 1024, pattern);
    const auto untouched = [&] {
        return std::all_of(words, words + 1024,
                           [&](std::uint32_t word) { return word == pattern; });
    };
    for (const char* state : {"1", "0", "1", "0"}) {
        set_file(enable, state);
        lives::poll();
        // Checked after each write: the next one would undo a change.
        step("nothing is written there", untouched());
        // The kernel's work queue is in order: after this work it has done the earlier work.
        for (const bool on : {true, false}) {
            step("the kernel's queue is used", ::madvise(own_gate, 4096, MADV_DONTNEED) == 0);
            set_event_enabled(on);
        }
        step("nothing is written there later", untouched());
    }
}

/// A plugin is unloaded while its event stays: the kernel writes nothing to the gate's old address.
void run_unloading(const char* plugin) {
    step("we have a gate", lives::status().code == EVENTLOG_OK);
    const std::vector<void*> own = find_gate_pages();
    step("it is one", own.size() == 1);
    const std::vector<void*> own_status = find_status_pages();
    step("the page of status bits is mapped if there is one",
         own_status.size() == (kernel_has_status_page() ? 1U : 0U));
    void* loaded = ::dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
    step("a plugin is loaded", loaded != nullptr);
    const std::vector<void*> pages = find_gate_pages();
    step("it has a gate of its own", pages.size() == 2);
    void* const gate = pages[0] == own[0] ? pages[1] : pages[0];
    const std::string name = name_of("plugin_call");
    const std::string enable = EVENTS + name + "/enable";
    set_file(enable.c_str(), "1");
    step("the kernel opens it",
         wait_until([&] { return *static_cast<const volatile std::uint32_t*>(gate) >> 31U == 1; }));
    set_file(enable.c_str(), "0");
    if (kernel_has_status_page()) {
        step("a second library maps a page of status bits, too", find_status_pages().size() == 2);
    }
    step("the plugin is unloaded", ::dlclose(loaded) == 0);
    step("its gate is unmapped", find_gate_pages() == own);
    step("so is its page of status bits", find_status_pages() == own_status);
    step("its address is free, and is mapped anew",
         ::mmap(gate, 4096, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == gate);
    expect_untouched(gate, 0, enable.c_str(), own[0]);
    expect_untouched(gate, ~0U, enable.c_str(), own[0]);
    if (kernel_has_status_page()) {
        const std::string removal = "-:user_events/" + name;
        set_file(TRACING "dynamic_events", removal.c_str());
        step("nothing refers to its event", name_of("plugin_call").empty());
    }
}

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

/// ftrace and perf enable and disable an event in every order.
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

bool is_nothing_lost() {
    const auto counters = route().counters;
    return counters.lost_refused == 0 && counters.lost_unattached == 0 &&
           counters.lost_too_large == 0;
}

/// The last listener stops after the emitting thread has read the gate. The test sets the gate's
/// bit itself.
void run_stale_gate() {
    const std::vector<void*> pages = find_gate_pages();
    step("the gate is in shared memory", pages.size() == 1);
    const std::atomic_ref<std::uint32_t> word(*static_cast<std::uint32_t*>(pages.front()));
    step("there is no listener", !lives::enabled<mark>());
    word.fetch_or(kernel_bit);
    step("the gate claims a listener", lives::enabled<mark>());
    lives::emit(mark{60});
    step("nothing is written", route().counters.written == 0);
    step("that is no loss", is_nothing_lost());
    word.fetch_and(~kernel_bit);
    set_event_enabled(true);
    lives::emit(mark{61});
    step("the next one is written", route().counters.written == 1);
    set_event_enabled(false);
}

/// A listener starts and stops while a thread emits continuously.
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

/// Two versions of a provider on a kernel that has one format for each name: see
/// user_events_single.cpp.
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
         second.status().routes[EVENTLOG_ROUTE_USER_EVENTS].code == EVENTLOG_OK);
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

/// Children that share the memory share the registered words, which stay when the children end.
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

int emit_in_shared_memory(void* /*argument*/) {
    lives::emit(mark{30});
    // The parent waits; the kernel changes the shared word through this process.
    ::_exit(wait_until([] { return !lives::enabled<mark>(); }) ? 0 : 1);
}

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
    step("so has the parent", !lives::enabled<mark>());
    set_event_enabled(true);
    lives::emit(mark{31});
    step("the events of both are counted", route().counters.written == 2);
    set_event_enabled(false);
}

/// After exec, no registration of the previous image is left for the kernel to write to.
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

/// The program starts before tracefs is mounted.
void run_late_mount() {
    std::printf("early: %s\n", route().text.data());
    static_cast<void>(std::fflush(stdout));
    step("it is found when it is mounted", wait_until([] {
             lives::poll();
             return route().code == EVENTLOG_OK;
         }));
    std::printf("late: %s\n", route().text.data());
    static_cast<void>(std::fflush(stdout));
    step("the gate opens", wait_until([] { return lives::enabled<mark>(); }));
    lives::emit(mark{50});
    step("it is written", route().counters.written == 1);
}

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
    const bool offered = provider.status().routes[EVENTLOG_ROUTE_USER_EVENTS].code == EVENTLOG_OK;
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

struct scenario {
    std::string_view name;
    void (*run)();
};
constexpr scenario scenarios[] = {
    {"fault", run_fault},
    {"absent-page", run_absent_page},
    {"listeners", run_listeners},
    {"stale-gate", run_stale_gate},
    {"toggling", run_toggling},
    {"single-format", run_single_format},
    {"spawning", run_spawning},
    {"shared-memory", run_shared_memory},
    {"exec", [] { run_exec(false); }},
    {"exec-again", [] { run_exec(true); }},
    {"late-mount", run_late_mount},
    {"multitude", run_multitude},
};

}  // namespace

int main(int argc, char** argv) {
    const std::string_view wanted = argc > 1 ? argv[1] : "";
    if (wanted == "unloading" && argc > 2) {
        run_unloading(argv[2]);
        return 0;
    }
    for (const scenario& each : scenarios) {
        if (each.name == wanted) {
            each.run();
            return 0;
        }
    }
    std::printf("There is no scenario %s. Name one of those in main.cpp.\n",
                argc > 1 ? argv[1] : "");
    return 2;
}
