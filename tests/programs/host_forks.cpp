// SPDX-License-Identifier: MIT
//
// Forks where a lock of the library is held. Its fork handlers take the lock, and a handler that
// was registered before them runs in the meantime.
//
//     host_forks in_fork | raw | first | handlers | exit | beside
//
// in_fork: a signal handler forks while fork() runs; raw: a child of the raw system call ends by
// exit() while another thread forks; first: a child of a fork() that began before the first
// registration registers a provider, which its parent was registering when it was copied; handlers:
// a child of a fork() while the library registers its fork handlers, and another thread its first
// provider, registers a provider; exit: a
// signal handler forks while the destructor of the library runs; beside: children end by exit()
// that are forked while another thread registers and withdraws providers.
//
// Prints "done"; hangs or fails otherwise.
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include <eventlog/eventlog.h>

namespace {

using action = void (*)();

std::atomic<action> before_fork{nullptr};
std::atomic<action> on_trap{nullptr};
std::atomic<action> on_handlers{nullptr};
bool is_in_main = false;
std::atomic<bool> is_held{false};
std::atomic<bool> may_go_on{false};
std::atomic<unsigned> forks{0};
eventlog_provider* provider = nullptr;

void wait_for(const std::atomic<bool>& what) {
    while (!what) {
        ::usleep(1000);
    }
}

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "host_forks: %s\n", what);
    ::_exit(1);
}

void expect_end(pid_t child, int expected) {
    int status = 0;
    if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
        WEXITSTATUS(status) != expected) {
        fail("a child did not end as expected");
    }
}

void create(eventlog_provider*& created) {
    static const eventlog_event_definition events[] = {{.name = "step"}};
    static const eventlog_definition definition = {EVENTLOG_DEFINITION_SIZES, .name = "host_forks",
                                                   .events = events, .event_count = 1};
    std::array<char, EVENTLOG_TEXT_SIZE> text{};
    if (eventlog_provider_create(&definition, &created, text.data(), text.size()) !=
        EVENTLOG_ERROR_NONE) {
        fail(text.data());
    }
}

/// Returns whether the provider is published.
bool define() {
    create(provider);
    std::array<char, EVENTLOG_TEXT_SIZE> text{};
    const eventlog_status_code code = eventlog_provider_status(provider, text.data(), text.size());
    if (code != EVENTLOG_STATUS_OK) {
        std::fprintf(stderr, "%s\n", text.data());
    }
    return code == EVENTLOG_STATUS_OK;
}

extern "C" void fork_in_handler(int /*signal*/) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::_exit(7);
    }
    expect_end(child, 7);
    ++forks;
}

/// Instead of its call, which then fails, the action runs once.
extern "C" void handle_trap(int /*signal*/) {
    if (const action run = on_trap.exchange(nullptr); run != nullptr) {
        run();
    }
}

void handle(int signal, void (*function)(int)) {
    struct sigaction how {};
    how.sa_handler = function;
    if (::sigaction(signal, &how, nullptr) != 0) {
        fail("sigaction failed");
    }
}

/// From now on the system call raises SIGSYS in this thread.
void trap(std::uint32_t number) {
    handle(SIGSYS, handle_trap);
    std::array<sock_filter, 4> program{{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    }};
    const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
        fail("seccomp failed");
    }
}

void fork_in_fork() {
    static_cast<void>(define());
    handle(SIGUSR1, fork_in_handler);
    before_fork = [] {
        before_fork = nullptr;
        static_cast<void>(::raise(SIGUSR1));
    };
    const pid_t child = ::fork();
    if (child == 0) {
        // The mask is that of before: a signal reaches the child, too.
        forks = 0;
        static_cast<void>(::raise(SIGUSR1));
        ::_exit(forks == 1 ? 8 : 1);
    }
    expect_end(child, 8);
    if (forks != 1) {
        fail("the signal was lost");
    }
}

void exit_in_raw_child() {
    static_cast<void>(define());
    before_fork = [] {
        is_held = true;
        wait_for(may_go_on);
    };
    std::thread forking([] {
        const pid_t child = ::fork();
        if (child == 0) {
            ::_exit(9);
        }
        expect_end(child, 9);
    });
    wait_for(is_held);
    const auto child = static_cast<pid_t>(::syscall(SYS_fork));
    if (child == 0) {
        std::exit(3);
    }
    expect_end(child, 3);
    may_go_on = true;
    forking.join();
}

