/* SPDX-License-Identifier: MIT */
/*
 * Makes the most likely mistakes of first programs in C, examples/first_steps, and prints the
 * library's sentence about each, behind its name.
 */
#include <stdint.h>
#include <stdio.h>

#include <eventlog/eventlog.h>

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

enum { greeting, scored, answered, queue_length };

static const struct eventlog_field_definition greeting_fields[] = {
    {.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_32},
    {.name = "text", .type = EVENTLOG_TYPE_TEXT},
};
static const struct eventlog_field_definition scores = {
    .name = "scores", .type = EVENTLOG_TYPE_FLOAT_32, .count = 3};
static const struct eventlog_field_definition status = {.name = "status",
                                                        .type = EVENTLOG_TYPE_UNSIGNED_16};
static const struct eventlog_field_definition jobs = {.name = "jobs",
                                                      .type = EVENTLOG_TYPE_UNSIGNED_64};
static const struct eventlog_event_definition events[] = {
    [greeting] = {.name = "greeting", .fields = greeting_fields, .field_count = 2},
    [scored] = {.name = "scored", .fields = &scores, .field_count = 1},
    [answered] = {.name = "answered", .session_bound = true, .fields = &status, .field_count = 1},
    [queue_length] = {
        .name = "queue_length", .kind = EVENTLOG_KIND_GAUGE, .fields = &jobs, .field_count = 1}};

static void define(const char* mistake, const struct eventlog_definition* definition) {
    struct eventlog_provider* provider = NULL;
    char text[EVENTLOG_TEXT_SIZE] = "";
    if (eventlog_provider_create(definition, &provider, text, sizeof text) != EVENTLOG_ERROR_NONE) {
        printf("%s: %s\n", mistake, text);
    }
    eventlog_provider_destroy(provider);
}

static void define_wrongly(void) {
    const struct eventlog_definition unsized = {
        .name = "mistaken", .events = events, .event_count = COUNT(events)};
    define("definition_without_sizes", &unsized);

    static const struct eventlog_event_definition with_keyword[] = {
        {.name = "cell_changed", .keywords = UINT64_C(1) << 1}};
    const struct eventlog_keyword_definition radio = {"radio", 0};
    const struct eventlog_definition unnamed = {EVENTLOG_DEFINITION_SIZES, .name = "mistaken",
                                                .keywords = &radio,        .keyword_count = 1,
                                                .events = with_keyword,    .event_count = 1};
    define("keyword_without_name", &unnamed);

    const struct eventlog_definition uncounted = {EVENTLOG_DEFINITION_SIZES, .name = "mistaken",
                                                  .events = events};
    define("definition_without_event_count", &uncounted);
}

static void check(const char* mistake, struct eventlog_provider* provider, uint32_t event,
                  const struct eventlog_value* values, size_t count) {
    char text[EVENTLOG_TEXT_SIZE] = "";
    if (eventlog_emit(provider, event, values, count) != EVENTLOG_ERROR_NONE) {
        eventlog_check_values(provider, event, values, count, text, sizeof text);
        printf("%s: %s\n", mistake, text);
    }
}

static void emit_wrongly(struct eventlog_provider* provider) {
    const struct eventlog_value number = eventlog_unsigned(1);
    check("event_not_defined", provider, COUNT(events), &number, 1);
    check("value_forgotten", provider, greeting, &number, 1);

    const struct eventlog_value absent[] = {eventlog_unsigned(1), eventlog_absent()};
    check("absent_value_of_required_field", provider, greeting, absent, 2);
    const struct eventlog_value swapped[] = {eventlog_text("hello"), eventlog_unsigned(1)};
    check("values_in_wrong_order", provider, greeting, swapped, 2);

    const double wide[] = {0.5, 0.25, 2};
    const struct eventlog_value doubles = eventlog_array(EVENTLOG_TYPE_FLOAT_64, wide, 3);
    check("array_of_doubles_for_floats", provider, scored, &doubles, 1);
    check("session_event_through_provider", provider, answered, &number, 1);

    const struct eventlog_value negative = eventlog_signed(-1);
    check("negative_value_of_unsigned_gauge", provider, queue_length, &negative, 1);
}

int main(void) {
    define_wrongly();
    const struct eventlog_definition definition = {EVENTLOG_DEFINITION_SIZES, .name = "mistakes",
                                                   .events = events, .event_count = COUNT(events)};
    struct eventlog_provider* provider = NULL;
    if (eventlog_provider_create(&definition, &provider, NULL, 0) != EVENTLOG_ERROR_NONE) {
        return 1;
    }
    emit_wrongly(provider);
    eventlog_provider_destroy(provider);
    return 0;
}
