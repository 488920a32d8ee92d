// SPDX-License-Identifier: MIT
//
// Sessions of providers defined at run time. All functions are async-signal-safe.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <eventlog/eventlog.h>
#include <eventlog/schema_format.hpp>

#include "define/emit_values.hpp"
#include "provider/definition.hpp"
#include "provider/runtime_definition.hpp"

namespace eventlog::core {
namespace {

using value_list = std::span<const eventlog_value>;

/// The session is the first value of its events. Out of line, so that only large events use much
/// stack.
template <std::size_t ValuesMax>
[[gnu::noinline]] eventlog_error emit_with_number(const eventlog_session& session, std::uint32_t id,
                                                  const defined_event& event,
                                                  value_list values) noexcept {
    eventlog_value all[ValuesMax];
    all[0] = eventlog_unsigned(session.id);
    std::copy(values.begin(), values.end(), all + 1);
    return emit_defined(*session.provider, id, event, {all, values.size() + 1});
}

eventlog_error emit_in(const eventlog_session& session, const built_definition& definition,
                       std::uint32_t id, value_list values) noexcept {
    if (id >= definition.events.size()) {
        return EVENTLOG_ERROR_EVENT;
    }
    const defined_event& event = definition.events[id];
    if (!event.session_bound) {
        return EVENTLOG_ERROR_SESSION;
    }
    if (values.size() < 16) {
        return emit_with_number<16>(session, id, event, values);
    }
    return values.size() < fields_max ? emit_with_number<fields_max>(session, id, event, values)
                                      : EVENTLOG_ERROR_VALUE_COUNT;
}

/// Emits the event that `choose` selects in the definition.
template <class Choose>
eventlog_error emit_chosen(const eventlog_session& session, Choose choose,
                           value_list values) noexcept {
    if (session.provider == nullptr) {
        return EVENTLOG_ERROR_NOT_DEFINED;
    }
    const definition_reader reader(*session.provider);
    return reader.definition() == nullptr
               ? EVENTLOG_ERROR_NOT_DEFINED
               : emit_in(session, *reader.definition(), choose(*reader.definition()), values);
}

}  // namespace
}  // namespace eventlog::core

eventlog_error eventlog_session_begin(eventlog_session* session, eventlog_provider* provider,
                                      std::uint64_t id) {
    if (session == nullptr) {
        return EVENTLOG_ERROR_ARGUMENT;
    }
    *session = {provider, id, true};
    return eventlog_session_emit_current(session);
}

eventlog_error eventlog_session_emit_current(const eventlog_session* session) {
    using namespace eventlog::core;
    if (session == nullptr) {
        return EVENTLOG_ERROR_ARGUMENT;
    }
    return emit_chosen(
        *session, [](const built_definition& definition) { return definition.session_begin; }, {});
}

eventlog_error eventlog_session_emit(const eventlog_session* session, std::uint32_t event,
                                     const eventlog_value* values, std::size_t count) {
    using namespace eventlog::core;
    if (session == nullptr) {
        return EVENTLOG_ERROR_ARGUMENT;
    }
    return emit_chosen(*session, [event](const built_definition& /*definition*/) { return event; },
                       {values, count});
}

eventlog_error eventlog_session_end(eventlog_session* session) {
    using namespace eventlog::core;
    if (session == nullptr) {
        return EVENTLOG_ERROR_ARGUMENT;
    }
    if (!session->open) {
        return EVENTLOG_ERROR_NONE;
    }
    session->open = false;
    return emit_chosen(
        *session, [](const built_definition& definition) { return definition.session_end; }, {});
}
