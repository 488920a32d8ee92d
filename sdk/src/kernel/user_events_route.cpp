// SPDX-License-Identifier: MIT
//
// Opens the route, retries after failures, and closes it. user_events_register.cpp registers the
// events, user_events_write.cpp writes them.
#include "kernel/user_events_route.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <utility>

#include "kernel/batch.hpp"
#include "kernel/eventlog_device.hpp"
#include "kernel/user_events_device.hpp"
#include "kernel/user_events_register.hpp"
#include "kernel/user_events_write.hpp"
#include "platform/process.hpp"
#include "platform/registry_lock.hpp"
#include "platform/signal_guard.hpp"
#include "platform/startup_section.hpp"
#include "platform/system_write.hpp"
#include "provider/own_gate.hpp"
#include "provider/registered_provider.hpp"
#include "ring/clock.hpp"

namespace eventlog::core {
namespace {

constexpr std::uint64_t retry_pause = 1'000'000'000;

// Under the registry lock.
[[EVENTLOG_STARTUP_SECTION]] constinit bool kernel_has_none = false;
[[EVENTLOG_STARTUP_SECTION]] constinit error_text why_none{};
[[EVENTLOG_STARTUP_SECTION]] constinit bool kernel_has_some = false;
// Time of the next check while the kernel's support is unknown, in coarse monotonic nanoseconds.
[[EVENTLOG_STARTUP_SECTION]] constinit std::uint64_t recheck_not_before = 0;
[[EVENTLOG_STARTUP_SECTION]] constinit eventlog_status_code unknown_support_status =
    EVENTLOG_STATUS_OK;
[[EVENTLOG_STARTUP_SECTION]] constinit error_text why_support_unknown{};

void set_status(user_events_route& route, eventlog_status_code status,
                const error_text& text) noexcept {
    route.status = status;
    route.status_text = text;
    route.missing.count = 0;
}

/// Moves the descriptor to a high number, see user_events_route.hpp. Keeps its number if none is
/// free.
int move_to_high_number(unique_fd file) noexcept {
    constexpr int high = 768;  // below the usual limit of 1024
    const int moved = ::fcntl(file.get(), F_DUPFD_CLOEXEC, high);
    return moved >= 0 ? moved : file.release();
}

/// Invalidates the number in all providers from `first` on. Returns whether one of them had it.
bool forget_descriptor(eventlog_provider* first, int number) noexcept {
    bool was_there = false;
    for (eventlog_provider* other = first; other != nullptr; other = other->next) {
        user_events_route& route = other->user_events;
        int expected = number;
        if (route.file.compare_exchange_strong(expected, -1, std::memory_order_seq_cst)) {
            route.not_before.store(0, std::memory_order_relaxed);  // reopened at once
            was_there = true;
        }
        std::ranges::replace(route.retired, number, -1);
    }
    return was_there;
}

/// Called with a number that the kernel has just returned, so a provider that had the number has
/// lost its descriptor, and cannot notice that, because both files are the same device. Returns the
/// number to use: another one if a thread may be about to write an event of that provider to this
/// one.
int claim_number(int number) noexcept {
    while (number >= 0) {
        const bool was_registered = forget_descriptor(get_first_registered(), number);
        const bool was_free = forget_descriptor(get_first_free(), number);
        if ((!was_registered && !was_free) || descriptor_users.is_zero()) {
            break;
        }
        const int next = ::fcntl(number, F_DUPFD_CLOEXEC, number + 1);
        static_cast<void>(::close(number));
        number = next;
    }
    return number;
}

bool adopt_descriptor(user_events_route& route, unique_fd file) noexcept {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) {
        return false;
    }
    const int number = claim_number(move_to_high_number(std::move(file)));
    if (number < 0) {
        return false;
    }
    route.device.store(status.st_dev, std::memory_order_relaxed);
    route.inode.store(status.st_ino, std::memory_order_relaxed);
    route.verified_at.store(ticks(), std::memory_order_relaxed);
    route.generation.fetch_add(1, std::memory_order_release);
    route.file.store(number, std::memory_order_seq_cst);
    return true;
}

/// Closes previous descriptors, unless the program has closed them and reused the numbers. False if
/// threads may still write to them.
bool close_retired(user_events_route& route) noexcept {
    for (int& number : route.retired) {
        if (number < 0) {
            continue;
        }
        if (!descriptor_users.is_zero()) {
            return false;
        }
        if (is_own_descriptor(route, number)) {
            static_cast<void>(::close(number));
        }
        number = -1;
    }
    return true;
}

/// Closes the descriptor now or later. There is a place for it, because none is adopted while there
/// are others.
void retire(user_events_route& route, int file) noexcept {
    *std::ranges::find(route.retired, -1) = file;
    static_cast<void>(close_retired(route));
}

/// An empty batch: older modules reject it.
bool takes_batches(const user_events_route& route) noexcept {
    return system_write(route.file.load(std::memory_order_relaxed), batch_header,
                        sizeof batch_header) == 0;
}

/// Opens the device and unregisters what was registered through an earlier, lost descriptor.
/// On failure status_text holds the message.
///
/// A provider that has `begun` with user_events keeps them: user_events would write to its words
/// otherwise, which would never be unregistered.
bool open_descriptor(eventlog_provider& provider, bool begun) noexcept {
    user_events_route& route = provider.user_events;
    if (!close_retired(route)) {
        error_text text;
        text.set("A thread is still writing earlier events to the kernel. The next attempt is in a "
                 "second.");
        set_status(route, EVENTLOG_STATUS_INCOMPLETE, text);
        return false;
    }
    route.takes_batches.store(false, std::memory_order_relaxed);
    error_text why;
    user_events_device device =
        begun && !route.is_module ? open_user_events(why) : open_module_or_user_events(why);
    if (device.file) {
        if (adopt_descriptor(route, std::move(device.file))) {
            kernel_has_some = kernel_has_some || !device.is_module;
            recheck_not_before = 0;
            route.has_status_page = device.has_status_page;
            route.is_module = device.is_module;
            route.takes_batches.store(device.is_module && takes_batches(route),
                                      std::memory_order_relaxed);
            route.published.store(0, std::memory_order_relaxed);
            unregister_user_events(provider, route.file.load(std::memory_order_relaxed));
            // Numbers of the previous descriptor were visible until here.
            route.generation.fetch_add(1, std::memory_order_release);
            return true;
        }
        device.status = EVENTLOG_STATUS_INCOMPLETE;
        why.set("The descriptor of %s cannot be kept (%s). Raise the limit of open files "
                "(ulimit -n).",
                device.is_module ? eventlog_device_path : "user_events_data", system_error{errno});
    }
    set_status(route, device.status, why);
    if (device.status == EVENTLOG_STATUS_NO_KERNEL_SUPPORT) {
        kernel_has_none = true;
        why_none = why;
    } else if (device.is_support_unknown && !kernel_has_some) {
        recheck_not_before = coarse_monotonic_now() + retry_pause;
        unknown_support_status = route.status;
        why_support_unknown = why;
    }
    return false;
}

/// Whether a recent check, or an earlier one of a permanent condition, has shown that there is no
/// device.
bool is_known_unavailable(user_events_route& route) noexcept {
    if (has_eventlog_device()) {
        return false;
    }
    if (kernel_has_none) {
        // Checked once per process. The module may be loaded later, for which run_callbacks()
        // looks.
        route.not_polled_before.store(coarse_monotonic_now() + retry_pause,
                                      std::memory_order_relaxed);
        set_status(route, EVENTLOG_STATUS_NO_KERNEL_SUPPORT, why_none);
        return true;
    }
    if (coarse_monotonic_now() < recheck_not_before) {
        // Checked once a second, by run_callbacks() only: the device hardly ever appears, and
        // reading the clock would slow every emit down.
        set_status(route, unknown_support_status, why_support_unknown);
        route.not_polled_before.store(recheck_not_before, std::memory_order_relaxed);
        return true;
    }
    return false;
}

/// Reopens the route if `time` has passed and no other thread has done it.
void retry_after(eventlog_provider& provider, const std::atomic<std::uint64_t>& time) noexcept {
    if (coarse_monotonic_now() < time.load(std::memory_order_relaxed)) {
        return;
    }
    // A child created without fork() has the parent's gate, and must not change its bits.
    if (own_identity().pid != static_cast<std::uint32_t>(::getpid())) {
        return;
    }
    const signal_guard guard;
    const registry_lock lock(std::try_to_lock);
    // Checked again under the lock: another thread may have reopened the route, or withdrawn the
    // provider, whose gate and schema are invalid then.
    if (lock.held() && provider.user_events.status != EVENTLOG_STATUS_UNREGISTERED &&
        coarse_monotonic_now() >= time.load(std::memory_order_relaxed)) {
        open_user_events_route(provider);
    }
}

/// Whether the descriptor is still open. If not, removes it from the route and the module's bits
/// from the gate.
bool check_descriptor(eventlog_provider& provider) noexcept {
    user_events_route& route = provider.user_events;
    const int file = route.file.load(std::memory_order_relaxed);
    if (file >= 0 && is_own_descriptor(route, file)) {
        return true;
    }
    route.file.store(-1, std::memory_order_seq_cst);
    // Needed whatever is opened next, user_events or nothing.
    clear_device_bits(provider);
    return false;
}

/// After the loss of the module's descriptor, while another process has the file: the module still
/// sets the bits of words registered there. So emits check again and clear them.
void schedule_device_bit_check(user_events_route& route, std::uint64_t then) noexcept {
    if (route.is_module) {
        route.not_before.store(then, std::memory_order_relaxed);
    }
}

/// The kernel writes to the words that are registered: they must be this provider's only.
bool has_own_gate(eventlog_provider& provider) noexcept {
    if (take_own_gate(provider)) {
        return true;
    }
    error_text text;
    text.set("No space for the gate of provider %s in %s. Free some there, or set EVENTLOG_DIR to "
             "another tmpfs. The next attempt is in a second.",
             provider.name.data(), own_directory().text.data());
    set_status(provider.user_events, EVENTLOG_STATUS_INCOMPLETE, text);
    return false;
}

/// Publishes to the module. A failure is reported only if all events are in tracefs, which matters
/// more. Returns whether to retry.
bool publish(eventlog_provider& provider, int file) noexcept {
    user_events_route& route = provider.user_events;
    error_text why;
    bool is_retryable = false;
    if (!route.is_module || publish_to_module(provider, file, why, is_retryable)) {
        return false;
    }
    if (route.status == EVENTLOG_STATUS_OK) {
        set_status(route, EVENTLOG_STATUS_INCOMPLETE, why);
    }
    return is_retryable;
}

/// The prefix of a provider's name in tracefs.
const char* system_of(const user_events_route& route) noexcept {
    if (route.is_module) {
        return "eventlog:";
    }
    return route.is_in_eventlog_system ? "eventlog:eventlog_" : "user_events:eventlog_";
}

void report_registration(eventlog_provider& provider,
                         const user_events_register_result& result) noexcept {
    user_events_route& route = provider.user_events;
    if (result.missing.count == 0 && result.not_registrable) {
        return;  // the earlier status of those is still valid
    }
    if (result.missing.count == 0) {
        error_text text;
        text.set("The events of provider %s are in tracefs as %s%s_*.", provider.name.data(),
                 system_of(route), provider.name.data());
        set_status(route, EVENTLOG_STATUS_OK, text);
    } else {
        route.status = EVENTLOG_STATUS_INCOMPLETE;
        route.missing = result.missing;
    }
}

/// Opens a file for a forked child, because events published through the inherited one belong to
/// the parent. If that fails (no access, or a limit), the child uses the inherited file and appears
/// as its parent. A signal handler may have forked during an emit that continues with the inherited
/// file and its numbers, so that file is closed when it has no writers.
void open_child_descriptor(user_events_route& route) noexcept {
    const int inherited = route.file.load(std::memory_order_relaxed);
    int ignored = 0;
    unique_fd own = open_eventlog_device(ignored);
    if (own && close_retired(route) && adopt_descriptor(route, std::move(own))) {
        retire(route, inherited);
    }
}

}  // namespace

