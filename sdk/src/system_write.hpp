// SPDX-License-Identifier: MIT
//
// write and writev without the C library: a thread cannot be cancelled in them, and errno stays as
// it is. Async-signal-safe. They return 0 or an errno.
#pragma once

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace eventlog::core {

[[gnu::always_inline]] inline int system_call_on_file(long number, int file, const void* data,
                                                      std::size_t count) noexcept {
#if defined(__x86_64__) && defined(__LP64__)
    long result = number;
    asm volatile("syscall"
                 : "+a"(result)
                 : "D"(static_cast<long>(file)), "S"(data), "d"(count)
                 : "rcx", "r11", "memory");
    return result >= 0 ? 0 : static_cast<int>(-result);
#elif defined(__aarch64__)
    register long which asm("x8") = number;
    register long result asm("x0") = file;
    register const void* first asm("x1") = data;
    register std::size_t many asm("x2") = count;
    asm volatile("svc 0" : "+r"(result) : "r"(which), "r"(first), "r"(many) : "memory");
    return result >= 0 ? 0 : static_cast<int>(-result);
#else
    const int saved = errno;
    const int error = ::syscall(number, file, data, count) >= 0 ? 0 : errno;
    errno = saved;
    return error;
#endif
}

[[gnu::always_inline]] inline int system_write(int file, const void* data,
                                               std::size_t size) noexcept {
    return system_call_on_file(SYS_write, file, data, size);
}

[[gnu::always_inline]] inline int system_writev(int file, const iovec* parts,
                                                std::size_t count) noexcept {
    return system_call_on_file(SYS_writev, file, parts, count);
}

}  // namespace eventlog::core
