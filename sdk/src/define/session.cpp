// SPDX-License-Identifier: MIT
//
// Sessions of providers defined at run time. All functions are async-signal-safe.
#include <cstddef>
#include <cstdint>

#include <eventlog/eventlog.h>
#include <eventlog/schema_format.hpp>

#include "define/leading_values.hpp"
#include "provider/definition.hpp"
#include "provider/runtime_definition.hpp"

namespace eventlog::core {
namespace {

eventlog_error emit_in(const eventlog_session& session, const built_definition& definition,
                       std::uint32_t id, value_list values) noexcept {
    if (id >= definition.events.size()) {
        return EVENTLOG_ERROR_EVENT;
    }
    const defined_event& event = definition.events[id];
    if (!event.session_bound) {
        return EVENTLOG_ERROR_SESSION;
    }
    const eventlog_value number = eventlog_unsigned(session.id);
    return emit_with_leading(*session.provider, id, event, {&number, 1}, values);
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
    *session = {provider, id, true, 0};
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
