// SPDX-License-Identifier: MIT
//
// Loads and unloads a plugin that defines a provider and emits from threads, while a thread emits
// from the program's own provider.
//
//     defining_plugin_host withdraw|late|forget ROUNDS FILE
//
// Prints the numbers of events that it and the plugin have emitted. With forget it prints a line
// and waits for the end of standard input before its last step.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>

#include <eventlog/eventlog.hpp>

#include "plugins/defining_plugin.hpp"

namespace {

struct step {
    std::uint64_t number;
};
using host = eventlog::provider<"defining_host", step>;

[[noreturn]] void fail(const char* what, const char* why) {
    std::fprintf(stderr, "defining_plugin_host: %s: %s\n", what, why);
    std::exit(1);
}

std::uint64_t steps = 0;

void take_steps(const std::atomic<bool>& stop) {
    while (!stop) {
        host::emit(step{steps++});
        std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
}

template <class Function>
Function* find(void* plugin, const char* name) {
    void* symbol = ::dlsym(plugin, name);
    if (symbol == nullptr) {
        fail(name, ::dlerror());
    }
    return reinterpret_cast<Function*>(symbol);
}

bool is_mapped(std::string_view file) {
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);) {
        if (line.ends_with(file)) {
            return true;
        }
    }
    return false;
}

/// Loads, runs and unloads the plugin; returns the number of events that it emitted.
std::uint64_t run_plugin(const char* file, std::uint32_t round, plugin_end manner) {
    void* plugin = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) {
        fail(file, ::dlerror());
    }
    if (find<decltype(start_plugin)>(plugin, "start_plugin")(round) == 0) {
        fail(file, "its provider is not published");
    }
    const std::uint64_t emitted = find<decltype(stop_plugin)>(plugin, "stop_plugin")(manner);
    if (::dlclose(plugin) != 0) {
        fail(file, ::dlerror());
    }
    if (is_mapped(file)) {
        fail(file, "still mapped after dlclose");
    }
    return emitted;
}

/// A child publishes everything again, including definitions of unloaded code.
void fork_once() {
    const pid_t child = ::fork();
    if (child == 0) {
        // Not _exit, which would leave the child's files to the next elog.
        std::exit(host::status().code == EVENTLOG_STATUS_OK ? 0 : 1);
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0) {
        fail("fork", "the child did not publish itself");
    }
}

}  // namespace

int main(int argument_count, char** arguments) {
    if (argument_count != 4) {
        fail("usage", "defining_plugin_host withdraw|late|forget ROUNDS FILE");
    }
    const std::string_view name = arguments[1];
    const plugin_end manner = name == "forget" ? plugin_end::forget
                              : name == "late" ? plugin_end::withdraw_while_threads_emit
                                               : plugin_end::withdraw;
    std::atomic<bool> stop{false};
    std::thread walker([&] { take_steps(stop); });
    std::uint64_t emitted = 0;
    const auto rounds = static_cast<std::uint32_t>(std::strtoul(arguments[2], nullptr, 10));
    for (std::uint32_t round = 0; round < rounds; ++round) {
        emitted += run_plugin(arguments[3], round, manner);
    }
    stop = true;
    walker.join();
    fork_once();
    if (manner == plugin_end::forget) {
        std::printf("forgotten\n");
        std::fflush(stdout);
        while (std::getchar() != EOF) {
        }
        fork_once();
        host::emit(step{steps++});
    }
    std::printf("steps %" PRIu64 "\nbeats %" PRIu64 "\n", steps, emitted);
}
