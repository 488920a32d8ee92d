// SPDX-License-Identifier: MIT
//
// A program with limits and sandboxes, for comparison with the same program without the library,
// which is built from this file, too, with HOST_WITHOUT_LIBRARY.
//
//     host_limits CONTROL WHEN [RESTRICTION]...
//
// WHEN: `early` restricts the program before it registers its provider, `late` afterwards.
//
// RESTRICTION: as=BYTES (RLIMIT_AS above the present size), memlock=BYTES (of all memory,
// which is locked, without CAP_IPC_LOCK), nofile=NUMBER, fsize=BYTES, closefrom=NUMBER,
// chroot=DIRECTORY, deny=CALL/ERROR (a system call fails), nocpu=1 (sched_getcpu fails).
//
// CONTROL is a file that the test maps, too. The program polls it for its next step, and writes its
// output there: it makes no system call that a sandbox could deny, but poll, fork, wait and exit.
// It ends with status 3.
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

#ifndef HOST_WITHOUT_LIBRARY
#include <eventlog/eventlog.hpp>
#endif

namespace {

/// Shared with the test, which has the same layout.
struct control_page {
    std::atomic<std::uint32_t> step;  // a letter, and above it the number of the step
    std::atomic<std::uint32_t> done;  // the last step that has been done
    std::uint32_t output_size;
    std::uint32_t status_code;
    std::uint64_t counters[4];  // written, lost, unattached, and emits of this process
    char status[256];
    char route[256];
    char output[2048];
};

constexpr std::uint32_t emits_of_step = 20;
constexpr std::uint32_t emits_of_burst = 2000;  // they fill several small buffers
constexpr int step_mark = 0x686f7374;           // no operation of prctl

control_page* control = nullptr;
std::atomic<bool> has_no_cpu{false};

void print(const char* text) {
    const std::size_t room = sizeof control->output - control->output_size;
    const std::size_t size = std::strlen(text);
    if (size <= room) {
        std::memcpy(control->output + control->output_size, text, size);
        control->output_size += static_cast<std::uint32_t>(size);
    }
}

void print_number(const char* before, long number) {
    std::array<char, 24> digits{};
    std::size_t at = digits.size() - 1;
    digits[--at] = '\n';
    unsigned long rest =
        number < 0 ? 0UL - static_cast<unsigned long>(number) : static_cast<unsigned long>(number);
    do {
        digits[--at] = static_cast<char>('0' + rest % 10);
        rest /= 10;
    } while (rest != 0);
    if (number < 0) {
        digits[--at] = '-';
    }
    print(before);
    print(digits.data() + at);
}

[[noreturn]] void fail(const char* what) {
    print_number(what, errno);
    ::_exit(1);
}

std::uint64_t present_size() {
    std::array<char, 64> text{};
    const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (file < 0 || ::read(file, text.data(), text.size() - 1) <= 0) {
        fail("statm ");
    }
    ::close(file);
    return std::strtoull(text.data(), nullptr, 10) *
           static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

void limit(__rlimit_resource which, std::uint64_t value) {
    const rlimit wanted{value, value};
    if (::setrlimit(which, &wanted) != 0) {
        fail("setrlimit ");
    }
}

void lock_memory(std::uint64_t bytes) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, 2> sets{};
    if (::mlockall(MCL_CURRENT | MCL_FUTURE) != 0 ||
        ::syscall(SYS_capget, &header, sets.data()) != 0) {
        fail("mlockall ");
    }
    for (__u32* set : {&sets[0].effective, &sets[0].permitted, &sets[0].inheritable}) {
        *set &= ~(1U << CAP_IPC_LOCK);
    }
    limit(RLIMIT_MEMLOCK, bytes);
    if (::syscall(SYS_capset, &header, sets.data()) != 0) {
        fail("capset ");
    }
}

void deny(const char* call_and_error) {
    char* end = nullptr;
    const auto call = static_cast<unsigned>(std::strtoul(call_and_error, &end, 10));
    const auto error = static_cast<unsigned>(std::strtoul(end + 1, nullptr, 10));
    std::array<sock_filter, 4> program{{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    }};
    const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
        fail("seccomp ");
    }
}

void restrict(std::string_view wanted) {
    const std::size_t split = wanted.find('=');
    const std::string_view name = wanted.substr(0, split);
    const char* const value = wanted.data() + split + 1;
    const std::uint64_t number = std::strtoull(value, nullptr, 10);
    if (name == "as") {
        limit(RLIMIT_AS, present_size() + number);
    } else if (name == "memlock") {
        lock_memory(number);
    } else if (name == "nofile") {
        limit(RLIMIT_NOFILE, number);
    } else if (name == "fsize") {
        limit(RLIMIT_FSIZE, number);
    } else if (name == "closefrom") {
        static_cast<void>(::syscall(SYS_close_range, number, ~0U, 0U));
    } else if (name == "chroot") {
        if (::chroot(value) != 0 || ::chdir("/") != 0) {
            fail("chroot ");
        }
    } else if (name == "deny") {
        deny(value);
    } else if (name == "nocpu") {
        has_no_cpu = true;
    } else {
        fail("unknown restriction ");
    }
}

void restrict_all(int argument_count, char** arguments) {
    for (int i = 3; i < argument_count; ++i) {
        restrict(arguments[i]);
    }
}

