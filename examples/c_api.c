/* SPDX-License-Identifier: MIT */
/*
 * A program in C that defines its events at run time. In one terminal:
 *
 *     ./c_api
 *
 * and in another, while it runs:
 *
 *     elog list
 *     elog record -e weather
 *     elog record -e weather --session 2      # only one station
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

#include <eventlog/eventlog.h>

enum { station_found, measured, station_begins, station_ends };
enum { station_count = 2 };

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

static const struct eventlog_value_definition sky_values[] = {
    {"clear", 0}, {"cloudy", 1}, {"rain", 2}};
static const struct eventlog_enumeration_definition sky = {"sky", sky_values, COUNT(sky_values),
                                                           false};

static const struct eventlog_field_definition found_fields[] = {
    {.name = "station", .type = EVENTLOG_TYPE_TEXT},
    {.name = "address",
     .type = EVENTLOG_TYPE_UNSIGNED_8,
     .count = 4,
     .format = EVENTLOG_FORMAT_IP_ADDRESS},
};
static const struct eventlog_field_definition measured_fields[] = {
    {.name = "station", .type = EVENTLOG_TYPE_TEXT},
    {.name = "temperature", .type = EVENTLOG_TYPE_FLOAT_32, .unit = "C"},
    {.name = "sky", .type = EVENTLOG_TYPE_UNSIGNED_8, .enumeration = &sky},
    {.name = "wind",
     .type = EVENTLOG_TYPE_UNSIGNED_16,
     .optional = true,
     .unit = "km/h",
     .description = "absent where there is no vane"},
};
static const struct eventlog_event_definition events[] = {
    [station_found] = {.name = "station_found",
                       .description = "A weather station has answered",
                       .fields = found_fields,
                       .field_count = COUNT(found_fields)},
    [measured] = {.name = "measured",
                  .description = "What a station has measured",
                  .level = EVENTLOG_LEVEL_VERBOSE,
                  .session_bound = true,
                  .fields = measured_fields,
                  .field_count = COUNT(measured_fields)},
    [station_begins] = EVENTLOG_SESSION_BEGIN_EVENT,
    [station_ends] = EVENTLOG_SESSION_END_EVENT,
};

static const char* const station_names[station_count] = {"harbour", "hill"};

static void emit(struct eventlog_provider* weather, uint32_t event,
                 const struct eventlog_value* values, size_t count) {
    char text[EVENTLOG_TEXT_SIZE];
    if (eventlog_emit(weather, event, values, count) != EVENTLOG_ERROR_NONE) {
        eventlog_check_values(weather, event, values, count, text, sizeof text);
        fprintf(stderr, "c_api: %s\n", text);
    }
}

/* Each station is a session, so its measurements can be selected by its number. */
static void measure(const struct eventlog_session* station, uint32_t number) {
    /* Values that only an event needs are computed only if it has a listener. */
    if (eventlog_session_enabled(station, measured)) {
        const struct eventlog_value values[] = {
            eventlog_text(station_names[station->id - 1]),
            eventlog_real(18.5 + number % 10 * 0.25),
            eventlog_unsigned(number % 3),
            number % 2 == 0 ? eventlog_unsigned(12 + number % 5) : eventlog_absent(),
        };
        eventlog_session_emit(station, measured, values, COUNT(values));
    }
}

int main(int argument_count, char** arguments) {
    const int measurements = argument_count > 1 ? atoi(arguments[1]) : 600;
    const struct eventlog_definition definition = {EVENTLOG_DEFINITION_SIZES, .name = "weather",
                                                   .description = "A few weather stations",
                                                   .events = events, .event_count = COUNT(events)};
    struct eventlog_provider* weather = NULL;
    char text[EVENTLOG_TEXT_SIZE];
    if (eventlog_provider_create(&definition, &weather, text, sizeof text) != EVENTLOG_ERROR_NONE) {
        fprintf(stderr, "c_api: %s\n", text);
        return EXIT_FAILURE;
    }
    const uint8_t address[4] = {192, 0, 2, 17};
    const struct eventlog_value found[] = {
        eventlog_text("harbour"),
        eventlog_array(EVENTLOG_TYPE_UNSIGNED_8, address, sizeof address),
    };
    emit(weather, station_found, found, COUNT(found));
    struct eventlog_session stations[station_count];
    for (uint32_t i = 0; i < station_count; ++i) {
        eventlog_session_begin(&stations[i], weather, i + 1);
    }
    for (int i = 0; i < measurements; ++i) {
        measure(&stations[i % station_count], (uint32_t)i);
        thrd_sleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    }
    for (uint32_t i = 0; i < station_count; ++i) {
        eventlog_session_end(&stations[i]);
    }
    eventlog_provider_destroy(weather);
    return EXIT_SUCCESS;
}
