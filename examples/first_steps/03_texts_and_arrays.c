/* SPDX-License-Identifier: MIT */
/* Texts, bytes and arrays: of any length, or of a fixed number of elements. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <eventlog/eventlog.h>

enum { mail_received };
static const struct eventlog_field_definition mail_fields[] = {
    {.name = "sender", .type = EVENTLOG_TYPE_TEXT},
    {.name = "address",
     .type = EVENTLOG_TYPE_UNSIGNED_8,
     .count = 4,
     .format = EVENTLOG_FORMAT_IP_ADDRESS},
    {.name = "scores", .type = EVENTLOG_TYPE_FLOAT_32, .count = 3},
    {.name = "part_sizes", .type = EVENTLOG_TYPE_UNSIGNED_32, .is_sequence = true},
    {.name = "begin", .type = EVENTLOG_TYPE_BYTES},
};
static const struct eventlog_event_definition events[] = {
    [mail_received] = {.name = "mail_received", .fields = mail_fields, .field_count = 5}};

int main(void) {
    const struct eventlog_definition definition = {EVENTLOG_DEFINITION_SIZES, .name = "mailbox",
                                                   .events = events, .event_count = 1};
    struct eventlog_provider* mailbox = NULL;
    char text[EVENTLOG_TEXT_SIZE];
    if (eventlog_provider_create(&definition, &mailbox, text, sizeof text) != EVENTLOG_ERROR_NONE) {
        fprintf(stderr, "%s\n", text);
        return EXIT_FAILURE;
    }
    const uint8_t address[] = {192, 0, 2, 7};
    const float scores[] = {0.5F, 0.25F, 2};
    const uint32_t part_sizes[] = {120, 4096};
    const struct eventlog_value values[] = {
        eventlog_text("ann@example.org"),
        eventlog_array(EVENTLOG_TYPE_UNSIGNED_8, address, 4),
        eventlog_array(EVENTLOG_TYPE_FLOAT_32, scores, 3),
        eventlog_array(EVENTLOG_TYPE_UNSIGNED_32, part_sizes, 2),
        eventlog_bytes("Hi\n", 3),
    };
    const enum eventlog_error error = eventlog_emit(mailbox, mail_received, values, 5);
    eventlog_provider_destroy(mailbox);
    return error == EVENTLOG_ERROR_NONE ? EXIT_SUCCESS : EXIT_FAILURE;
}