/// A system call without effect, by which a trace shows the steps.
void mark(std::uint32_t step) {
    static_cast<void>(::prctl(step_mark, step & 0xffU, 0, 0, 0));
}

/// Before the constructors that register providers.
[[gnu::constructor(101)]] void begin(int argument_count, char** arguments, char** /*environment*/) {
    // It polls, so it must not outlive a test that fails.
    static_cast<void>(::prctl(PR_SET_PDEATHSIG, SIGKILL));
    const int file = argument_count < 3 ? -1 : ::open(arguments[1], O_RDWR | O_CLOEXEC);
    void* const memory =
        ::mmap(nullptr, sizeof(control_page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file < 0 || memory == MAP_FAILED) {
        ::_exit(2);
    }
    ::close(file);
    control = static_cast<control_page*>(memory);
    if (std::string_view(arguments[2]) == "early") {
        restrict_all(argument_count, arguments);
    }
    mark('1');
}

#ifdef HOST_WITHOUT_LIBRARY

void emit_all(std::uint32_t /*rounds*/) {}
void run_callbacks() {}
void report_status() {}
void request_snapshot() {}

#else

constexpr int unused_error = EXDEV;  // no call of the library fails with it

struct number {
    std::uint32_t value;
};
struct text {
    std::uint32_t value;
    std::string_view letters;
};
struct block {
    std::array<std::uint8_t, 2048> bytes;
};
struct rare {
    std::uint32_t value;
};
using host = eventlog::provider<"host_limits", number, text, block, rare>;

/// Calls emit and requires it to preserve errno.
template <class Event>
void emit(const Event& event) {
    errno = unused_error;
    host::emit(event);
    if (errno != unused_error) {
        print_number("errno ", errno);
    }
    ++control->counters[3];
}

void emit_all(std::uint32_t rounds) {
    for (std::uint32_t i = 0; i < rounds; ++i) {
        emit(number{i});
        emit(text{i, "some letters"});
        emit(block{});
        emit(rare{i});
    }
}

void run_callbacks() {
    errno = unused_error;
    host::run_callbacks();
    if (errno != unused_error) {
        print_number("errno in run_callbacks ", errno);
    }
}

void report_status() {
    const eventlog::provider_status status = host::status();
    control->status_code = static_cast<std::uint32_t>(status.code);
    std::memcpy(control->status, status.text.data(), sizeof control->status);
    const auto& route = status.routes[EVENTLOG_ROUTE_MEMORY];
    std::memcpy(control->route, route.text.data(), sizeof control->route);
    const eventlog_counters& counted = route.counters;
    control->counters[0] = counted.written;
    control->counters[1] = counted.lost_full + counted.lost_too_large + counted.lost_busy;
    control->counters[2] = counted.lost_unattached;
}

void request_snapshot() {
    errno = unused_error;
    static_cast<void>(eventlog::request_snapshot("host_limits"));
    if (errno != unused_error) {
        print_number("errno in request_snapshot ", errno);
    }
}

#endif

/// What a program does besides: it uses memory and descriptors of its own.
void work() {
    const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    print_number("descriptor ", file);
    if (file >= 0) {
        ::close(file);
    }
    void* const memory = std::malloc(300'000);
    print(memory != nullptr ? "memory\n" : "no memory\n");
    if (memory != nullptr) {
        std::memset(memory, 1, 300'000);
    }
    std::free(memory);
}

void fork_once() {
    const pid_t child = ::fork();
    if (child == 0) {
        const std::uint64_t emits = control->counters[3];
        emit_all(emits_of_step / 4);
        control->counters[3] = emits;  // these count in the child's provider
        ::_exit(7);
    }
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child) {
        print_number("fork ", errno);
    }
    print_number("child ", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

std::uint32_t next_step(std::uint32_t last) {
    std::uint32_t step = control->step;
    while (step == last) {
        // Not clock_nanosleep(), which the library calls: a test denies those calls.
        static_cast<void>(::poll(nullptr, 0, 10));
        step = control->step;
    }
    return step;
}

}  // namespace

/// In place of the C library's, which fails where a sandbox or an emulator lacks the call.
extern "C" int sched_getcpu() {
    if (has_no_cpu) {
        errno = ENOSYS;
        return -1;
    }
    unsigned cpu = 0;
    return ::syscall(SYS_getcpu, &cpu, nullptr, nullptr) == 0 ? static_cast<int>(cpu) : -1;
}

int main(int argument_count, char** arguments) {
    std::uint32_t step = 0;
    while (true) {
        control->done = step;
        mark('0');
        step = next_step(step);
        mark(step);
        switch (step & 0xffU) {
            case 'r':
                if (std::string_view(arguments[2]) == "late") {
                    restrict_all(argument_count, arguments);
                }
                break;
            case 'e':
                emit_all(emits_of_step / 4);
                break;
            case 'b':
                emit_all(emits_of_burst / 4);
                break;
            case 'w':
                work();
                break;
            case 'c':
                run_callbacks();
                break;
            case 'f':
                fork_once();
                break;
            case 's':
                report_status();
                break;
            case 'p':
                request_snapshot();
                break;
            default:
                return 3;
        }
    }
}
