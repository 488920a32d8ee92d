// SPDX-License-Identifier: MIT
//
// Offering events to the kernel, and taking them back. Writing them is in user_events_write.cpp.
#include "user_events_route.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <utility>

#include "clock.hpp"
#include "registered_provider.hpp"
#include "schema.hpp"
#include "unnoticed.hpp"
#include "user_events_abi.hpp"
#include "user_events_device.hpp"
#include "user_events_text.hpp"
#include "user_events_write.hpp"

namespace eventlog::core {
namespace {

constexpr std::uint64_t retry_pause = 1'000'000'000;

// Under the registry's lock.
constinit bool kernel_has_none = false;
constinit error_text why_none{};
constinit user_events_text describer{};  // too large for somebody's stack

/// Gives a word back to whom it belongs. True if the kernel knew it.
bool unregister_word(int file, const eventlog_provider& provider, std::uint32_t event) noexcept {
    user_events_unregistration end{};
    end.disable_bit = EVENTLOG_GATE_USER_EVENTS_BIT;
    end.disable_address =
        reinterpret_cast<std::uintptr_t>(provider.gate.load(std::memory_order_relaxed) + event);
    return ::ioctl(file, user_events_unregister, &end) == 0;
}

/// Returns 0 and the event's number, or an errno.
int register_text(int file, const eventlog_provider& provider, std::uint32_t event,
                  std::uint16_t flags, std::uint32_t& number) noexcept {
    user_events_registration wanted{};
    wanted.enable_bit = EVENTLOG_GATE_USER_EVENTS_BIT;
    wanted.flags = flags;
    wanted.enable_address =
        reinterpret_cast<std::uintptr_t>(provider.gate.load(std::memory_order_relaxed) + event);
    wanted.description = reinterpret_cast<std::uintptr_t>(describer.description());
    if (::ioctl(file, user_events_register, &wanted) != 0) {
        return errno;
    }
    number = wanted.write_index;
    return 0;
}

/// The same, past those who have the word or the name already.
int register_event(int file, const eventlog_provider& provider, std::uint32_t event,
                   std::uint32_t& number) noexcept {
    int error = register_text(file, provider, event, 0, number);
    if (error == EADDRINUSE && unregister_word(file, provider, event)) {
        // The word was left over, of somebody whose memory was here before.
        error = register_text(file, provider, event, 0, number);
    }
    if (error == EADDRINUSE) {
        // There is an event of this name that has other fields: of another version of the program.
        error = register_text(file, provider, event, user_events_multi_format, number);
        if (error == EINVAL || error == EADDRINUSE) {
            error = describer.make_name_unique() ? register_text(file, provider, event, 0, number)
                                                 : EADDRINUSE;
        }
    }
    return error;
}

bool is_shortage(int error) noexcept {
    return error == EMFILE || error == ENOMEM;
}

void explain(int error, error_text& why) noexcept {
    if (error == EMFILE) {
        why.set("the kernel has as many as kernel.user_events_max allows. Raise that with sysctl");
    } else if (error == EADDRINUSE) {
        why.set("the kernel has another event of that name. Rename one of them");
    } else {
        why.set("the kernel refused it (%s)", std::strerror(error));
    }
}

/// What has become of a provider's events.
struct registration_result {
    std::uint32_t missing = 0;
    bool may_change = false;
    std::array<char, 64> first{};  // the first that is missing
    error_text why;
};

void note_missing(registration_result& result, const event_description& event) noexcept {
    if (result.missing++ == 0) {
        std::memcpy(result.first.data(), event.name.data(), event.name.size());
    }
}

/// Out of line, like all that may run on somebody's stack seldom.
[[gnu::noinline]] void register_events(eventlog_provider& provider, int file,
                                       registration_result& result) noexcept {
    user_events_route& route = provider.user_events;
    schema_reader schema;
    error_text reason;
    event_description event;
    bool goes_on = schema.open({provider.schema, provider.schema_size}, reason);
    while (goes_on && schema.next_event(event)) {
        std::atomic<std::uint32_t>& number = route.numbers[event.id];
        if (number.load(std::memory_order_relaxed) != user_events_route::not_registered) {
            continue;
        }
        std::uint32_t index = 0;
        int error = 0;
        const bool described = describer.describe(schema, event, reason);
        if (described) {
            error = register_event(file, provider, event.id, index);
        }
        if (described && error == 0) {
            number.store(index + 1, std::memory_order_release);
            continue;
        }
        if (described) {
            explain(error, reason);
        }
        note_missing(result, event);
        if (result.missing == 1) {
            result.why = reason;
        }
        if (is_shortage(error)) {
            // So will be all that follow.
            result.may_change = true;
            goes_on = false;
            while (schema.next_event(event)) {
                note_missing(result, event);
            }
        } else {
            number.store(user_events_route::left_out, std::memory_order_relaxed);
        }
    }
}

void forget_events(eventlog_provider& provider, int file) noexcept {
    const std::uint32_t count = provider.event_count.load(std::memory_order_relaxed);
    for (std::uint32_t event = 0; event < count; ++event) {
        const std::uint32_t number = provider.user_events.numbers[event].exchange(
            user_events_route::not_registered, std::memory_order_relaxed);
        if (number != user_events_route::not_registered && number != user_events_route::left_out) {
            static_cast<void>(unregister_word(file, provider, event));
        }
    }
}

/// A high number, see user_events_route.hpp; the one that it has where there is none.
int move_up(unique_fd file) noexcept {
    constexpr int high = 768;  // below the usual limit, 1024
    const int moved = ::fcntl(file.get(), F_DUPFD_CLOEXEC, high);
    return moved >= 0 ? moved : file.release();
}

bool take_descriptor(user_events_route& route, unique_fd file) noexcept {
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) {
        return false;
    }
    route.device.store(status.st_dev, std::memory_order_relaxed);
    route.inode.store(status.st_ino, std::memory_order_relaxed);
    route.compared.store(coarse_now(), std::memory_order_relaxed);
    route.file.store(move_up(std::move(file)), std::memory_order_seq_cst);
    return true;
}

/// Closes what threads may still have been writing to, unless the program has, and has given the
/// number to a file of its own. False if they still may.
bool close_retired(user_events_route& route) noexcept {
    if (route.retired >= 0) {
        if (is_anybody_writing()) {
            return false;
        }
        if (is_own_descriptor(route, route.retired)) {
            static_cast<void>(::close(route.retired));
        }
        route.retired = -1;
    }
    return true;
}

/// Opens the device, and gives back through it what has been offered through another descriptor.
/// False: status_text says why it cannot.
bool open_descriptor(eventlog_provider& provider) noexcept {
    user_events_route& route = provider.user_events;
    route.file.store(-1, std::memory_order_seq_cst);
    if (!close_retired(route)) {
        route.status = EVENTLOG_INCOMPLETE;
        route.status_text.set("A thread is still writing events to the kernel that it emitted "
                              "before. It is tried again in a second.");
        return false;
    }
    user_events_device device = open_user_events(route.status_text);
    if (device.file && take_descriptor(route, std::move(device.file))) {
        forget_events(provider, route.file.load(std::memory_order_relaxed));
        return true;
    }
    route.status = device.status;
    if (device.status == EVENTLOG_NO_KERNEL_SUPPORT) {
        kernel_has_none = true;
        why_none = route.status_text;
    }
    return false;
}

bool has_descriptor(user_events_route& route) noexcept {
    const int file = route.file.load(std::memory_order_relaxed);
    return file >= 0 && is_own_descriptor(route, file);
}

void say_what_became(eventlog_provider& provider, const registration_result& result) noexcept {
    user_events_route& route = provider.user_events;
    const std::uint32_t count = provider.event_count.load(std::memory_order_relaxed);
    if (result.missing == 0) {
        route.status = EVENTLOG_OK;
        route.status_text.set("The events of provider %s are in tracefs as "
                              "user_events:eventlog_%s_*.",
                              provider.name.data(), provider.name.data());
    } else {
        route.status = EVENTLOG_INCOMPLETE;
        route.status_text.set("%u of %u events of provider %s are not in tracefs. The first is %s: "
                              "%s.",
                              result.missing, count, provider.name.data(), result.first.data(),
                              result.why.text());
    }
}

}  // namespace

