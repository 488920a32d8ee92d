// SPDX-License-Identifier: MIT
#include "kernel/eventlog_device.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>

#include "kernel/user_events_abi.hpp"
#include "platform/signal_guard.hpp"

namespace eventlog::core {

bool has_eventlog_device() noexcept {
    const errno_guard keeps_errno;
    return ::access(eventlog_device_path, F_OK) == 0;
}

unique_fd open_eventlog_device(int& error) noexcept {
    unique_fd file(::open(eventlog_device_path, O_RDWR | O_CLOEXEC | O_NOCTTY));
    if (!file) {
        error = errno;
        return file;
    }
    // Another file of that name does not know the command, or accepts the invalid address.
    if (::ioctl(file.get(), user_events_register, nullptr) == 0 || errno != EFAULT) {
        error = ENOENT;
        return {};
    }
    return file;
}

}  // namespace eventlog::core
