// SPDX-License-Identifier: MIT
#include "kmod/relay_channel.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/core.h>

#include "base/proc_file.hpp"
#include "base/user_error.hpp"
#include "kmod/device_subscription.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;

constexpr const char* channels = "/sys/kernel/debug/eventlog";
// Names taken by processes with the same number in other pid namespaces.
constexpr int channel_names_max = 100;
constexpr std::size_t stats_max = std::size_t{4} << 20U;

[[noreturn]] void throw_no_relay(int error) {
    if (error == EACCES || error == EPERM) {
        throw user_error(
            "{} is not permitted to you: relay channels are for root. Listen via device.",
            EVENTLOG_RELAY_PATH);
    }
    throw_if_not_loaded(EVENTLOG_RELAY_PATH, error);
    throw user_error("{} cannot be opened ({}), though the kernel module eventlog is loaded: the "
                     "kernel has no relay, or this is a container. Listen via device.",
                     EVENTLOG_RELAY_PATH, std::strerror(error));
}

[[noreturn]] void throw_refused_channel(int error) {
    if (error == EPERM) {
        throw user_error("A relay channel takes CAP_SYS_ADMIN. Be root, or listen via device.");
    }
    if (error == EMFILE || error == ENOMEM) {
        throw user_error("The kernel module has no room for a relay channel of that size ({}). Ask "
                         "for less with --buffer-size, or see relay_pages_per_user in {}.",
                         std::strerror(error), module_parameters);
    }
    if (error == ENODEV || error == ENOENT) {
        throw user_error("The kernel has no debugfs ({}), where relay channels have their files. "
                         "Listen via device.",
                         std::strerror(error));
    }
    throw user_error(
        "{} makes no channel ({}): it is of another version of the kernel module. Load "
        "the one that belongs to this elog, or listen via device.",
        EVENTLOG_RELAY_PATH, std::strerror(error));
}

[[noreturn]] void throw_no_files(int error) {
    if (error == ENOENT) {
        throw user_error(
            "{} is not there: debugfs is not mounted. Mount it, as root, with: mount -t "
            "debugfs none /sys/kernel/debug. Or listen via device.",
            channels);
    }
    throw user_error(
        "{} cannot be read ({}): that takes root, on a kernel that is not locked down. "
        "Listen via device.",
        channels, std::strerror(error));
}

void check_sizes(std::uint64_t size, std::uint32_t count) {
    if (size > EVENTLOG_RELAY_SIZE_MAX || size * count > EVENTLOG_RELAY_BYTES_MAX) {
        throw user_error(
            "A buffer of a relay channel has 16 MiB at most, and a CPU 256 MiB of them. "
            "Ask for less with --buffer-size.");
    }
}

}  // namespace

relay_channel::relay_channel(const subscription_options& options) {
    const std::uint64_t size = buffer_size_of(options);
    check_sizes(size, options.buffers_per_cpu);
    options_.size = sizeof options_;
    options_.flags = EVENTLOG_RELAY_PRIVATE | (options.overwrite ? EVENTLOG_RELAY_OVERWRITE : 0U);
    options_.subbuf_size = static_cast<std::uint32_t>(size);
    options_.subbuf_count = options.buffers_per_cpu;
    control_fd_ = core::unique_fd(::open(EVENTLOG_RELAY_PATH, O_RDWR | O_CLOEXEC | O_NOCTTY));
    if (!control_fd_) {
        throw_no_relay(errno);
    }
    create();
    open_files();
}

void relay_channel::create() {
    for (int number = 0; number < channel_names_max; ++number) {
        const std::string name = number == 0 ? fmt::format("elog-{}", ::getpid())
                                             : fmt::format("elog-{}-{}", ::getpid(), number);
        std::memcpy(&options_.name[0], name.c_str(), name.size() + 1);
        if (::ioctl(control_fd_.get(), EVENTLOG_RELAY_CREATE, &options_) == 0) {
            return;
        }
        if (errno != EEXIST) {
            break;
        }
    }
    throw_refused_channel(errno);
}

void relay_channel::open_files() {
    const std::string place = fmt::format("{}/{}", channels, &options_.name[0]);
    directory_ = core::unique_fd(::open(place.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (directory_) {
        stats_ = core::unique_fd(::openat(directory_.get(), "stats", O_RDONLY | O_CLOEXEC));
    }
    if (!stats_) {
        throw_no_files(errno);
    }
}

relay_stats relay_channel::stats(std::uint32_t cpu_count) const {
    const bool is_at_begin = ::lseek(stats_.get(), 0, SEEK_SET) == 0;
    const std::optional<std::string> text =
        is_at_begin ? read_text(stats_, stats_max) : std::nullopt;
    if (!text) {
        throw user_error("{}/{}/stats cannot be read ({}). Start the recording again.", channels,
                         &options_.name[0], std::strerror(errno));
    }
    return parse_relay_stats(*text, cpu_count);
}

core::unique_fd relay_channel::open_buffer(std::uint32_t cpu) const {
    const std::string name = fmt::format("cpu{}", cpu);
    core::unique_fd file(
        ::openat(directory_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!file) {
        throw_no_files(errno);
    }
    return file;
}

}  // namespace elog
