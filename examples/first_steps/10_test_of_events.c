/* SPDX-License-Identifier: MIT */
/* Test of what a program emits: values are checked also without a listener. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <eventlog/eventlog.h>

enum { mail_sent };
static const struct eventlog_field_definition mail_fields[] = {
    {.name = "recipient", .type = EVENTLOG_TYPE_TEXT},
    {.name = "attempts", .type = EVENTLOG_TYPE_UNSIGNED_8},
};
static const struct eventlog_event_definition events[] = {
    [mail_sent] = {.name = "mail_sent", .fields = mail_fields, .field_count = 2}};

/* The code under test. In a test, a report of the error is its failure. */
static int send_mail(struct eventlog_provider* mailer, const char* recipient, uint64_t attempts) {
    char text[EVENTLOG_TEXT_SIZE];
    const struct eventlog_value values[] = {eventlog_text(recipient), eventlog_unsigned(attempts)};
    if (eventlog_emit(mailer, mail_sent, values, 2) == EVENTLOG_ERROR_NONE) {
        return EXIT_SUCCESS;
    }
    eventlog_check_values(mailer, mail_sent, values, 2, text, sizeof text);
    fprintf(stderr, "%s\n", text);
    return EXIT_FAILURE;
}

int main(int argument_count, char** arguments) {
    const struct eventlog_definition definition = {EVENTLOG_DEFINITION_SIZES, .name = "mailer",
                                                   .events = events, .event_count = 1};
    struct eventlog_provider* mailer = NULL;
    char text[EVENTLOG_TEXT_SIZE];
    if (eventlog_provider_create(&definition, &mailer, text, sizeof text) != EVENTLOG_ERROR_NONE) {
        fprintf(stderr, "%s\n", text);
        return EXIT_FAILURE;
    }
    const uint64_t attempts = argument_count > 1 ? strtoull(arguments[1], NULL, 10) : 1;
    const int status = send_mail(mailer, "ann@example.org", attempts);
    eventlog_provider_destroy(mailer);
    return status;
}
