/* SPDX-License-Identifier: MIT */
/* Test of what a program emits: capture its events, run the code, check them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <eventlog/collector.h>
#include <eventlog/eventlog.h>

enum { mail_sent };
static const struct eventlog_field_definition mail_fields[] = {
    {.name = "recipient", .type = EVENTLOG_TYPE_TEXT},
    {.name = "attempts", .type = EVENTLOG_TYPE_UNSIGNED_8},
};
static const struct eventlog_event_definition events[] = {
    [mail_sent] = {.name = "mail_sent", .fields = mail_fields, .field_count = 2}};

/* The code under test. Values are checked also without a listener; a test reports the error. */
static void send_mail(struct eventlog_provider* mailer, const char* recipient, uint64_t attempts) {
    char text[EVENTLOG_TEXT_SIZE];
    const struct eventlog_value values[] = {eventlog_text(recipient), eventlog_unsigned(attempts)};
    if (eventlog_emit(mailer, mail_sent, values, 2) != EVENTLOG_ERROR_NONE) {
        eventlog_check_values(mailer, mail_sent, values, 2, text, sizeof text);
        fprintf(stderr, "%s\n", text);
    }
}

/* Whether the next event is a mail to that recipient. */
static bool has_sent(struct eventlog_collector* mails, const char* recipient) {
    struct eventlog_collected event = {.size = sizeof event};
    struct eventlog_value value;
    char payload[256];
    return eventlog_collector_try_get(mails, &event, payload, sizeof payload) ==
               EVENTLOG_COLLECTOR_EVENT &&
           eventlog_collected_value(&event, payload, "recipient", &value) &&
           value.type == EVENTLOG_VALUE_TEXT && strcmp(value.as.data, recipient) == 0;
}

int main(int argument_count, char** arguments) {
    const struct eventlog_definition definition = {EVENTLOG_DEFINITION_SIZES, .name = "mailer",
                                                   .events = events, .event_count = 1};
    const char* const patterns[] = {"mailer:*"};
    struct eventlog_provider* mailer = NULL;
    struct eventlog_collector* mails = NULL;
    char text[EVENTLOG_TEXT_SIZE];
    if (eventlog_provider_create(&definition, &mailer, text, sizeof text) != EVENTLOG_ERROR_NONE ||
        eventlog_collector_create(patterns, 1, NULL, &mails, text, sizeof text) !=
            EVENTLOG_ERROR_NONE) {
        fprintf(stderr, "%s\n", text);
        return EXIT_FAILURE;
    }
    send_mail(mailer, "ann@example.org", argument_count > 1 ? strtoull(arguments[1], NULL, 10) : 1);
    const bool is_sent = has_sent(mails, "ann@example.org");
    eventlog_collector_destroy(mails);
    eventlog_provider_destroy(mailer);
    return is_sent ? EXIT_SUCCESS : EXIT_FAILURE;
}
