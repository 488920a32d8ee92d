// SPDX-License-Identifier: MIT
//
// Events that are defined at run time: each argument names one, with its numbers.
//
//     ./dynamic door_opened:door,floor lamp_lit:lamp &
//     elog record -e dynamic
//
// Emits each of them ten times a second, 300 times; a number as first argument replaces the 300. A
// real program would read the definitions from a file.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <eventlog/dynamic_definition.hpp>
#include <eventlog/dynamic_provider.hpp>

namespace {

/// Adds the event that an argument describes; returns the number of its fields.
std::size_t add_event(eventlog::definition_builder& definition, const std::string& argument) {
    std::istringstream rest(argument);
    std::string name;
    std::getline(rest, name, ':');
    definition.event(name);
    std::size_t count = 0;
    for (; std::getline(rest, name, ','); ++count) {
        definition.field<std::uint64_t>(name);
    }
    return count;
}

}  // namespace

int main(int argument_count, char** arguments) {
    // No event has a name that begins with a digit.
    const bool has_rounds = argument_count > 1 && arguments[1][0] >= '0' && arguments[1][0] <= '9';
    const int rounds = has_rounds ? std::atoi(arguments[1]) : 300;
    eventlog::definition_builder definition("dynamic");
    std::vector<std::size_t> field_counts;
    for (int i = has_rounds ? 2 : 1; i < argument_count; ++i) {
        field_counts.push_back(add_event(definition, arguments[i]));
    }
    if (field_counts.empty()) {
        field_counts.push_back(add_event(definition, "tick:number"));
    }
    const eventlog::dynamic_provider provider(definition);
    if (provider.error() != EVENTLOG_ERROR_NONE) {
        std::cerr << "dynamic: " << provider.error_text() << '\n';
        return EXIT_FAILURE;
    }

    for (int round = 0; round < rounds; ++round) {
        for (std::uint32_t event = 0; event < field_counts.size(); ++event) {
            // A list, because the number of fields is known at run time only.
            const std::vector<eventlog_value> values(
                field_counts[event], eventlog_unsigned(static_cast<std::uint64_t>(round)));
            eventlog_emit(provider.handle(), event, values.data(), values.size());
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}
