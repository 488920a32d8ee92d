/* SPDX-License-Identifier: MIT */
/* Levels and keywords: a listener selects by them, as in -e modem@warn or -e modem/radio. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <eventlog/eventlog.h>

enum { radio, billing };
static const struct eventlog_keyword_definition keywords[] = {{"radio", radio},
                                                              {"billing", billing}};
#define KEYWORD(bit) (UINT64_C(1) << (bit))

enum { cell_changed, signal_lost, switched_on };
static const struct eventlog_field_definition cell = {.name = "cell",
                                                      .type = EVENTLOG_TYPE_UNSIGNED_32};
static const struct eventlog_event_definition events[] = {
    [cell_changed] = {.name = "cell_changed",
                      .level = EVENTLOG_LEVEL_VERBOSE,
                      .keywords = KEYWORD(radio),
                      .fields = &cell,
                      .field_count = 1},
    [signal_lost] = {.name = "signal_lost",
                     .level = EVENTLOG_LEVEL_WARN,
                     .keywords = KEYWORD(radio) | KEYWORD(billing)},
    [switched_on] = {.name = "switched_on"}, /* info; with no keyword selected by each */
};

int main(void) {
    const struct eventlog_definition definition = {EVENTLOG_DEFINITION_SIZES, .name = "modem",
                                                   .keywords = keywords,      .keyword_count = 2,
                                                   .events = events,          .event_count = 3};
    struct eventlog_provider* modem = NULL;
    char text[EVENTLOG_TEXT_SIZE];
    if (eventlog_provider_create(&definition, &modem, text, sizeof text) != EVENTLOG_ERROR_NONE) {
        fprintf(stderr, "%s\n", text);
        return EXIT_FAILURE;
    }
    const struct eventlog_value number = eventlog_unsigned(17);
    const bool emitted = eventlog_emit(modem, switched_on, NULL, 0) == EVENTLOG_ERROR_NONE &&
                         eventlog_emit(modem, cell_changed, &number, 1) == EVENTLOG_ERROR_NONE &&
                         eventlog_emit(modem, signal_lost, NULL, 0) == EVENTLOG_ERROR_NONE;
    eventlog_provider_destroy(modem);
    return emitted ? EXIT_SUCCESS : EXIT_FAILURE;
}
