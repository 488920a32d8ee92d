// SPDX-License-Identifier: MIT
//
// Timed scopes of providers defined at run time. All functions are async-signal-safe.
#include <time.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include <eventlog/eventlog.h>
#include <eventlog/schema_format.hpp>

#include "define/leading_values.hpp"
#include "provider/definition.hpp"
#include "provider/runtime_definition.hpp"

namespace eventlog::core {
namespace {

/// Whether the event's first own field can be the duration. Otherwise a number of another meaning
/// would be recorded without an error.
bool is_timed(const defined_event& event) noexcept {
    const std::size_t first = event.session_bound ? 1 : 0;
    return event.fields.size() > first && event.fields[first].type == field_type::signed_64 &&
           event.fields[first].count == 1;
}

eventlog_error emit_timed(const eventlog_timed_scope& scope, std::int64_t duration,
                          value_list values) noexcept {
    const definition_reader reader(*scope.provider);
    if (reader.definition() == nullptr) {
        return EVENTLOG_ERROR_NOT_DEFINED;
    }
    if (scope.event >= reader.definition()->events.size()) {
        return EVENTLOG_ERROR_EVENT;
    }
    const defined_event& event = reader.definition()->events[scope.event];
    if (event.session_bound != scope.in_session) {
        return EVENTLOG_ERROR_SESSION;
    }
    if (!is_timed(event)) {
        return EVENTLOG_ERROR_VALUE_TYPE;
    }
    const std::array leading{eventlog_unsigned(scope.session), eventlog_signed(duration)};
    static_assert(leading.size() == leading_values_max);
    return emit_with_leading(*scope.provider, scope.event, event,
                             value_list(leading).subspan(scope.in_session ? 0 : 1), values);
}

}  // namespace
}  // namespace eventlog::core

std::int64_t eventlog_monotonic_time() {
    timespec time{};
    static_cast<void>(::clock_gettime(CLOCK_MONOTONIC, &time));
    const std::int64_t now = std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    return now == 0 ? 1 : now;
}

eventlog_error eventlog_timed_scope_emit(eventlog_timed_scope* scope, const eventlog_value* values,
                                         std::size_t count) {
    using namespace eventlog::core;
    if (scope == nullptr || scope->provider == nullptr) {
        return EVENTLOG_ERROR_ARGUMENT;
    }
    if (scope->began == 0) {
        return EVENTLOG_ERROR_NONE;
    }
    eventlog_timed_scope_stop(scope);
    const std::int64_t duration = scope->stopped - scope->began;
    scope->began = 0;
    return emit_timed(*scope, duration, {values, count});
}