void open_user_events_route(eventlog_provider& provider) noexcept {
    user_events_route& route = provider.user_events;
    route.stop_retries();
    const bool is_open = check_descriptor(provider);
    const std::uint64_t then = coarse_monotonic_now() + retry_pause;
    if (!is_open && is_known_unavailable(route)) {
        schedule_device_bit_check(route, then);
        return;
    }
    user_events_register_result result;
    bool publish_again = false;
    if ((is_open || open_descriptor(provider, route.expected.load(std::memory_order_relaxed))) &&
        has_own_gate(provider)) {
        route.expected.store(true, std::memory_order_relaxed);
        register_user_events(provider, route.file.load(std::memory_order_relaxed), result);
        report_registration(provider, result);
        publish_again = publish(provider, route.file.load(std::memory_order_relaxed));
    } else {
        result.is_retryable = route.status != EVENTLOG_STATUS_NO_KERNEL_SUPPORT;
    }
    if (result.is_retryable || publish_again || route.status == EVENTLOG_STATUS_NO_KERNEL_SUPPORT) {
        // Only run_callbacks() retries a failed publication, because the kernel compares it with
        // the rules of all subscriptions, which takes long. And only run_callbacks() looks for a
        // module that was loaded later.
        route.not_polled_before.store(then, std::memory_order_relaxed);
    }
    if (result.is_retryable && recheck_not_before == 0) {
        route.not_before.store(then, std::memory_order_relaxed);
    }
    if (route.file.load(std::memory_order_relaxed) < 0) {
        schedule_device_bit_check(route, then);
    }
}

