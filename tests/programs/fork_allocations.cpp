// SPDX-License-Identifier: MIT
//
// Forks until a child has looked for files of dead processes, which one process in sixteen does,
// and ends if the library allocates memory meanwhile: a signal handler that forks may have
// interrupted malloc().
//
//     fork_allocations
//
// With sanitizers, which have a malloc() of their own, it only forks.
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <eventlog/eventlog.hpp>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_SANITIZER
#endif
#endif

namespace {

struct forked {
    std::uint32_t process;
};
using fork_allocations = eventlog::provider<"fork_allocations", forked>;

bool is_forking = false;

[[maybe_unused]] void check() {
    if (is_forking) {
        constexpr char message[] = "fork_allocations: the library allocates in fork()\n";
        static_cast<void>(!::write(STDERR_FILENO, message, sizeof message - 1));
        ::_exit(3);
    }
}

}  // namespace

#if !defined(HAS_SANITIZER)
extern "C" {
void* libc_malloc(std::size_t size) __asm__("__libc_malloc");
void* libc_calloc(std::size_t nmemb, std::size_t size) __asm__("__libc_calloc");
void* libc_realloc(void* ptr, std::size_t size) __asm__("__libc_realloc");

void* malloc(std::size_t size) {
    check();
    return libc_malloc(size);
}
void* calloc(std::size_t nmemb, std::size_t size) {
    check();
    return libc_calloc(nmemb, size);
}
void* realloc(void* ptr, std::size_t size) {
    check();
    return libc_realloc(ptr, size);
}
}
#endif

int main() {
    for (int tries = 0; tries < 10'000; ++tries) {
        is_forking = true;
        const pid_t child = ::fork();
        is_forking = false;
        if (child == 0) {
            fork_allocations::emit(forked{static_cast<std::uint32_t>(::getpid())});
            ::_exit(0);
        }
        int status = 0;
        if (child < 0 || ::waitpid(child, &status, 0) != child || status != 0) {
            return 1;
        }
        if (child % 16 == 0) {
            std::puts("done");
            return 0;
        }
    }
    return 2;
}
