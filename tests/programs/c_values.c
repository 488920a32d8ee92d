/* SPDX-License-Identifier: MIT */
/*
 * Emits values of every type in C, and prints the number of emitted events. With an argument, the
 * definition has an error, which it prints.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <eventlog/eventlog.h>

#define COUNT(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

enum { single_event, arrays_event, texts_event, nothing_event, session_event };

static const struct eventlog_value_definition color_values[] = {{"red", 0}, {"green", 1}};
static const struct eventlog_enumeration_definition color = {"color", color_values, 2, false};
static const struct eventlog_value_definition right_values[] = {{"may_read", 1}, {"may_write", 2}};
static const struct eventlog_enumeration_definition rights = {"rights", right_values, 2, true};

static const struct eventlog_field_definition single_fields[] = {
    {.name = "boolean", .type = EVENTLOG_TYPE_BOOLEAN},
    {.name = "character", .type = EVENTLOG_TYPE_CHARACTER},
    {.name = "signed_8", .type = EVENTLOG_TYPE_SIGNED_8},
    {.name = "signed_16", .type = EVENTLOG_TYPE_SIGNED_16},
    {.name = "signed_32", .type = EVENTLOG_TYPE_SIGNED_32},
    {.name = "signed_64", .type = EVENTLOG_TYPE_SIGNED_64},
    {.name = "unsigned_8", .type = EVENTLOG_TYPE_UNSIGNED_8},
    {.name = "unsigned_16", .type = EVENTLOG_TYPE_UNSIGNED_16},
    {.name = "unsigned_32", .type = EVENTLOG_TYPE_UNSIGNED_32},
    {.name = "unsigned_64", .type = EVENTLOG_TYPE_UNSIGNED_64},
    {.name = "float_32", .type = EVENTLOG_TYPE_FLOAT_32},
    {.name = "float_64", .type = EVENTLOG_TYPE_FLOAT_64},
    {.name = "paint", .type = EVENTLOG_TYPE_UNSIGNED_8, .enumeration = &color},
    {.name = "may", .type = EVENTLOG_TYPE_UNSIGNED_32, .enumeration = &rights},
    {.name = "absent", .type = EVENTLOG_TYPE_UNSIGNED_64, .optional = true},
    {.name = "present", .type = EVENTLOG_TYPE_UNSIGNED_64, .optional = true},
};
static const struct eventlog_field_definition array_fields[] = {
    {.name = "numbers", .type = EVENTLOG_TYPE_SIGNED_16, .count = 3},
    {.name = "reals", .type = EVENTLOG_TYPE_FLOAT_64, .count = 2},
    {.name = "address",
     .type = EVENTLOG_TYPE_UNSIGNED_8,
     .count = 4,
     .format = EVENTLOG_FORMAT_IP_ADDRESS},
    {.name = "tag",
     .type = EVENTLOG_TYPE_CHARACTER,
     .count = 8,
     .format = EVENTLOG_FORMAT_CHARACTERS},
};
static const struct eventlog_field_definition text_fields[] = {
    {.name = "terminated", .type = EVENTLOG_TYPE_TEXT},
    {.name = "counted", .type = EVENTLOG_TYPE_TEXT},
    {.name = "null", .type = EVENTLOG_TYPE_TEXT},
    {.name = "bytes", .type = EVENTLOG_TYPE_BYTES},
};
static const struct eventlog_field_definition session_fields[] = {
    {.name = "step", .type = EVENTLOG_TYPE_UNSIGNED_8},
};
static struct eventlog_event_definition events[] = {
    [single_event] = {.name = "single",
                      .fields = single_fields,
                      .field_count = COUNT(single_fields)},
    [arrays_event] = {.name = "arrays", .fields = array_fields, .field_count = COUNT(array_fields)},
    [texts_event] = {.name = "texts", .fields = text_fields, .field_count = COUNT(text_fields)},
    [nothing_event] = {.name = "nothing", .level = EVENTLOG_LEVEL_ERROR},
    [session_event] = {.name = "in_session",
                       .session_bound = true,
                       .fields = session_fields,
                       .field_count = COUNT(session_fields)},
};

static int emitted = 0;

static void emit(struct eventlog_provider* provider, uint32_t event,
                 const struct eventlog_value* values, size_t count) {
    const enum eventlog_error error = eventlog_emit(provider, event, values, count);
    if (error == EVENTLOG_ERROR_NONE) {
        ++emitted;
    } else {
        printf("%s\n", eventlog_error_text(error));
    }
}

static void emit_all(struct eventlog_provider* provider) {
    const struct eventlog_value single[] = {
        eventlog_boolean(true),        eventlog_signed('x'),          eventlog_signed(INT8_MIN),
        eventlog_signed(INT16_MIN),    eventlog_signed(INT32_MIN),    eventlog_signed(INT64_MIN),
        eventlog_unsigned(UINT8_MAX),  eventlog_unsigned(UINT16_MAX), eventlog_unsigned(UINT32_MAX),
        eventlog_unsigned(UINT64_MAX), eventlog_real(0.25),           eventlog_real(-1e300),
        eventlog_unsigned(1),          eventlog_unsigned(3),          eventlog_absent(),
        eventlog_unsigned(5),
    };
    emit(provider, single_event, single, COUNT(single));
    const int16_t numbers[] = {-1, 0, 1};
    const double reals[] = {0.5, 2.5};
    const uint8_t address[] = {192, 0, 2, 1};
    const char tag[8] = "tag";
    const struct eventlog_value arrays[] = {
        eventlog_array(EVENTLOG_TYPE_SIGNED_16, numbers, COUNT(numbers)),
        eventlog_array(EVENTLOG_TYPE_FLOAT_64, reals, COUNT(reals)),
        eventlog_array(EVENTLOG_TYPE_UNSIGNED_8, address, COUNT(address)),
        eventlog_array(EVENTLOG_TYPE_CHARACTER, tag, COUNT(tag)),
    };
    emit(provider, arrays_event, arrays, COUNT(arrays));
    const struct eventlog_value texts[] = {eventlog_text("to the NUL"),
                                           eventlog_text_of("counted, not this", 7),
                                           eventlog_text(NULL), eventlog_bytes("\x01\xff", 2)};
    emit(provider, texts_event, texts, COUNT(texts));
    emit(provider, nothing_event, NULL, 0);
    const struct eventlog_value in_session[] = {eventlog_unsigned(77), eventlog_unsigned(1)};
    emit(provider, session_event, in_session, COUNT(in_session));
}

int main(int argument_count, char** arguments) {
    (void)arguments;
    if (argument_count > 1) {
        events[nothing_event].name = "single";
    }
    const struct eventlog_definition definition = {EVENTLOG_DEFINITION_SIZES, .name = "c_values",
                                                   .events = events, .event_count = COUNT(events)};
    struct eventlog_provider* provider = NULL;
    char text[EVENTLOG_TEXT_SIZE];
    const enum eventlog_error error =
        eventlog_provider_create(&definition, &provider, text, sizeof text);
    if (error != EVENTLOG_ERROR_NONE) {
        printf("%d\n%s\n", (int)error, text);
    }
    emit_all(provider);
    printf("%d emitted, status %d\n", emitted, (int)eventlog_provider_status(provider, NULL, 0));
    /* libeventlog unregisters the provider when the process ends. */
    return 0;
}