void close_user_events_route(eventlog_provider& provider) noexcept {
    user_events_route& route = provider.user_events;
    route.stop_retries();
    route.status = EVENTLOG_STATUS_UNREGISTERED;
    route.withdrawals.fetch_add(1, std::memory_order_release);
    // If the program has closed the descriptor, a new one is needed to unregister the words,
    // because other memory may soon be at their addresses.
    if (route.expected.exchange(false, std::memory_order_relaxed) &&
        (check_descriptor(provider) || open_descriptor(provider, true))) {
        const int file = route.file.load(std::memory_order_relaxed);
        unregister_user_events(provider, file);
        route.generation.fetch_add(1, std::memory_order_release);
        route.file.store(-1, std::memory_order_seq_cst);
        retire(route, file);
    } else {
        static_cast<void>(close_retired(route));
    }
}

bool close_retired_descriptors() noexcept {
    bool is_complete = true;
    for (eventlog_provider* first : {get_first_registered(), get_first_free()}) {
        for (eventlog_provider* provider = first; provider != nullptr; provider = provider->next) {
            is_complete = close_retired(provider->user_events) && is_complete;
        }
    }
    return is_complete;
}

void renew_user_events_route(eventlog_provider& provider) noexcept {
    user_events_route& route = provider.user_events;
    if (!route.expected.load(std::memory_order_relaxed)) {
        return;
    }
    route.published.store(0, std::memory_order_relaxed);  // the publication is the parent's
    if (check_descriptor(provider)) {
        unregister_user_events(provider, route.file.load(std::memory_order_relaxed));
        if (route.is_module) {
            open_child_descriptor(route);
        }
    }
    open_user_events_route(provider);
}

void retry_user_events_route(eventlog_provider& provider) noexcept {
    retry_after(provider, provider.user_events.not_before);
}

void poll_user_events_route(eventlog_provider& provider) noexcept {
    retry_after(provider, provider.user_events.not_before);
    retry_after(provider, provider.user_events.not_polled_before);
}

}  // namespace eventlog::core
