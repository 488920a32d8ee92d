// SPDX-License-Identifier: MIT
//
// A shared object that defines its provider at run time, through eventlog.h, and emits from threads
// of its own. Its host chooses how it ends: see defining_plugin_host.cpp.
#include "defining_plugin.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

#include <eventlog/eventlog.h>

namespace {

constexpr std::uint32_t worker_count = 3;

eventlog_provider* provider = nullptr;
std::thread workers[worker_count];
std::atomic<std::uint64_t> attempted{0};
std::atomic<std::uint32_t> begun{0};
std::atomic<bool> stopped{false};

bool define() {
    const eventlog_field_definition fields[] = {
        {.name = "round", .type = EVENTLOG_TYPE_UNSIGNED_32},
        {.name = "worker", .type = EVENTLOG_TYPE_UNSIGNED_32},
        {.name = "number", .type = EVENTLOG_TYPE_UNSIGNED_64}};
    const eventlog_event_definition events[] = {
        {.name = "beat", .fields = fields, .field_count = 3}};
    const eventlog_definition definition{EVENTLOG_DEFINITION_SIZES, .name = "defined_by_plugin",
                                         .events = events, .event_count = 1};
    return eventlog_provider_create(&definition, &provider, nullptr, 0) == EVENTLOG_ERROR_NONE &&
           eventlog_provider_status(provider, nullptr, 0) == EVENTLOG_STATUS_OK;
}

void work(std::uint32_t round, std::uint32_t worker) {
    std::uint64_t number = 0;
    for (; !stopped; ++number) {
        const eventlog_value values[] = {eventlog_unsigned(round), eventlog_unsigned(worker),
                                         eventlog_unsigned(number)};
        if (eventlog_emit(provider, 0, values, 3) != EVENTLOG_ERROR_NONE) {
            break;  // unregistered
        }
        if (number == 20) {
            begun.fetch_add(1);
        }
        // Slower after a while, so that all events fit into the buffers of a recorder that waits
        // for a processor.
        if (number % 16 == 15 || number > 500) {
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
    }
    attempted.fetch_add(number);
}

// A callback whose code is unloaded with the plugin.
void ignore_listeners(void* context, unsigned listeners) {
    *static_cast<unsigned*>(context) = listeners;
}

}  // namespace

int start_plugin(std::uint32_t round) {
    static unsigned listeners = 0;
    if (!define()) {
        return 0;
    }
    eventlog_provider_on_listeners_changed(provider, ignore_listeners, &listeners);
    for (std::uint32_t worker = 0; worker < worker_count; ++worker) {
        workers[worker] = std::thread(work, round, worker);
    }
    while (begun != worker_count) {
        std::this_thread::yield();
    }
    return 1;
}

std::uint64_t stop_plugin(plugin_end manner) {
    if (manner == plugin_end::withdraw_while_threads_emit) {
        eventlog_provider_destroy(provider);
    }
    stopped = true;
    for (std::thread& worker : workers) {
        worker.join();
    }
    if (manner == plugin_end::withdraw) {
        eventlog_provider_destroy(provider);
    }
    return attempted;
}
