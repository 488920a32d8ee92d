// SPDX-License-Identifier: MIT
//
// The status and counters of a provider, for its own process.
#include <algorithm>
#include <bit>
#include <cstring>

#include <eventlog/abi.h>

#include "emit/notification.hpp"
#include "platform/data_reader.hpp"
#include "platform/process.hpp"
#include "platform/registry_lock.hpp"
#include "platform/signal_guard.hpp"
#include "provider/counters.hpp"
#include "provider/own_gate.hpp"
#include "provider/registered_provider.hpp"
#include "ring/gate_layout.hpp"
#include "schema/schema.hpp"

namespace eventlog::core {
namespace {

/// The message of a status, collected under the registry lock. The sentence is made afterwards:
/// describing an errno translates it, which may allocate, take locks and load files.
struct status_message {
    sentence_writer before;  // a begin without an errno
    error_text text;
    const char* end = "";
    error_text::text_copies copies;

    /// The last step under the lock.
    void keep() noexcept { text.copy_texts(copies); }

    void copy_to(char* target, std::size_t target_size) const noexcept {
        sentence_writer made = before;
        made.put(std::string_view(text.text().c_str()));
        made.put(std::string_view(end));
        if (target != nullptr && target_size != 0) {
            const std::string_view sentence(made.sentence().c_str());
            const std::size_t size = std::min(sentence.size(), target_size - 1);
            std::memcpy(target, sentence.data(), size);
            target[size] = '\0';
        }
    }
};

/// Whether the last attempt to attach to a listener has failed. Under the registry lock.
bool explain_attach_error(const eventlog_provider& provider, error_text& sentence) noexcept {
    const bool is_own = is_own_process();
    const int error = provider.attach_error.load(std::memory_order_relaxed);
    if ((is_own && error == 0) ||
        (listening_slots(provider) == 0 && !may_miss_subscriptions(provider))) {
        return false;
    }
    const auto explain = [&](auto reason) {
        sentence.set("Provider %s cannot attach to a subscription (%s). Its events count as "
                     "unattached. Check the limits and the sandbox of its process.",
                     provider.name.data(), reason);
    };
    if (!is_own) {
        explain("its process was not created by fork(2), or may not call getpid");
    } else if (error == unknown_attach_error) {
        explain("the directory or its memory is out of reach");
    } else {
        explain(system_error{error});
    }
    return true;
}

/// Code and message of the publication. Under the registry lock.
eventlog_status_code publishing_status(const eventlog_provider* provider,
                                       error_text& sentence) noexcept {
    if (provider == nullptr || provider->status == EVENTLOG_STATUS_UNREGISTERED) {
        sentence.set("The provider is not registered: its program has not got that far, has made "
                     "a mistake in its definition, or is ending.");
        return EVENTLOG_STATUS_UNREGISTERED;
    }
    // The process may have gained rights since it published the provider.
    if (provider->status == EVENTLOG_STATUS_OK) {
        if (const read_obstacle found = find_obstacle(); found != read_obstacle::none) {
            explain_obstacle(found, provider->name.data(), sentence);
            return EVENTLOG_STATUS_PRIVILEGED;
        }
    }
    if (provider->status == EVENTLOG_STATUS_OK && explain_attach_error(*provider, sentence)) {
        return EVENTLOG_STATUS_INCOMPLETE;
    }
    if (provider->status == EVENTLOG_STATUS_OK) {
        sentence.set("Provider %s is published in %s.", provider->name.data(),
                     own_directory().text.data());
    } else {
        sentence = provider->failure;
    }
    return provider->status;
}

eventlog_counters counters_of(const eventlog_provider& provider, unsigned route) noexcept {
    const eventlog_route_counters sums =
        sum_counters(counters_of_gate(provider.gate.load(std::memory_order_relaxed)), route);
    return {sums.written,   sums.truncated,       sums.lost_full,   sums.lost_too_large,
            sums.lost_busy, sums.lost_unattached, sums.lost_refused};
}

/// The events that the kernel has not registered, by the first of them.
void describe_missing_events(const eventlog_provider& provider, status_message& message) noexcept {
    const missing_events& missing = provider.user_events.missing;
    schema_reader schema;
    event_description event;
    error_text ignored;
    if (schema.open({provider.schema, provider.schema_size}, ignored)) {
        while (schema.next_event(event) && event.id != missing.first) {
        }
    }
    sentence_writer& made = message.before;
    made.put(missing.count);
    made.put(" of ");
    made.put(provider.event_count.load(std::memory_order_relaxed));
    made.put(" events of provider ");
    made.put(std::string_view(provider.name.data()));
    made.put(" are not in tracefs. The first is ");
    made.put(event.name);
    made.put(": ");
    message.text = missing.why;
    message.end = ".";
}

/// The answer to a handler that interrupted the lock's holder.
eventlog_status_code unknown_status(error_text& sentence) noexcept {
    sentence.set("The status cannot be read: a signal handler has interrupted a registration, an "
                 "attachment or a fork, or has forked this process then. Ask later, or outside of "
                 "the handler.");
    return EVENTLOG_STATUS_UNREGISTERED;
}

/// Code, message and counters of a route. Under the registry lock.
eventlog_status_code memory_status(const eventlog_provider* provider, eventlog_counters& counted,
                                   error_text& sentence) noexcept {
    const eventlog_status_code code = publishing_status(provider, sentence);
    if (code == EVENTLOG_STATUS_OK || code == EVENTLOG_STATUS_PRIVILEGED ||
        code == EVENTLOG_STATUS_INCOMPLETE) {
        counted = counters_of(*provider, EVENTLOG_COUNTERS_MEMORY);
        counted.lost_unattached += lost_before_own_gate(*provider);
    }
    if (code == EVENTLOG_STATUS_OK) {
        const int count = std::popcount(listening_slots(*provider));
        sentence.set("%u subscription%s to provider %s.", static_cast<unsigned>(count),
                     count == 1 ? " listens" : "s listen", provider->name.data());
    }
    return code;
}

eventlog_status_code user_events_status(const eventlog_provider* provider,
                                        eventlog_counters& counted,
                                        status_message& message) noexcept {
    if (provider == nullptr || provider->user_events.status == EVENTLOG_STATUS_UNREGISTERED) {
        // Not opened, for the same reason as the provider is not published.
        return publishing_status(provider, message.text);
    }
    counted = counters_of(*provider, EVENTLOG_COUNTERS_USER_EVENTS);
    if (provider->user_events.missing.count != 0) {
        describe_missing_events(*provider, message);
    } else {
        message.text = provider->user_events.status_text;
    }
    return provider->user_events.status;
}

/// Code, message and counters of a route.
eventlog_status_code route_status(const eventlog_provider* provider, std::uint32_t route,
                                  eventlog_counters& counted, status_message& message) noexcept {
    const registry_lock lock;
    eventlog_status_code code = EVENTLOG_STATUS_NO_ROUTE;
    if (!lock.held()) {
        code = unknown_status(message.text);
    } else if (route == EVENTLOG_ROUTE_MEMORY) {
        code = memory_status(provider, counted, message.text);
    } else if (route == EVENTLOG_ROUTE_USER_EVENTS) {
        code = user_events_status(provider, counted, message);
    } else {
        message.text.set("This version of eventlog does not know that route. Ask for one of enum "
                         "eventlog_route.");
    }
    message.keep();
    return code;
}

eventlog_status_code status_of(const eventlog_provider* provider,
                               status_message& message) noexcept {
    const registry_lock lock;
    const eventlog_status_code code =
        lock.held() ? publishing_status(provider, message.text) : unknown_status(message.text);
    message.keep();
    return code;
}

}  // namespace
}  // namespace eventlog::core

eventlog_status_code eventlog_provider_status(const eventlog_provider* provider, char* text,
                                              std::size_t text_size) {
    using namespace eventlog::core;
    const signal_guard guard;
    status_message message;
    const eventlog_status_code code = status_of(provider, message);
    message.copy_to(text, text_size);
    return code;
}

eventlog_status_code eventlog_provider_route_status(const eventlog_provider* provider,
                                                    std::uint32_t route,
                                                    eventlog_counters* counters,
                                                    std::size_t counters_size, char* text,
                                                    std::size_t text_size) {
    using namespace eventlog::core;
    const signal_guard guard;
    eventlog_counters counted{};
    status_message message;
    const eventlog_status_code code = route_status(provider, route, counted, message);
    message.copy_to(text, text_size);
    if (counters != nullptr) {
        // Counters unknown to this version read zero.
        std::memset(counters, 0, counters_size);
        std::memcpy(counters, &counted, std::min(counters_size, sizeof counted));
    }
    return code;
}
