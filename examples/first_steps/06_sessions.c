/* SPDX-License-Identifier: MIT */
/* Sessions: events carry the number of their request; --session 2 selects those of one. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <eventlog/eventlog.h>

enum { answered, request_begins, request_ends };
static const struct eventlog_field_definition status = {.name = "status",
                                                        .type = EVENTLOG_TYPE_UNSIGNED_16};
static const struct eventlog_event_definition events[] = {
    [answered] = {.name = "answered", .session_bound = true, .fields = &status, .field_count = 1},
    [request_begins] = EVENTLOG_SESSION_BEGIN_EVENT,
    [request_ends] = EVENTLOG_SESSION_END_EVENT,
};

static bool answer(const struct eventlog_session* request, uint64_t code) {
    const struct eventlog_value value = eventlog_unsigned(code);
    return eventlog_session_emit(request, answered, &value, 1) == EVENTLOG_ERROR_NONE;
}

int main(void) {
    const struct eventlog_definition definition = {EVENTLOG_DEFINITION_SIZES, .name = "web",
                                                   .events = events, .event_count = 3};
    struct eventlog_provider* web = NULL;
    char text[EVENTLOG_TEXT_SIZE];
    if (eventlog_provider_create(&definition, &web, text, sizeof text) != EVENTLOG_ERROR_NONE) {
        fprintf(stderr, "%s\n", text);
        return EXIT_FAILURE;
    }
    struct eventlog_session first;
    struct eventlog_session second;
    const bool emitted = eventlog_session_begin(&first, web, 1) == EVENTLOG_ERROR_NONE &&
                         eventlog_session_begin(&second, web, 2) == EVENTLOG_ERROR_NONE &&
                         answer(&second, 404) && answer(&first, 200) &&
                         eventlog_session_end(&second) == EVENTLOG_ERROR_NONE &&
                         eventlog_session_end(&first) == EVENTLOG_ERROR_NONE;
    eventlog_provider_destroy(web);
    return emitted ? EXIT_SUCCESS : EXIT_FAILURE;
}
