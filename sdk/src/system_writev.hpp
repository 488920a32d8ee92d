// SPDX-License-Identifier: MIT
//
// writev without the C library: a thread cannot be cancelled in it, and errno stays as it is.
#pragma once

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace eventlog::core {

/// Returns 0 or an errno. Async-signal-safe.
[[gnu::always_inline]] inline int system_writev(int file, const iovec* parts,
                                                std::size_t count) noexcept {
#if defined(__x86_64__) && defined(__LP64__)
    long result = SYS_writev;
    asm volatile("syscall"
                 : "+a"(result)
                 : "D"(static_cast<long>(file)), "S"(parts), "d"(count)
                 : "rcx", "r11", "memory");
    return result >= 0 ? 0 : static_cast<int>(-result);
#elif defined(__aarch64__)
    register long number asm("x8") = SYS_writev;
    register long result asm("x0") = file;
    register const iovec* first asm("x1") = parts;
    register std::size_t many asm("x2") = count;
    asm volatile("svc 0" : "+r"(result) : "r"(number), "r"(first), "r"(many) : "memory");
    return result >= 0 ? 0 : static_cast<int>(-result);
#else
    const int saved = errno;
    const int error = ::syscall(SYS_writev, file, parts, count) >= 0 ? 0 : errno;
    errno = saved;
    return error;
#endif
}

}  // namespace eventlog::core
