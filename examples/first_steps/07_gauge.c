/* SPDX-License-Identifier: MIT */
/* Gauge: a number that emits its event whenever it changes. */
#include <stdio.h>
#include <stdlib.h>

#include <eventlog/eventlog.h>

enum { queue_length };
static const struct eventlog_field_definition jobs = {.name = "jobs",
                                                      .type = EVENTLOG_TYPE_SIGNED_64};
static const struct eventlog_event_definition events[] = {
    [queue_length] = {
        .name = "queue_length", .kind = EVENTLOG_KIND_GAUGE, .fields = &jobs, .field_count = 1}};

static struct eventlog_gauge queue;

int main(void) {
    const struct eventlog_definition definition = {EVENTLOG_DEFINITION_SIZES, .name = "printer",
                                                   .events = events, .event_count = 1};
    struct eventlog_provider* printer = NULL;
    char text[EVENTLOG_TEXT_SIZE];
    if (eventlog_provider_create(&definition, &printer, text, sizeof text) != EVENTLOG_ERROR_NONE) {
        fprintf(stderr, "%s\n", text);
        return EXIT_FAILURE;
    }
    eventlog_gauge_init(&queue, printer, queue_length, 0);
    eventlog_gauge_add(&queue, 1);
    eventlog_gauge_add(&queue, 2);
    eventlog_gauge_add(&queue, -1);
    eventlog_gauge_set(&queue, 0);
    eventlog_provider_destroy(printer);
    return EXIT_SUCCESS;
}
