// SPDX-License-Identifier: MIT
//
// Opening the way, trying again, closing it. Which events take it is in
// user_events_register_result.cpp, writing them in user_events_write.cpp.
#include "kernel/user_events_route.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
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
#include "provider/registered_provider.hpp"
#include "ring/clock.hpp"

namespace eventlog::core {
namespace {

constexpr std::uint64_t retry_pause = 1'000'000'000;

// Under the registry's lock.
[[EVENTLOG_STARTUP_SECTION]] constinit bool kernel_has_none = false;
[[EVENTLOG_STARTUP_SECTION]] constinit error_text why_none{};
[[EVENTLOG_STARTUP_SECTION]] constinit bool kernel_has_some = false;
// What is not clear is not looked at again before: coarse monotonic nanoseconds.
[[EVENTLOG_STARTUP_SECTION]] constinit std::uint64_t recheck_not_before = 0;
[[EVENTLOG_STARTUP_SECTION]] constinit eventlog_status_code unknown_support_status = EVENTLOG_OK;
[[EVENTLOG_STARTUP_SECTION]] constinit error_text why_support_unknown{};

/// A high number, see user_events_route.hpp; the one that it has where there is none.
int move_to_high_number(unique_fd file) noexcept {
    constexpr int high = 768;  // below the usual limit, 1024
    const int moved = ::fcntl(file.get(), F_DUPFD_CLOEXEC, high);
    return moved >= 0 ? moved : file.release();
}

/// Whether a provider from this one on had the number. None has it afterwards.
bool forget_descriptor(eventlog_provider* first, int number) noexcept {
    bool was_there = false;
    for (eventlog_provider* other = first; other != nullptr; other = other->next) {
        user_events_route& route = other->user_events;
        int expected = number;
        if (route.file.compare_exchange_strong(expected, -1, std::memory_order_seq_cst)) {
            route.not_before.store(0, std::memory_order_relaxed);  // opened anew at once
            was_there = true;
        }
        if (route.retired == number) {
            route.retired = -1;
        }
    }
    return was_there;
}

/// The kernel has just given us the number: what another provider had there is closed. That one
/// could not tell our file from its own, which is the same device. Returns the number to use:
/// another one if some thread may be about to write the other provider's event to this one.
int claim_number(int number) noexcept {
    while (number >= 0) {
        const bool was_registered = forget_descriptor(get_first_registered(), number);
        const bool was_free = forget_descriptor(get_first_free(), number);
        if ((!was_registered && !was_free) || !has_active_writers()) {
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

/// Closes what threads may still have been writing to, unless the program has, and has given the
/// number to a file of its own. False if they still may.
bool close_retired(user_events_route& route) noexcept {
    if (route.retired >= 0) {
        if (has_active_writers()) {
            return false;
        }
        if (is_own_descriptor(route, route.retired)) {
            static_cast<void>(::close(route.retired));
        }
        route.retired = -1;
    }
    return true;
}

/// Asks an eventlog module, whose older versions do not, by a batch of nothing.
bool takes_batches(const user_events_route& route) noexcept {
    return system_write(route.file.load(std::memory_order_relaxed), batch_header,
                        sizeof batch_header) == 0;
}

/// Opens the device, and gives back through it what has been offered through another descriptor,
/// which is gone. False: status_text says why it cannot.
///
/// Whoever has `begun` with user_events goes on with them: they would write to words that are not
/// given back.
bool open_descriptor(eventlog_provider& provider, bool begun) noexcept {
    user_events_route& route = provider.user_events;
    if (!close_retired(route)) {
        route.status = EVENTLOG_INCOMPLETE;
        route.status_text.set("A thread is still writing events to the kernel that it emitted "
                              "before. It is tried again in a second.");
        return false;
    }
    route.takes_batches.store(false, std::memory_order_relaxed);
    user_events_device device = begun && !route.is_module
                                    ? open_user_events(route.status_text)
                                    : open_module_or_user_events(route.status_text);
    if (device.file) {
        if (adopt_descriptor(route, std::move(device.file))) {
            kernel_has_some = kernel_has_some || !device.is_module;
            recheck_not_before = 0;
            route.has_status_page = device.has_status_page;
            route.is_module = device.is_module;
            route.takes_batches.store(device.is_module && takes_batches(route),
                                      std::memory_order_relaxed);
            route.published = 0;
            unregister_user_events(provider, route.file.load(std::memory_order_relaxed));
            // Until then there were the numbers of the other one.
            route.generation.fetch_add(1, std::memory_order_release);
            return true;
        }
        device.status = EVENTLOG_INCOMPLETE;
        route.status_text.set("The descriptor of %s cannot be kept (%s). Raise the limit of open "
                              "files (ulimit -n).",
                              device.is_module ? eventlog_device_path : "user_events_data",
                              std::strerror(errno));
    }
    route.status = device.status;
    if (device.status == EVENTLOG_NO_KERNEL_SUPPORT) {
        kernel_has_none = true;
        why_none = route.status_text;
    } else if (device.is_support_unknown && !kernel_has_some) {
        recheck_not_before = coarse_monotonic_now() + retry_pause;
        unknown_support_status = route.status;
        why_support_unknown = route.status_text;
    }
    return false;
}

/// Whether it is known, or has just been tried, that there is nothing to be had.
bool is_known_unavailable(user_events_route& route) noexcept {
    if (has_eventlog_device()) {
        return false;
    }
    if (kernel_has_none) {
        // Asked once a process. But the module may be loaded later, for which poll() looks.
        route.not_polled_before.store(coarse_monotonic_now() + retry_pause,
                                      std::memory_order_relaxed);
        route.status = EVENTLOG_NO_KERNEL_SUPPORT;
        route.status_text = why_none;
        return true;
    }
    if (coarse_monotonic_now() < recheck_not_before) {
        // Asked once a second, and by poll() only: it is hardly ever there, and looking at the
        // clock would make every emit longer.
        route.status = unknown_support_status;
        route.status_text = why_support_unknown;
        route.not_polled_before.store(recheck_not_before, std::memory_order_relaxed);
        return true;
    }
    return false;
}

/// Does the work if it is time, and no other thread has done it.
void retry_after(eventlog_provider& provider, const std::atomic<std::uint64_t>& time) noexcept {
    if (coarse_monotonic_now() < time.load(std::memory_order_relaxed)) {
        return;
    }
    // A child that was made without fork() has the parent's gate: its bits are not ours to change.
    if (own_identity().pid != static_cast<std::uint32_t>(::getpid())) {
        return;
    }
    const signal_guard guard;
    const registry_lock lock(std::try_to_lock);
    // Asked again: another thread may have withdrawn the provider, too, whose gate and schema are
    // not its own any more.
    if (lock.held() && provider.user_events.status != EVENTLOG_UNREGISTERED &&
        coarse_monotonic_now() >= time.load(std::memory_order_relaxed)) {
        open_user_events_route(provider);
    }
}

/// Whether it is open still. If not, neither route nor gate speak of it any more.
bool check_descriptor(eventlog_provider& provider) noexcept {
    user_events_route& route = provider.user_events;
    const int file = route.file.load(std::memory_order_relaxed);
    if (file >= 0 && is_own_descriptor(route, file)) {
        return true;
    }
    route.file.store(-1, std::memory_order_seq_cst);
    // Whatever comes of opening another one: user_events may be that, or nothing.
    clear_device_bits(provider);
    return false;
}

/// Where the module's descriptor has gone, and another process has the file: the module goes on to
/// set the bits of words that were registered there. So emit looks again, and clears them.
void schedule_device_bit_check(user_events_route& route, std::uint64_t then) noexcept {
    if (route.is_module) {
        route.not_before.store(then, std::memory_order_relaxed);
    }
}

/// That nobody can subscribe to it matters less than what tracefs does not have. Returns whether it
/// is to be tried again.
bool publish(eventlog_provider& provider, int file) noexcept {
    user_events_route& route = provider.user_events;
    error_text why;
    bool is_retryable = false;
    if (!route.is_module || publish_to_module(provider, file, why, is_retryable)) {
        return false;
    }
    if (route.status == EVENTLOG_OK) {
        route.status = EVENTLOG_INCOMPLETE;
        route.status_text.set("Nobody can subscribe to provider %s through the module's device: "
                              "%s.",
                              provider.name.data(), why.text());
    }
    return is_retryable;
}

/// What stands in front of a provider's name in tracefs.
const char* system_of(const user_events_route& route) noexcept {
    if (route.is_module) {
        return "eventlog:";
    }
    return route.is_in_eventlog_system ? "eventlog:eventlog_" : "user_events:eventlog_";
}

void report_registration(eventlog_provider& provider,
                         const user_events_register_result& result) noexcept {
    user_events_route& route = provider.user_events;
    const std::uint32_t count = provider.event_count.load(std::memory_order_relaxed);
    if (result.missing == 0 && result.not_registrable) {
        return;  // what was said of those holds still
    }
    if (result.missing == 0) {
        route.status = EVENTLOG_OK;
        route.status_text.set("The events of provider %s are in tracefs as %s%s_*.",
                              provider.name.data(), system_of(route), provider.name.data());
    } else {
        route.status = EVENTLOG_INCOMPLETE;
        route.status_text.set("%u of %u events of provider %s are not in tracefs. The first is %s: "
                              "%s.",
                              result.missing, count, provider.name.data(), result.first.data(),
                              result.why.text());
    }
}

/// What a forked child publishes through its parent's file is the parent's. So it takes a file of
/// its own. Where it may not have the device, or not one more, the inherited one serves it, and it
/// is heard as its parent. A handler may have forked in the middle of an emit, which goes on with
/// that one and with what it calls the event: it is closed when nobody writes.
void open_child_descriptor(user_events_route& route) noexcept {
    const int inherited = route.file.load(std::memory_order_relaxed);
    int ignored = 0;
    unique_fd own = open_eventlog_device(ignored);
    if (own && close_retired(route) && adopt_descriptor(route, std::move(own))) {
        route.retired = inherited;
        static_cast<void>(close_retired(route));
    }
}

}  // namespace

void open_user_events_route(eventlog_provider& provider) noexcept {
    user_events_route& route = provider.user_events;
    route.not_before.store(user_events_route::never, std::memory_order_relaxed);
    route.not_polled_before.store(user_events_route::never, std::memory_order_relaxed);
    const bool is_open = check_descriptor(provider);
    const std::uint64_t then = coarse_monotonic_now() + retry_pause;
    if (!is_open && is_known_unavailable(route)) {
        schedule_device_bit_check(route, then);
        return;
    }
    user_events_register_result result;
    bool publish_again = false;
    if (is_open || open_descriptor(provider, route.expected.load(std::memory_order_relaxed))) {
        route.expected.store(true, std::memory_order_relaxed);
        register_user_events(provider, route.file.load(std::memory_order_relaxed), result);
        report_registration(provider, result);
        publish_again = publish(provider, route.file.load(std::memory_order_relaxed));
    } else {
        result.is_retryable = route.status != EVENTLOG_NO_KERNEL_SUPPORT;
    }
    if (result.is_retryable || publish_again || route.status == EVENTLOG_NO_KERNEL_SUPPORT) {
        // That nobody can subscribe to it no emit sees to: the kernel may compare it with the rules
        // of all who do, which takes long. Where the kernel has nothing, too: the module may be
        // loaded.
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
    route.not_before.store(user_events_route::never, std::memory_order_relaxed);
    route.not_polled_before.store(user_events_route::never, std::memory_order_relaxed);
    route.status = EVENTLOG_UNREGISTERED;
    route.withdrawals.fetch_add(1, std::memory_order_release);
    // Where the program has closed our descriptor, it takes another one to take the words back:
    // other memory may soon be where they are.
    if (route.expected.exchange(false, std::memory_order_relaxed) &&
        (check_descriptor(provider) || open_descriptor(provider, true))) {
        const int file = route.file.load(std::memory_order_relaxed);
        unregister_user_events(provider, file);
        route.generation.fetch_add(1, std::memory_order_release);
        route.file.store(-1, std::memory_order_seq_cst);
        route.retired = file;
    }
    static_cast<void>(close_retired(route));
}

void renew_user_events_route(eventlog_provider& provider) noexcept {
    user_events_route& route = provider.user_events;
    if (!route.expected.load(std::memory_order_relaxed)) {
        return;
    }
    route.published = 0;  // that is the parent's
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
