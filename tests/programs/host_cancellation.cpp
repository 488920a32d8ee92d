// SPDX-License-Identifier: MIT
//
// A thread with a pending cancellation runs a callback that has a cancellation point. Prints "done"
// if the callback ran to its end and the thread was cancelled after the emit.
#include <pthread.h>

#include <atomic>
#include <cstdio>

#include <eventlog/eventlog.h>

namespace {

std::atomic<unsigned> calls{0};
std::atomic<bool> has_emitted{false};
eventlog_provider* provider = nullptr;

void change(void* /*context*/, unsigned /*listeners*/) {
    ::pthread_testcancel();
    ++calls;
}

void* emit_cancelled(void* /*argument*/) {
    static_cast<void>(::pthread_cancel(::pthread_self()));
    // Soon after its registration the callback runs once, without a listener.
    static_cast<void>(eventlog_emit(provider, 0, nullptr, 0));
    eventlog_provider_run_callbacks(provider);
    has_emitted = true;
    ::pthread_testcancel();
    return nullptr;
}

}  // namespace

int main() {
    const eventlog_event_definition events[] = {{.name = "step"}};
    const eventlog_definition definition = {EVENTLOG_DEFINITION_SIZES, .name = "host_cancellation",
                                            .events = events, .event_count = 1};
    if (eventlog_provider_create(&definition, &provider, nullptr, 0) != EVENTLOG_ERROR_NONE ||
        !eventlog_provider_on_listeners_changed(provider, change, nullptr)) {
        return 2;
    }
    pthread_t thread{};
    void* result = nullptr;
    if (::pthread_create(&thread, nullptr, emit_cancelled, nullptr) != 0 ||
        ::pthread_join(thread, &result) != 0) {
        return 2;
    }
    if (calls != 1 || !has_emitted || result != PTHREAD_CANCELED) {
        return 1;
    }
    std::puts("done");
    eventlog_provider_destroy(provider);
}
