/* SPDX-License-Identifier: MIT */
/* First event: a definition, a provider that is created from it, and a call. */
#include <stdio.h>
#include <stdlib.h>

#include <eventlog/eventlog.h>

enum { greeting };
static const struct eventlog_field_definition greeting_fields[] = {
    {.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_32},
    {.name = "text", .type = EVENTLOG_TYPE_TEXT},
};
static const struct eventlog_event_definition events[] = {
    [greeting] = {.name = "greeting", .fields = greeting_fields, .field_count = 2}};

int main(void) {
    const struct eventlog_definition definition = {EVENTLOG_DEFINITION_SIZES, .name = "greeter",
                                                   .events = events, .event_count = 1};
    struct eventlog_provider* greeter = NULL;
    char text[EVENTLOG_TEXT_SIZE];
    if (eventlog_provider_create(&definition, &greeter, text, sizeof text) != EVENTLOG_ERROR_NONE) {
        fprintf(stderr, "%s\n", text);
        return EXIT_FAILURE;
    }
    const struct eventlog_value values[] = {eventlog_unsigned(1), eventlog_text("hello, listener")};
    const enum eventlog_error error = eventlog_emit(greeter, greeting, values, 2);
    eventlog_provider_destroy(greeter);
    return error == EVENTLOG_ERROR_NONE ? EXIT_SUCCESS : EXIT_FAILURE;
}
