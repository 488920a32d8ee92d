// SPDX-License-Identifier: MIT
//
// expect: eventlog_provider_create
#include <eventlog/eventlog.h>

#pragma GCC diagnostic error "-Wunused-result"
#pragma GCC diagnostic error "-Wunused-value"

void define(const eventlog_definition& definition, eventlog_provider*& provider) {
    eventlog_provider_create(&definition, &provider, nullptr, 0);
}
