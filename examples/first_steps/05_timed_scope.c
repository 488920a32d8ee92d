/* SPDX-License-Identifier: MIT */
/* Timed scopes: one event with the duration, at the end; nested, and ended by another thread. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <eventlog/eventlog.h>

enum { page, query };
static const struct eventlog_field_definition page_fields[] = {
    EVENTLOG_DURATION_FIELD,
    {.name = "items", .type = EVENTLOG_TYPE_UNSIGNED_32},
};
static const struct eventlog_field_definition query_fields[] = {
    EVENTLOG_DURATION_FIELD,
    {.name = "sql", .type = EVENTLOG_TYPE_TEXT},
    {.name = "rows", .type = EVENTLOG_TYPE_UNSIGNED_32},
};
static const struct eventlog_event_definition events[] = {
    [page] = {.name = "page", .kind = EVENTLOG_KIND_END, .fields = page_fields, .field_count = 2},
    [query] = {
        .name = "query", .kind = EVENTLOG_KIND_END, .fields = query_fields, .field_count = 3}};

static enum eventlog_error run(struct eventlog_provider* shop, const char* sql, uint32_t* rows) {
    struct eventlog_timed_scope scope;
    eventlog_timed_scope_begin(&scope, shop, query);
    *rows = 3;
    const struct eventlog_value values[] = {eventlog_text(sql), eventlog_unsigned(*rows)};
    return eventlog_timed_scope_end(&scope, values, 2);
}

/* The thread that ends the scope emits the event. */
static void* finish(void* scope) {
    const struct eventlog_value items = eventlog_unsigned(3);
    const enum eventlog_error error = eventlog_timed_scope_end(scope, &items, 1);
    return error == EVENTLOG_ERROR_NONE ? scope : NULL;
}

int main(void) {
    const struct eventlog_definition definition = {EVENTLOG_DEFINITION_SIZES, .name = "web_shop",
                                                   .events = events, .event_count = 2};
    struct eventlog_provider* shop = NULL;
    char text[EVENTLOG_TEXT_SIZE];
    if (eventlog_provider_create(&definition, &shop, text, sizeof text) != EVENTLOG_ERROR_NONE) {
        fprintf(stderr, "%s\n", text);
        return EXIT_FAILURE;
    }
    struct eventlog_timed_scope scope;
    eventlog_timed_scope_begin(&scope, shop, page);
    uint32_t rows = 0;
    const enum eventlog_error error = run(shop, "select * from cart", &rows);
    pthread_t thread = 0;
    void* finished = NULL;
    if (pthread_create(&thread, NULL, finish, &scope) == 0) {
        pthread_join(thread, &finished);
    }
    eventlog_provider_destroy(shop);
    return error == EVENTLOG_ERROR_NONE && finished != NULL ? EXIT_SUCCESS : EXIT_FAILURE;
}
