// SPDX-License-Identifier: MIT
//
// Dynamic provider: events that are known at run time only. ./08_dynamic_provider [QUANTITY]
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>

#include <eventlog/dynamic_provider.hpp>

int main(int argument_count, char** arguments) {
    const eventlog_field_definition fields[] = {
        {.name = "room", .type = EVENTLOG_TYPE_TEXT},
        {.name = argument_count > 1 ? arguments[1] : "temperature", .type = EVENTLOG_TYPE_FLOAT_64},
        {.name = "battery", .type = EVENTLOG_TYPE_UNSIGNED_8, .optional = true, .unit = "%"}};
    const eventlog_event_definition events[] = {
        {.name = "measured", .fields = fields, .field_count = 3}};
    const eventlog::dynamic_provider sensor(
        {EVENTLOG_DEFINITION_SIZES, .name = "sensor", .events = events, .event_count = 1});
    if (sensor.error() != EVENTLOG_ERROR_NONE) {
        std::cerr << sensor.error_text() << '\n';
        return EXIT_FAILURE;
    }

    constexpr std::uint32_t measured = 0;  // the position in the list
    const eventlog_error first = sensor.emit(measured, "attic", 21.5, 80);
    const eventlog_error second = sensor.emit(measured, "cellar", 12.25, std::nullopt);
    for (const eventlog_error error : {first, second}) {
        if (error != EVENTLOG_ERROR_NONE) {
            std::cerr << eventlog_error_text(error) << '\n';
            return EXIT_FAILURE;
        }
    }
}
