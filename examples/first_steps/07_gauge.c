/* SPDX-License-Identifier: MIT */
/* Gauge: an event whose number is the new value of a quantity. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <eventlog/eventlog.h>

enum { queue_length };
static const struct eventlog_field_definition jobs = {.name = "jobs",
                                                      .type = EVENTLOG_TYPE_SIGNED_64};
static const struct eventlog_event_definition events[] = {
    [queue_length] = {
        .name = "queue_length", .kind = EVENTLOG_KIND_GAUGE, .fields = &jobs, .field_count = 1}};

static bool change(struct eventlog_provider* printer, int64_t* length, int64_t difference) {
    *length += difference;
    const struct eventlog_value value = eventlog_signed(*length);
    return eventlog_emit(printer, queue_length, &value, 1) == EVENTLOG_ERROR_NONE;
}

int main(void) {
    const struct eventlog_definition definition = {EVENTLOG_DEFINITION_SIZES, .name = "printer",
                                                   .events = events, .event_count = 1};
    struct eventlog_provider* printer = NULL;
    char text[EVENTLOG_TEXT_SIZE];
    if (eventlog_provider_create(&definition, &printer, text, sizeof text) != EVENTLOG_ERROR_NONE) {
        fprintf(stderr, "%s\n", text);
        return EXIT_FAILURE;
    }
    int64_t length = 0;
    const bool emitted = change(printer, &length, 1) && change(printer, &length, 2) &&
                         change(printer, &length, -1) && change(printer, &length, -length);
    eventlog_provider_destroy(printer);
    return emitted ? EXIT_SUCCESS : EXIT_FAILURE;
}
