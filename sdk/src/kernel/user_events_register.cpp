// SPDX-License-Identifier: MIT
#include "kernel/user_events_register.hpp"

#include <linux/eventlog_device.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "kernel/user_events_abi.hpp"
#include "kernel/user_events_description.hpp"
#include "kernel/user_events_device.hpp"
#include "provider/registered_provider.hpp"
#include "schema/schema.hpp"

namespace eventlog::core {
namespace {

// Static, because they are too large for a signal stack. Under the registry lock.
constinit user_events_description describer{};
constinit std::array<eventlog_published_event, EVENTLOG_EVENTS_MAX> published_event_buffer{};

/// Unregisters the word of an event. True if the kernel knew it.
bool unregister_word(int file, const eventlog_provider& provider, std::uint32_t event) noexcept {
    user_events_unregistration end{};
    end.disable_bit = provider.user_events.bit();
    end.disable_address =
        reinterpret_cast<std::uintptr_t>(provider.gate.load(std::memory_order_relaxed) + event);
    return ::ioctl(file, user_events_unregister, &end) == 0;
}

/// Returns 0 and the event's number, or an errno.
int register_description(int file, const eventlog_provider& provider, std::uint32_t event,
                         std::uint16_t flags, std::uint32_t& number) noexcept {
    user_events_registration wanted{};
    wanted.enable_bit = provider.user_events.bit();
    wanted.flags = flags;
    if (provider.user_events.is_in_eventlog_system) {
        wanted.flags |= user_events_eventlog;
    }
    wanted.enable_address =
        reinterpret_cast<std::uintptr_t>(provider.gate.load(std::memory_order_relaxed) + event);
    wanted.description = reinterpret_cast<std::uintptr_t>(describer.description());
    if (::ioctl(file, user_events_register, &wanted) != 0) {
        return errno;
    }
    number = wanted.write_index;
    return 0;
}

/// Registers with a kernel that has a page. Bit 31 of the gate is this library's own there.
int register_in_page(int file, eventlog_provider& provider, std::uint32_t event,
                     std::uint32_t& number) noexcept {
    user_events_page_registration wanted{};
    wanted.description = reinterpret_cast<std::uintptr_t>(describer.description());
    if (::ioctl(file, user_events_register, &wanted) != 0) {
        return errno;
    }
    const std::uint32_t place = locate_in_page(wanted.status_bit);
    if (place == 0) {
        return EINVAL;
    }
    provider.user_events.status_locations[event].store(place, std::memory_order_relaxed);
    number = wanted.write_index;
    return 0;
}

/// Registers with a kernel that has words, and resolves conflicts of words and names.
int register_event(int file, const eventlog_provider& provider, std::uint32_t event,
                   std::uint32_t& number) noexcept {
    int error = register_description(file, provider, event, 0, number);
    if (error == EADDRINUSE && unregister_word(file, provider, event)) {
        // The word is left over from code that used this memory before.
        error = register_description(file, provider, event, 0, number);
    }
    if (error == EADDRINUSE) {
        // An event of this name has other fields: another version of the program runs.
        error = register_description(file, provider, event, user_events_multi_format, number);
        if (error == EINVAL || error == EADDRINUSE) {
            error = describer.make_name_unique()
                        ? register_description(file, provider, event, 0, number)
                        : EADDRINUSE;
        }
    }
    return error;
}

bool is_transient_shortage(int error) noexcept {
    return error == EMFILE || error == ENOMEM;
}

void explain(int error, const user_events_route& route, error_text& why) noexcept {
    if (error == EMFILE && route.is_module) {
        why.set("this user, or all together, have as many as the module eventlog allows. Raise "
                "the limits in /sys/module/eventlog/parameters, or have fewer programs run");
    } else if (error == EOPNOTSUPP && route.is_module) {
        why.set("the provider's page is not in memory. Let EVENTLOG_DIR name a folder in a tmpfs");
    } else if (error == EMFILE && route.has_status_page) {
        why.set("the kernel has as many as it can. Remove some: echo -:user_events/NAME >> "
                "/sys/kernel/tracing/dynamic_events");
    } else if (error == EMFILE) {
        why.set("the kernel has as many as kernel.user_events_max allows. Raise that with sysctl");
    } else if (error == EADDRINUSE) {
        why.set("the kernel has another event of that name. Rename one of them");
    } else {
        why.set("the kernel refused it (%s)", system_error{error});
    }
}

/// On a kernel with a page a name's first registration determines its fields, and events outlive
/// their programs. So each name contains a hash of the fields.
bool describe(schema_reader& schema, const event_description& event, const user_events_route& route,
              error_text& error) noexcept {
    if (!describer.describe(schema, event, error, route.is_module ? "" : user_events_prefix)) {
        return false;
    }
    if (route.has_status_page && !describer.make_name_unique()) {
        error.set("its description would be longer than %zu bytes",
                  user_events_description_max - 1);
        return false;
    }
    return true;
}

/// Publishes the number to the emit path.
void store_event_number(eventlog_provider& provider, std::uint32_t event,
                        std::uint32_t index) noexcept {
    user_events_route& route = provider.user_events;
    if (!route.has_status_page) {
        route.status_locations[event].store(0, std::memory_order_relaxed);
    }
    route.numbers[event].store(index + 1, std::memory_order_release);
    if (route.has_status_page) {
        provider.gate_word(event).fetch_or(1U << EVENTLOG_GATE_USER_EVENTS_BIT,
                                           std::memory_order_release);
    }
}

/// Describes and registers the event. False: `reason` holds the message, and `error` an errno of
/// the kernel or 0.
bool register_described(int file, eventlog_provider& provider, schema_reader& schema,
                        const event_description& event, int& error, error_text& reason) noexcept {
    const user_events_route& route = provider.user_events;
    if (!describe(schema, event, route, reason)) {
        return false;
    }
    std::uint32_t index = 0;
    error = route.has_status_page ? register_in_page(file, provider, event.id, index)
                                  : register_event(file, provider, event.id, index);
    if (error != 0) {
        explain(error, route, reason);
        return false;
    }
    store_event_number(provider, event.id, index);
    return true;
}

/// The module sets its bits when the file is closed. It does not clear the bit of a word that it
/// does not know, so this library does.
void clear_device_bit(eventlog_provider& provider, std::uint32_t event) noexcept {
    if (provider.user_events.is_module) {
        provider.gate_word(event).fetch_and(~(1U << EVENTLOG_GATE_DEVICE_BIT),
                                            std::memory_order_relaxed);
    }
}

void note_missing_event(eventlog_provider& provider, const event_description& event,
                        user_events_register_result& result) noexcept {
    clear_device_bit(provider, event.id);
    if (result.missing.count++ == 0) {
        result.missing.first = event.id;
    }
}

/// For kernels without words, which know a process by its descriptor only.
void clear_user_events_bit(eventlog_provider& provider, std::uint32_t event) noexcept {
    provider.gate_word(event).fetch_and(~(1U << EVENTLOG_GATE_USER_EVENTS_BIT),
                                        std::memory_order_relaxed);
    // A thread that has seen the bit finds no listeners.
    provider.user_events.status_locations[event].store(never_set_location,
                                                       std::memory_order_relaxed);
}

eventlog_published_event published_event_of(const event_description& event,
                                            std::uint32_t index) noexcept {
    eventlog_published_event offer{};
    offer.keywords = event.keywords;
    offer.write_index = index;
    offer.event = event.id;
    offer.level = static_cast<std::uint8_t>(event.severity);
    offer.flags = static_cast<std::uint8_t>(
        (event.session_bound ? EVENTLOG_EVENT_SESSION_BOUND : 0) |
        (event.kind == kind::state_complete ? EVENTLOG_EVENT_ALWAYS_DELIVERED : 0));
    std::memcpy(offer.name, event.name.data(), std::min(event.name.size(), sizeof offer.name - 1));
    return offer;
}

/// Collects all events that have numbers of the module. Returns how many.
std::uint32_t fill_published_events(const eventlog_provider& provider) noexcept {
    std::uint32_t count = 0;
    schema_reader schema;
    error_text ignored;
    event_description event;
    if (!schema.open({provider.schema, provider.schema_size}, ignored)) {
        return 0;
    }
    while (schema.next_event(event)) {
        const std::uint32_t number = provider.user_events.numbers.load(event.id);
        if (user_events_route::is_registered(number)) {
            published_event_buffer[count++] = published_event_of(event, number - 1);
        }
    }
    return count;
}

}  // namespace

bool publish_to_module(eventlog_provider& provider, int file, error_text& why,
                       bool& is_retryable) noexcept {
    user_events_route& route = provider.user_events;
    const std::uint32_t count = fill_published_events(provider);
    std::uint32_t published = route.published.load(std::memory_order_relaxed);
    if (published != 0) {
        // Each publication uses an entry in the tables of all subscriptions.
        if (count == route.published_events) {
            return true;
        }
        static_cast<void>(::ioctl(file, EVENTLOG_UNPUBLISH, &published));
        route.published.store(0, std::memory_order_relaxed);
    }
    eventlog_publication wanted{};
    wanted.size = sizeof wanted;
    wanted.event_count = count;
    wanted.events = reinterpret_cast<std::uintptr_t>(published_event_buffer.data());
    wanted.schema = reinterpret_cast<std::uintptr_t>(provider.schema);
    wanted.schema_size = static_cast<std::uint32_t>(provider.schema_size);
    wanted.schema_hash = provider.schema_hash;
    wanted.notification = EVENTLOG_GATE_NOTIFICATION;
    std::memcpy(wanted.name, provider.name.data(), sizeof wanted.name - 1);
    if (count == 0) {
        return true;
    }
    if (::ioctl(file, EVENTLOG_PUBLISH, &wanted) == 0) {
        route.published.store(wanted.provider, std::memory_order_relaxed);
        route.published_events = count;
        return true;
    }
    // EADDRINUSE: a forked child without a file of its own uses its parent's, which has published
    // them. ENOTTY: an older module without this command.
    if (errno == EADDRINUSE || errno == ENOTTY) {
        return true;
    }
    is_retryable = is_transient_shortage(errno);
    if (errno == EMFILE) {
        why.set("Subscriptions through the module's device cannot receive provider %s: this user's "
                "providers have as much memory as the module eventlog allows. Raise "
                "schema_pages_per_user in /sys/module/eventlog/parameters.",
                provider.name.data());
    } else {
        why.set("Subscriptions through the module's device cannot receive provider %s: the kernel "
                "refused it (%s).",
                provider.name.data(), system_error{errno});
    }
    return false;
}

void register_user_events(eventlog_provider& provider, int file,
                          user_events_register_result& result) noexcept {
    user_events_route& route = provider.user_events;
    route.is_in_eventlog_system =
        !route.has_status_page && !route.is_module && supports_flag(file, user_events_eventlog);
    schema_reader schema;
    error_text reason;
    event_description event;
    if (!route.numbers.allocate() || !route.status_locations.allocate()) {
        result.missing.count = provider.event_count.load(std::memory_order_relaxed);
        result.missing.why.set("there is no memory for their numbers");
        result.is_retryable = true;
        return;
    }
    bool is_stopped = !schema.open({provider.schema, provider.schema_size}, reason);
    while (!is_stopped && schema.next_event(event)) {
        std::atomic<std::uint32_t>& number = route.numbers[event.id];
        const std::uint32_t known = number.load(std::memory_order_relaxed);
        if (known != user_events_route::not_registered) {
            result.not_registrable =
                result.not_registrable || known == user_events_route::not_registrable;
            continue;
        }
        int error = 0;
        if (register_described(file, provider, schema, event, error, reason)) {
            continue;
        }
        if (result.missing.count == 0) {
            result.missing.why = reason;
        }
        note_missing_event(provider, event, result);
        is_stopped = is_transient_shortage(error);
        if (!is_stopped) {
            number.store(user_events_route::not_registrable, std::memory_order_relaxed);
        }
    }
    // The remaining registrations would fail, too.
    result.is_retryable = is_stopped && result.missing.count != 0;
    while (result.is_retryable && schema.next_event(event)) {
        note_missing_event(provider, event, result);
    }
}

void clear_device_bits(eventlog_provider& provider) noexcept {
    const std::uint32_t count = provider.event_count.load(std::memory_order_relaxed);
    for (std::uint32_t event = 0; event < count; ++event) {
        clear_device_bit(provider, event);
    }
}

void unregister_user_events(eventlog_provider& provider, int file) noexcept {
    if (!provider.user_events.numbers.is_allocated()) {
        return;  // no event was ever registered
    }
    const bool has_status_page = provider.user_events.has_status_page;
    const std::uint32_t count = provider.event_count.load(std::memory_order_relaxed);
    for (std::uint32_t event = 0; event < count; ++event) {
        if (has_status_page) {
            clear_user_events_bit(provider, event);
        }
        const std::uint32_t number = provider.user_events.numbers[event].exchange(
            user_events_route::not_registered, std::memory_order_relaxed);
        if (!has_status_page && user_events_route::is_registered(number)) {
            static_cast<void>(unregister_word(file, provider, event));
        }
    }
}

}  // namespace eventlog::core
