// SPDX-License-Identifier: MIT
//
// The headers compile where emit is a macro, as in Qt, and the alias emits.
//
// expect-success
#define emit

#include <eventlog/dynamic_session.hpp>
#include <eventlog/eventlog.h>
#include <eventlog/eventlog.hpp>
#include <eventlog/log.hpp>

#ifndef emit
#error "The headers removed the macro."
#endif

struct seen {
    int number;
};
struct in_session {
    static constexpr eventlog::event_info info{.session_bound = true};
    int number;
};
using good = eventlog::provider<"good", seen, in_session>;

void emit_it(const eventlog::session<good>& session, const seen& event) {
    good::emit_event(event);
    good::emit_event([] { return seen{1}; });
    session.emit_event(in_session{1});
}
