/* SPDX-License-Identifier: MIT */
/*
 * The C interface of eventlog, for events that are known at run time only: programs in C, bindings
 * of other languages, plugins, interpreters. C11 and C++20. In C++, events that are known at
 * compile time are declared with eventlog/eventlog.hpp.
 *
 *     static const struct eventlog_field_definition order_fields[] = {
 *         {.name = "order", .type = EVENTLOG_TYPE_UNSIGNED_64},
 *         {.name = "customer", .type = EVENTLOG_TYPE_TEXT},
 *     };
 *     static const struct eventlog_event_definition events[] = {
 *         {.name = "order_placed", .fields = order_fields, .field_count = 2},
 *     };
 *     const struct eventlog_definition definition = {
 *         EVENTLOG_DEFINITION_SIZES, .name = "shop", .events = events, .event_count = 1};
 *
 *     struct eventlog_provider* shop;
 *     char text[EVENTLOG_TEXT_SIZE];
 *     if (eventlog_provider_create(&definition, &shop, text, sizeof text) != EVENTLOG_ERROR_NONE) {
 *         fprintf(stderr, "%s\n", text);
 *     }
 *     if (eventlog_enabled(shop, 0)) {
 *         const struct eventlog_value values[] = {eventlog_unsigned(17), eventlog_text("ann")};
 *         eventlog_emit(shop, 0, values, 2);
 *     }
 *     eventlog_provider_destroy(shop);
 *
 * - No function throws, aborts, prints or changes errno.
 * - "Forked child" means the child of fork(); abi.h describes other children.
 */
#ifndef EVENTLOG_EVENTLOG_H
#define EVENTLOG_EVENTLOG_H

#include <eventlog/abi.h>
#include <eventlog/definition.h>
#include <eventlog/gauge.h>
#include <eventlog/session.h>
#include <eventlog/timed_scope.h>
#include <eventlog/values.h>

#endif /* EVENTLOG_EVENTLOG_H */
