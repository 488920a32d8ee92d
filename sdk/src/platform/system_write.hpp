// SPDX-License-Identifier: MIT
//
// write and writev without the C library: not a cancellation point, and errno stays unchanged.
// Async-signal-safe.
#pragma once

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace eventlog::core {

/// Returns the number of bytes written, or a negated errno.
[[gnu::always_inline]] inline long system_call_on_file(long number, int file, const void* data,
                                                       std::size_t count) noexcept {
#if defined(__x86_64__) && defined(__LP64__)
    long result = number;
    asm volatile("syscall"
                 : "+a"(result)
                 : "D"(static_cast<long>(file)), "S"(data), "d"(count)
                 : "rcx", "r11", "memory");
    return result;
#elif defined(__aarch64__)
    register long which asm("x8") = number;
    register long result asm("x0") = file;
    register const void* first asm("x1") = data;
    register std::size_t many asm("x2") = count;
    asm volatile("svc 0" : "+r"(result) : "r"(which), "r"(first), "r"(many) : "memory");
    return result;
#else
    const int saved = errno;
    long result = ::syscall(number, file, data, count);
    result = result >= 0 ? result : -errno;
    errno = saved;
    return result;
#endif
}

/// Both return 0 or an errno.
[[gnu::always_inline]] inline int system_write(int file, const void* data,
                                               std::size_t size) noexcept {
    const long result = system_call_on_file(SYS_write, file, data, size);
    return result >= 0 ? 0 : static_cast<int>(-result);
}

[[gnu::always_inline]] inline int system_writev(int file, const iovec* parts,
                                                std::size_t count) noexcept {
    const long result = system_call_on_file(SYS_writev, file, parts, count);
    return result >= 0 ? 0 : static_cast<int>(-result);
}

}  // namespace eventlog::core
