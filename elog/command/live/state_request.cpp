// SPDX-License-Identifier: MIT
#include "live/state_request.hpp"

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/output.hpp"
#include "base/user_error.hpp"
#include "shm/directory.hpp"
#include "shm/process_file.hpp"
#include "target/child_runner.hpp"
#include "target/provider_locations.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;

/// For each place, because it may not answer.
constexpr std::chrono::seconds location_timeout{5};

/// Empty if the provider was unregistered meanwhile, or its schema is damaged.
std::string name_of(const core::published_provider& provider) {
    std::vector<std::uint8_t> bytes(provider.entry().schema_size);
    if (!provider.read_schema(bytes)) {
        return {};
    }
    try {
        return provider_schema::parse(bytes).name;
    } catch (const user_error&) {
        return {};
    }
}

/// Asks the programs in the current place, and writes a byte for each provider. Runs in a child.
void request_here(const std::set<std::string>& names) {
    // Not open_running_directory(): that of the parent is known there.
    const core::directory_path path = core::current_directory();
    core::directory where;
    core::error_text why;
    if (!where.open(path, core::if_missing::fail, why)) {
        return;  // no program there
    }
    std::string asked;
    core::folder_listing files(where.processes);
    while (const char* name = files.next()) {
        core::process_file file;
        if (!file.open(where, name, why)) {
            continue;
        }
        core::published_provider provider(file);
        while (provider.next()) {
            if (names.contains(name_of(provider)) && provider.request_state()) {
                asked += '+';
            }
        }
    }
    write_all(STDOUT_FILENO, asked);
}

/// Returns how many providers were asked.
std::size_t request_in(const provider_location& location, const std::set<std::string>& names) {
    try {
        const child_result answer =
            run_in_child([&] { location.enter(); }, [&] { request_here(names); }, location_timeout);
        if (answer.how == child_result::outcome::done) {
            return answer.output.size();
        }
        print_diagnostic("elog: {}: the programs there could not be asked for their state. {}",
                         location.title(), answer.complaints);
    } catch (const user_error& mistake) {  // its message names the remedy
        print_diagnostic("elog: {}: {}", location.title(), mistake.what());
    }
    return 0;
}

}  // namespace

void request_state(const std::vector<provider_instance>& providers) {
    std::set<std::string> names;
    for (const provider_instance& each : providers) {
        names.insert(each.schema.name);
    }
    std::size_t asked = 0;
    for (const provider_location& location : find_provider_locations().locations) {
        asked += request_in(location, names);
    }
    if (asked == 0) {
        print_diagnostic(
            "elog: No running program can be asked for its state: none of the recorded "
            "providers has a callback. Register one with on_new_listener.");
    } else {
        print_note("elog: {} asked for the state; all listeners in the kernel get it.",
                   asked == 1 ? "1 provider was" : std::to_string(asked) + " providers were");
    }
}

}  // namespace elog
