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
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <eventlog/dynamic_provider.hpp>

namespace {

struct described_event {
    std::string name;
    std::vector<std::string> fields;
};

described_event parse(const std::string& argument) {
    described_event event;
    std::istringstream rest(argument);
    std::getline(rest, event.name, ':');
    for (std::string field; std::getline(rest, field, ',');) {
        event.fields.push_back(field);
    }
    return event;
}

}  // namespace

int main(int argument_count, char** arguments) {
    std::vector<described_event> described;
    // No event has a name that begins with a digit.
    const bool has_rounds = argument_count > 1 && arguments[1][0] >= '0' && arguments[1][0] <= '9';
    const int rounds = has_rounds ? std::atoi(arguments[1]) : 300;
    for (int i = has_rounds ? 2 : 1; i < argument_count; ++i) {
        described.push_back(parse(arguments[i]));
    }
    if (described.empty()) {
        described = {parse("tick:number")};
    }

    // These vectors may be destroyed after the provider is defined.
    std::vector<std::vector<eventlog_field_definition>> fields;
    std::vector<eventlog_event_definition> events;
    for (const described_event& event : described) {
        auto& added = fields.emplace_back();
        for (const std::string& name : event.fields) {
            added.push_back({.name = name.c_str(), .type = EVENTLOG_TYPE_UNSIGNED_64});
        }
        events.push_back({.name = event.name.c_str(),
                          .fields = added.data(),
                          .field_count = static_cast<std::uint32_t>(added.size())});
    }
    const eventlog::dynamic_provider provider(
        {EVENTLOG_DEFINITION_SIZES, .name = "dynamic", .events = events.data(),
         .event_count = static_cast<std::uint32_t>(events.size())});
    if (provider.error() != EVENTLOG_ERROR_NONE) {
        std::cerr << "dynamic: " << provider.error_text() << '\n';
        return EXIT_FAILURE;
    }

    for (int round = 0; round < rounds; ++round) {
        for (std::uint32_t event = 0; event < events.size(); ++event) {
            // A list, because the number of fields is known at run time only.
            const std::vector<eventlog_value> values(
                described[event].fields.size(),
                eventlog_unsigned(static_cast<std::uint64_t>(round)));
            eventlog_emit(provider.handle(), event, values.data(), values.size());
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}
