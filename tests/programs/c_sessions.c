/* SPDX-License-Identifier: MIT */
/*
 * Three sessions at once in C, with the ids 1 to 3: each begins, emits two events and ends. Prints
 * the number of emitted events, and the errors.
 */
#include <stdio.h>

#include <eventlog/eventlog.h>

enum { said, whispered, announced, session_begins, session_ends };
enum { session_count = 3 };

static const struct eventlog_field_definition fields[] = {
    {.name = "word", .type = EVENTLOG_TYPE_TEXT},
    {.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_16},
};
static const struct eventlog_event_definition events[] = {
    [said] = {.name = "said", .session_bound = true, .fields = fields, .field_count = 2},
    [whispered] = {.name = "whispered",
                   .level = EVENTLOG_LEVEL_TRACE,
                   .session_bound = true,
                   .fields = fields,
                   .field_count = 1},
    [announced] = {.name = "announced", .fields = fields, .field_count = 1},
    [session_begins] = EVENTLOG_SESSION_BEGIN_EVENT,
    [session_ends] = EVENTLOG_SESSION_END_EVENT,
};

static int emitted = 0;
static int enabled = 0;

static void note(enum eventlog_error error) {
    if (error == EVENTLOG_ERROR_NONE) {
        ++emitted;
    } else {
        printf("%s\n", eventlog_error_text(error));
    }
}

static void speak(const struct eventlog_session* session) {
    const struct eventlog_value values[] = {eventlog_text("aloud"),
                                            eventlog_unsigned(session->id * 100)};
    enabled += eventlog_session_enabled(session, said) ? 1 : 0;
    note(eventlog_session_emit(session, said, values, 2));
    note(eventlog_session_emit(session, whispered, values, 1));
}

int main(void) {
    const struct eventlog_definition definition = {EVENTLOG_DEFINITION_SIZES, .name = "c_sessions",
                                                   .events = events, .event_count = 5};
    struct eventlog_provider* provider = NULL;
    char text[EVENTLOG_TEXT_SIZE];
    if (eventlog_provider_create(&definition, &provider, text, sizeof text) !=
        EVENTLOG_ERROR_NONE) {
        printf("%s\n", text);
        return 1;
    }
    struct eventlog_session sessions[session_count];
    for (unsigned i = 0; i < session_count; ++i) {
        note(eventlog_session_begin(&sessions[i], provider, i + 1));
    }
    const struct eventlog_value all = eventlog_text("all");
    note(eventlog_emit(provider, announced, &all, 1));
    for (unsigned i = 0; i < session_count; ++i) {
        speak(&sessions[i]);
    }
    note(eventlog_session_emit(&sessions[0], announced, &all, 1)); /* not an event of a session */
    for (unsigned i = 0; i < session_count; ++i) {
        note(eventlog_session_end(&sessions[i]));
    }
    printf("%d emitted, %d enabled\n", emitted, enabled);
    eventlog_provider_destroy(provider);
    return 0;
}
