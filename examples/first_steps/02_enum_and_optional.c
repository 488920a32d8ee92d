/* SPDX-License-Identifier: MIT */
/* Enumerations and optional fields: values are shown by name, a field may have no value. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <eventlog/eventlog.h>

enum payment { payment_cash, payment_card, payment_invoice };
static const struct eventlog_value_definition payments[] = {
    {"cash", payment_cash}, {"card", payment_card}, {"invoice", payment_invoice}};
static const struct eventlog_enumeration_definition payment = {"payment", payments, 3, false};

enum { order_placed };
static const struct eventlog_field_definition order_fields[] = {
    {.name = "order", .type = EVENTLOG_TYPE_UNSIGNED_64},
    {.name = "paid_by", .type = EVENTLOG_TYPE_UNSIGNED_8, .enumeration = &payment},
    {.name = "discount", .type = EVENTLOG_TYPE_UNSIGNED_8, .optional = true},
};
static const struct eventlog_event_definition events[] = {
    [order_placed] = {.name = "order_placed", .fields = order_fields, .field_count = 3}};

int main(void) {
    const struct eventlog_definition definition = {EVENTLOG_DEFINITION_SIZES, .name = "checkout",
                                                   .events = events, .event_count = 1};
    struct eventlog_provider* checkout = NULL;
    char text[EVENTLOG_TEXT_SIZE];
    if (eventlog_provider_create(&definition, &checkout, text, sizeof text) !=
        EVENTLOG_ERROR_NONE) {
        fprintf(stderr, "%s\n", text);
        return EXIT_FAILURE;
    }
    const struct eventlog_value first[] = {eventlog_unsigned(4711), eventlog_unsigned(payment_card),
                                           eventlog_unsigned(15)};
    const struct eventlog_value second[] = {eventlog_unsigned(4712),
                                            eventlog_unsigned(payment_invoice), eventlog_absent()};
    const bool emitted = eventlog_emit(checkout, order_placed, first, 3) == EVENTLOG_ERROR_NONE &&
                         eventlog_emit(checkout, order_placed, second, 3) == EVENTLOG_ERROR_NONE;
    eventlog_provider_destroy(checkout);
    return emitted ? EXIT_SUCCESS : EXIT_FAILURE;
}
