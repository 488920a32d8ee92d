// SPDX-License-Identifier: MIT
//
// A sandboxed program: the kernel raises SIGSYS instead of one system call, and the handler of the
// program makes the call. So the handler runs wherever the library makes that call, also while it
// holds a lock. The first time, the handler does something else before.
//
//     host_traps none | emit | fork | exit | crash
//
// none: nothing; emit: emits an event; fork: forks a child that emits, calls exit() and is waited
// for; exit: calls exit(); crash: writes to a protected page, where a handler of SIGSEGV emits,
// forks as above, and makes the page writable. Reads a line before it emits 10 events of the
// program's own. Prints the number of calls.
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include <eventlog/eventlog.hpp>

#include "../support/build_kind.hpp"

namespace {

struct step {
    std::uint32_t number;
};
struct trapped {
    std::uint32_t process;
};
using host_traps = eventlog::provider<"host_traps", step, trapped>;

// A call with this value in the last register is the handler's and permitted.
constexpr std::uint32_t permit = 0x7e57;

enum class deed : std::uint8_t { none, emit, fork, exit, crash };
std::atomic<deed> next{deed::none};
std::atomic<unsigned> calls{0};

void emit_trapped() {
    host_traps::emit(trapped{static_cast<std::uint32_t>(::getpid())});
}

void fork_emitting_child() {
    const pid_t child = ::fork();
    if (child == 0) {
        emit_trapped();
        std::exit(3);  // runs the destructors of the library
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 3) {
        ::_exit(4);
    }
}

constexpr std::size_t page_size = 65536;  // at least
void* protected_page = MAP_FAILED;

/// As a crash handler, which then lets the program go on.
extern "C" void handle_crash(int /*signal*/) {
    emit_trapped();
    fork_emitting_child();
    if (::mprotect(protected_page, page_size, PROT_READ | PROT_WRITE) != 0) {
        ::_exit(6);
    }
}

/// ThreadSanitizer runs each handler with all signals blocked, and a blocked SIGSEGV ends the
/// program. In other builds the signal is blocked only if the library has blocked it.
void unblock_crash_with_thread_sanitizer() {
    if (!eventlog::test::has_thread_sanitizer) {
        return;
    }
    sigset_t crash;
    if (::sigemptyset(&crash) != 0 || ::sigaddset(&crash, SIGSEGV) != 0 ||
        ::pthread_sigmask(SIG_UNBLOCK, &crash, nullptr) != 0) {
        ::_exit(6);
    }
}

void crash() {
    struct sigaction action {};
    action.sa_handler = handle_crash;
    protected_page = ::mmap(nullptr, page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (protected_page == MAP_FAILED || ::sigaction(SIGSEGV, &action, nullptr) != 0) {
        ::_exit(6);
    }
    unblock_crash_with_thread_sanitizer();
    *static_cast<volatile char*>(protected_page) = 1;
}

void act() {
    switch (next.exchange(deed::none)) {
        case deed::none:
            break;
        case deed::emit:
            emit_trapped();
            break;
        case deed::fork:
            fork_emitting_child();
            break;
        case deed::exit:
            std::exit(5);
        case deed::crash:
            crash();
            break;
    }
}

extern "C" void handle(int /*signal*/, siginfo_t* /*information*/, void* context) {
    const int saved = errno;
    ++calls;
    act();
    auto& machine = static_cast<ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    auto& registers = machine.gregs;
    const long result =
        ::syscall(registers[REG_RAX], registers[REG_RDI], registers[REG_RSI], registers[REG_RDX],
                  registers[REG_R10], registers[REG_R8], long{permit});
    registers[REG_RAX] = result < 0 ? -errno : result;
#elif defined(__aarch64__)
    auto& registers = machine.regs;
    const long result = ::syscall(static_cast<long>(registers[8]), registers[0], registers[1],
                                  registers[2], registers[3], registers[4], long{permit});
    registers[0] = static_cast<unsigned long long>(result < 0 ? -errno : result);
#endif
    errno = saved;
}

/// From now on the system call raises SIGSYS.
bool trap(std::uint32_t number) {
    struct sigaction action {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    std::array<sock_filter, 6> program{{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[5])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, permit, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
    }};
    const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
    return ::sigaction(SIGSYS, &action, nullptr) == 0 &&
           ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

bool choose(std::string_view name) {
    constexpr std::array<std::string_view, 5> names{"none", "emit", "fork", "exit", "crash"};
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == name) {
            next = static_cast<deed>(i);
            return true;
        }
    }
    return false;
}

}  // namespace

int main(int argument_count, char** arguments) {
    // Attaching reserves memory by it.
    if (argument_count != 2 || !choose(arguments[1]) || !trap(SYS_fallocate)) {
        std::fputs("usage: host_traps none | emit | fork | exit | crash\n", stderr);
        return 2;
    }
    std::array<char, 8> line{};
    if (std::fgets(line.data(), line.size(), stdin) == nullptr) {
        return 2;
    }
    for (std::uint32_t number = 0; number < 10; ++number) {
        host_traps::emit(step{number});
    }
    std::printf("calls %u\n", calls.load());
}
