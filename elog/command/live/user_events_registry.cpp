// SPDX-License-Identifier: MIT
#include "live/user_events_registry.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

#include <fmt/core.h>

#include "base/user_error.hpp"
#include "kernel/user_events_abi.hpp"
#include "kernel/user_events_device.hpp"
#include "platform/error_text.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;
namespace fs = std::filesystem;

constexpr const char* single_format_name = "user_events";
constexpr const char* multi_format_name = "user_events_multi";
/// Used if the kernel supports it.
constexpr const char* own_system = "eventlog";
constexpr std::string_view tracepoint_prefix = "eventlog_";

/// The kernel requires an enable word for a registration. This one is never read.
alignas(std::uint64_t) std::atomic<std::uint32_t> unused_word{0};
constexpr std::uint8_t unused_bit = 0;

std::string_view name_in(const char* description) {
    const std::string_view text = description;
    return text.substr(0, text.find(' '));
}

/// In user_events_multi a name ends in a dot and a number.
std::string_view without_number(std::string_view name) {
    return name.substr(0, name.find('.'));
}

[[noreturn]] void refuse_to_add(std::string_view name, int error) {
    switch (error) {
        case EPERM:
            throw user_error("The kernel requires root or CAP_PERFMON to register persistent "
                             "events. Run the command as root, for example with sudo.");
        case EINVAL:
            throw user_error("This kernel does not support persistent events, or refuses the "
                             "description of {}. Use Linux 6.7 or later.",
                             name);
        case EMFILE:
            throw user_error(
                "The kernel has as many events as kernel.user_events_max allows, without "
                "{}. Raise that with sysctl, or remove some with: elog kernel unregister",
                name);
        case EADDRINUSE:
            throw user_error("The kernel has another event called {}. Remove it with elog "
                             "kernel unregister, or rename one of them.",
                             name);
        default:
            throw user_error("The kernel refuses the event {}: {}. See its message with: dmesg",
                             name, std::strerror(error));
    }
}

}  // namespace

user_events_registry::user_events_registry() {
    core::error_text why;
    core::user_events_device device = core::open_user_events(why);
    if (!device.file) {
        throw user_error("{}", why.text().c_str());
    }
    if (::access(core::user_events_limit_path, F_OK) != 0) {
        throw user_error(
            "The user_events of this kernel are those before Linux 6.4, in which every "
            "event stays by itself. Start the program once; then enable its events.");
    }
    file_ = std::move(device.file);
    in_system_ = core::supports_flag(file_.get(), core::user_events_eventlog);
    std::error_code error;
    const fs::path opened = fs::read_symlink(fmt::format("/proc/self/fd/{}", file_.get()), error);
    if (error) {
        throw user_error("It cannot be found out where tracefs is mounted: {}. Mount /proc.",
                         error.message());
    }
    tracefs_ = opened.parent_path();
}

std::vector<std::string> user_events_registry::names_of_system(const char* system) const {
    const fs::path folder = tracefs_ / "events" / system;
    std::vector<std::string> found;
    std::error_code error;
    for (fs::directory_iterator each(folder, error), end; !error && each != end;
         each.increment(error)) {
        std::string name = each->path().filename();
        if (name.starts_with(tracepoint_prefix)) {
            found.push_back(std::move(name));
        }
    }
    if (error && error != std::errc::no_such_file_or_directory) {
        throw user_error("Cannot list {}: {}. Run it as root, for example with sudo.",
                         folder.native(), error.message());
    }
    return found;
}

/// Returns 0 or an errno.
int user_events_registry::register_with_flags(std::uint16_t flags, const char* description,
                                              registered& result) const {
    const std::string_view name = name_in(description);
    const bool has_others = (flags & core::user_events_multi_format) != 0;
    const char* system = has_others ? multi_format_name : single_format_name;
    if (in_system_) {
        system = own_system;
        flags |= core::user_events_eventlog;
    }
    const auto count = [&] {
        const std::vector<std::string> names = names_of_system(system);
        return std::count_if(names.begin(), names.end(),
                             [&](const std::string& each) { return without_number(each) == name; });
    };
    const auto before = count();
    core::user_events_registration wanted{};
    wanted.enable_bit = unused_bit;
    wanted.enable_address = reinterpret_cast<std::uintptr_t>(&unused_word);
    wanted.flags = flags;
    wanted.description = reinterpret_cast<std::uintptr_t>(description);
    if (::ioctl(file_.get(), core::user_events_register, &wanted) != 0) {
        return errno;
    }
    core::user_events_unregistration end{};
    end.disable_bit = unused_bit;
    end.disable_address = wanted.enable_address;
    static_cast<void>(::ioctl(file_.get(), core::user_events_unregister, &end));
    result.name = fmt::format("{}:{}{}", system, name, has_others ? ".*" : "");
    result.existed = count() == before;
    return 0;
}

user_events_registry::registered user_events_registry::add(
    core::user_events_description& text) const {
    // Repeats the steps of a program, see user_events_route.cpp, so that a program finds the event.
    constexpr std::uint16_t stays = core::user_events_persist;
    registered result;
    int error = register_with_flags(stays, text.description(), result);
    if (error == EADDRINUSE) {
        error =
            register_with_flags(stays | core::user_events_multi_format, text.description(), result);
        if (error == EINVAL || error == EADDRINUSE) {
            error = text.make_name_unique() ? register_with_flags(stays, text.description(), result)
                                            : EADDRINUSE;
        }
    }
    if (error != 0) {
        refuse_to_add(name_in(text.description()), error);
    }
    return result;
}

std::vector<std::string> user_events_registry::names() const {
    std::vector<std::string> all = names_of_system(single_format_name);
    for (const char* system : {multi_format_name, own_system}) {
        for (const std::string& name : names_of_system(system)) {
            all.emplace_back(without_number(name));
        }
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

void user_events_registry::remove(const std::string& name) const {
    if (::ioctl(file_.get(), core::user_events_delete, name.c_str()) == 0) {
        return;
    }
    switch (const int error = errno) {
        case EBUSY:
            throw user_error("{} is in use: a program has it, or it is being recorded. End the "
                             "program, perf and trace-cmd, or remove its triggers and write 0 to "
                             "its enable in tracefs; then try again.",
                             name);
        case ENOENT:
            throw user_error("{} has already disappeared with its program. There is nothing to do.",
                             name);
        case EPERM:
            throw user_error("The kernel requires root or CAP_PERFMON to remove {}. Run the "
                             "command as root, for example with sudo.",
                             name);
        default:
            throw user_error("The kernel does not remove {}: {}. See its message with: dmesg", name,
                             std::strerror(error));
    }
}

}  // namespace elog