void open_user_events_route(eventlog_provider& provider) noexcept {
    user_events_route& route = provider.user_events;
    route.not_before.store(user_events_route::never, std::memory_order_relaxed);
    if (kernel_has_none) {
        // Asked once a process.
        route.status = EVENTLOG_NO_KERNEL_SUPPORT;
        route.status_text = why_none;
        return;
    }
    registration_result result;
    if (has_descriptor(route) || open_descriptor(provider)) {
        route.expected.store(true, std::memory_order_relaxed);
        register_events(provider, route.file.load(std::memory_order_relaxed), result);
        say_what_became(provider, result);
    } else {
        result.may_change = !kernel_has_none;
    }
    if (result.may_change) {
        route.not_before.store(coarse_now() + retry_pause, std::memory_order_relaxed);
    }
}

void close_user_events_route(eventlog_provider& provider) noexcept {
    user_events_route& route = provider.user_events;
    route.not_before.store(user_events_route::never, std::memory_order_relaxed);
    route.status = EVENTLOG_UNREGISTERED;
    // Where the program has closed our descriptor, it takes another one to take the words back:
    // other memory may soon be where they are.
    if (route.expected.exchange(false, std::memory_order_relaxed) &&
        (has_descriptor(route) || open_descriptor(provider))) {
        const int file = route.file.load(std::memory_order_relaxed);
        forget_events(provider, file);
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
    if (has_descriptor(route)) {
        forget_events(provider, route.file.load(std::memory_order_relaxed));
    }
    open_user_events_route(provider);
}

void retry_user_events_route(eventlog_provider& provider) noexcept {
    user_events_route& route = provider.user_events;
    if (coarse_now() < route.not_before.load(std::memory_order_relaxed)) {
        return;
    }
    const unnoticed guard;
    const registry_lock lock(std::try_to_lock);
    // Asked again: another thread may have done it, or have withdrawn the provider, whose gate and
    // schema are not its own any more.
    if (lock.held() && route.status != EVENTLOG_UNREGISTERED &&
        coarse_now() >= route.not_before.load(std::memory_order_relaxed)) {
        open_user_events_route(provider);
    }
}

}  // namespace eventlog::core
