// SPDX-License-Identifier: MIT
//
// Preloaded (LD_PRELOAD), limits user_events to those of Linux 6.4 to 6.8, in which a name has one
// format: registrations with the flag for several formats fail.
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstring>

#include "user_events_abi.h"

/// A flag of a registration since Linux 6.9.
constexpr std::uint16_t several_formats = 2;

extern "C" int ioctl(int file, unsigned long request, ...) {
    va_list arguments;
    va_start(arguments, request);
    void* const argument = va_arg(arguments, void*);
    va_end(arguments);
    if (request == USER_EVENTS_REGISTER) {
        user_events_registration wanted{};
        std::memcpy(&wanted, argument, sizeof wanted);
        if ((wanted.flags & several_formats) != 0) {
            errno = EINVAL;
            return -1;
        }
    }
    return static_cast<int>(::syscall(SYS_ioctl, file, request, argument));
}
