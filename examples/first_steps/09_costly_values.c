/* SPDX-License-Identifier: MIT */
/* Costly values: eventlog_enabled() asks for a listener before they are computed. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <eventlog/eventlog.h>

enum { tree_changed };
static const struct eventlog_field_definition tree_fields[] = {
    {.name = "nodes", .type = EVENTLOG_TYPE_UNSIGNED_32},
    {.name = "text", .type = EVENTLOG_TYPE_TEXT},
};
static const struct eventlog_event_definition events[] = {
    [tree_changed] = {.name = "tree_changed", .fields = tree_fields, .field_count = 2}};

static unsigned calculations = 0;

static const char* print_tree(void) {
    ++calculations;
    return "((a b) c)";
}

int main(void) {
    const struct eventlog_definition definition = {EVENTLOG_DEFINITION_SIZES, .name = "index_tree",
                                                   .events = events, .event_count = 1};
    struct eventlog_provider* tree = NULL;
    char text[EVENTLOG_TEXT_SIZE];
    if (eventlog_provider_create(&definition, &tree, text, sizeof text) != EVENTLOG_ERROR_NONE) {
        fprintf(stderr, "%s\n", text);
        return EXIT_FAILURE;
    }
    enum eventlog_error error = EVENTLOG_ERROR_NONE;
    if (eventlog_enabled(tree, tree_changed)) {
        const struct eventlog_value values[] = {eventlog_unsigned(5), eventlog_text(print_tree())};
        error = eventlog_emit(tree, tree_changed, values, 2);
    }
    printf("%u calculations\n", calculations);
    eventlog_provider_destroy(tree);
    return error == EVENTLOG_ERROR_NONE ? EXIT_SUCCESS : EXIT_FAILURE;
}