void fork_in_first_registration() {
    // Not destroyed in the child, which does not have the thread.
    static std::thread* registering = nullptr;
    before_fork = [] {
        before_fork = nullptr;
        registering = new std::thread([] {
            trap(SYS_fallocate);
            on_trap = [] {
                is_held = true;
                wait_for(may_go_on);
            };
            static_cast<void>(define());
        });
        wait_for(is_held);
    };
    const pid_t child = ::fork();
    if (child == 0) {
        const bool is_published = define();
        static_cast<void>(eventlog_emit(provider, 0, nullptr, 0));
        std::exit(is_published ? 4 : 1);
    }
    expect_end(child, 4);
    may_go_on = true;
    registering->join();
}

void fork_while_handlers_are_registered() {
    static std::atomic<bool> is_registered{false};
    on_handlers = [] {
        is_held = true;
        wait_for(may_go_on);
    };
    static eventlog_provider* created[2] = {};
    std::thread first([] { create(created[0]); });
    wait_for(is_held);
    std::thread second([] {
        create(created[1]);
        is_registered = true;
    });
    // The second thread waits for the first; it must not get ahead of it.
    for (int i = 0; i < 300 && !is_registered; ++i) {
        ::usleep(1000);
    }
    if (!is_registered) {
        may_go_on = true;
        first.join();
        second.join();
    }
    const pid_t child = ::fork();
    if (child == 0) {
        ::_exit(define() ? 5 : 1);
    }
    expect_end(child, 5);
}

void fork_beside_registrations() {
    // Not destroyed in the children, which do not have the thread.
    static std::atomic<bool> is_enough{false};
    static auto* const registering = new std::thread([] {
        while (!is_enough) {
            create(provider);
            eventlog_provider_destroy(provider);
        }
    });
    for (int i = 0; i < 200; ++i) {
        const pid_t child = ::fork();
        if (child == 0) {
            std::exit(6);
        }
        expect_end(child, 6);
    }
    is_enough = true;
    registering->join();
}

void fork_at_exit() {
    static_cast<void>(define());
    handle(SIGUSR1, fork_in_handler);
    trap(SYS_unlinkat);  // by which the destructor removes the file
    on_trap = [] { static_cast<void>(::raise(SIGUSR1)); };
    // Before the output is flushed.
    std::puts("done");
    std::exit(0);
}

}  // namespace

// The thread sanitizer calls the function below before it can run instrumented code.
#ifdef __clang__
#define HOST_FORKS_UNINSTRUMENTED [[clang::disable_sanitizer_instrumentation]]
#else
#define HOST_FORKS_UNINSTRUMENTED
#endif

/// In front of the C library's, which pthread_atfork() calls.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
HOST_FORKS_UNINSTRUMENTED
extern "C" int __register_atfork(void (*prepare)(), void (*parent)(), void (*child)(),
                                 void* object) {
    // NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)
    if (const action run = is_in_main ? on_handlers.exchange(nullptr) : nullptr; run != nullptr) {
        run();
    }
    using function = int (*)(void (*)(), void (*)(), void (*)(), void*);
    const auto next = reinterpret_cast<function>(::dlsym(RTLD_NEXT, "__register_atfork"));
    return next(prepare, parent, child, object);
}

int main(int argument_count, char** arguments) {
    is_in_main = true;
    // Before the library's handlers, so that it runs after theirs.
    ::pthread_atfork(
        [] {
            if (const action run = before_fork; run != nullptr) {
                run();
            }
        },
        nullptr, nullptr);
    const std::string_view what = argument_count == 2 ? arguments[1] : "";
    if (what == "in_fork") {
        fork_in_fork();
    } else if (what == "raw") {
        exit_in_raw_child();
    } else if (what == "first") {
        fork_in_first_registration();
    } else if (what == "handlers") {
        fork_while_handlers_are_registered();
    } else if (what == "exit") {
        fork_at_exit();
    } else if (what == "beside") {
        fork_beside_registrations();
    } else {
        std::fputs("usage: host_forks in_fork | raw | first | handlers | exit | beside\n", stderr);
        return 2;
    }
    std::puts("done");
}
