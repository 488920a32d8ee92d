// SPDX-License-Identifier: MIT
//
// An emit with all the mistakes that emit_path.py looks for.
#include <cstdio>
#include <cstdlib>

struct eventlog_provider;
struct eventlog_session;
struct eventlog_timed_scope;

// expect: eventlog_emit_raw: needs
// expect: eventlog_emit: needs
// expect: eventlog_session_emit: needs
// expect: eventlog_emit_raw does not end with a jump to emit_block_slow
// expect: eventlog_emit_raw: describe calls snprintf
// expect: eventlog_emit_raw_parts: duplicate calls malloc
// expect: eventlog_has_listener: eventlog_has_listener calls through a pointer
// expect: eventlog_request_snapshot: calls itself without an end that is known: count_down

namespace {

volatile int number = 1;
void (*volatile callback)() = nullptr;

[[gnu::noinline]] void describe() {
    char text[4000];
    static_cast<void>(std::snprintf(text, sizeof text, "%d", number));
    number = text[0];
}

/// Too much for events with few values.
template <unsigned long FieldsMax>
[[gnu::noinline]] void describe_values() {
    char text[300 * FieldsMax];
    for (char& each : text) {
        each = static_cast<char>(number);
    }
    number = text[number];
}

[[gnu::noinline]] void duplicate() {
    char* const copy = static_cast<char*>(std::malloc(static_cast<std::size_t>(number)));
    number = copy == nullptr ? 0 : 1;
}

[[gnu::noinline, gnu::optimize("no-optimize-sibling-calls")]] int count_down(int left) {
    const int found = left == 0 ? number : count_down(left - number);
    number = found;
    return found;
}

}  // namespace

extern "C" {

void eventlog_emit_raw(eventlog_provider*) {
    describe();
}
void eventlog_emit_raw_parts(eventlog_provider*) {
    duplicate();
}
bool eventlog_has_listener(const eventlog_provider*) {
    callback();
    return number != 0;
}
unsigned eventlog_request_snapshot(const char*) {
    return static_cast<unsigned>(count_down(number));
}
void eventlog_emit_raw_text() {}
void eventlog_emit(eventlog_provider*) {
    describe_values<100>();
}
void eventlog_session_begin(eventlog_session*) {}
void eventlog_session_end(eventlog_session*) {}
void eventlog_session_emit(eventlog_session*) {
    describe_values<16>();
}
void eventlog_session_emit_current(eventlog_session*) {}
void eventlog_timed_scope_emit(eventlog_timed_scope*) {}
}
