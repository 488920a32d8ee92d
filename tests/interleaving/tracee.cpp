// SPDX-License-Identifier: MIT
#include "tracee.hpp"

#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string>

namespace eventlog::test {
namespace {

constexpr int not_permitted = 77;
constexpr std::uint64_t trap_instruction = 0xcc;  // int3, one byte

/// Limit of CPU time, which ends a spinning thread independent of other load.
constexpr rlimit cpu_seconds{60, 60};

void check(bool condition, const char* what) {
    if (!condition) {
        throw std::runtime_error(std::string("cannot ") + what + ": " + std::strerror(errno));
    }
}

void request_tracing() {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setrlimit(RLIMIT_CPU, &cpu_seconds);
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) {
        ::_exit(not_permitted);
    }
}

}  // namespace

tracee::tracee(void (*work)(void* context), void* context) : pid_(::fork()) {
    check(pid_ >= 0, "fork");
    if (pid_ == 0) {
        request_tracing();
        work(context);
        ::_exit(1);
    }
    check(::waitpid(pid_, &status_, __WALL) == pid_, "wait for a child");
    if (!WIFSTOPPED(status_)) {
        throw std::runtime_error("the child may not be traced, or ended before its first trap");
    }
    alive_ = true;
    check(::ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_EXITKILL) == 0, "trace a child");
}

tracee::~tracee() {
    kill();
}

bool tracee::is_permitted() {
    const pid_t child = ::fork();
    check(child >= 0, "fork");
    if (child == 0) {
        request_tracing();
        ::_exit(0);
    }
    int status = 0;
    check(::waitpid(child, &status, __WALL) == child, "wait for a child");
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

user_regs_struct tracee::registers() const {
    user_regs_struct found{};
    check(::ptrace(PTRACE_GETREGS, pid_, nullptr, &found) == 0, "read a child's registers");
    return found;
}

std::uint64_t tracee::instruction() const {
    return registers().rip;
}

void tracee::set_instruction(std::uint64_t address) const {
    user_regs_struct now = registers();
    now.rip = address;
    check(::ptrace(PTRACE_SETREGS, pid_, nullptr, &now) == 0, "write a child's registers");
}

std::uint64_t tracee::stack() const {
    return registers().rsp;
}

std::uint64_t tracee::read(std::uint64_t address) const {
    errno = 0;
    const long word = ::ptrace(PTRACE_PEEKDATA, pid_, address, nullptr);
    check(errno == 0, "read a child's memory");
    return static_cast<std::uint64_t>(word);
}

void tracee::write(std::uint64_t address, std::uint64_t word) const {
    check(::ptrace(PTRACE_POKEDATA, pid_, address, word) == 0, "write to a child's memory");
}

void tracee::plant(std::uint64_t address) {
    remove();
    replaced_ = read(address);
    planted_ = address;
    write(address, (replaced_ & ~std::uint64_t{0xff}) | trap_instruction);
}

void tracee::remove() {
    if (planted_ != 0 && alive_) {
        write(planted_, replaced_);
    }
    planted_ = 0;
}

stop tracee::run(int signal) {
    return resume(PTRACE_CONT, signal);
}

stop tracee::step() {
    return resume(PTRACE_SINGLESTEP, 0);
}

stop tracee::resume(int request, int signal) {
    for (;;) {
        check(::ptrace(static_cast<__ptrace_request>(request), pid_, nullptr, signal) == 0,
              "let a child run");
        check(::waitpid(pid_, &status_, __WALL) == pid_, "wait for a child");
        if (!WIFSTOPPED(status_)) {
            alive_ = false;
            return stop::ended;
        }
        switch (WSTOPSIG(status_)) {
            case SIGTRAP:
                return handle_trap();
            case SIGSTOP:
            case SIGTSTP:
            case SIGCONT:
                signal = 0;  // sent by another process
                break;
            default:
                signal = WSTOPSIG(status_);  // a fault of the child
        }
    }
}

stop tracee::handle_trap() {
    siginfo_t cause{};
    check(::ptrace(PTRACE_GETSIGINFO, pid_, nullptr, &cause) == 0, "read a child's signal");
    if (cause.si_code != SI_KERNEL) {
        return stop::step;
    }
    user_regs_struct now = registers();
    if (planted_ == 0 || now.rip != planted_ + 1) {
        return stop::ready;
    }
    now.rip = planted_;
    check(::ptrace(PTRACE_SETREGS, pid_, nullptr, &now) == 0, "write a child's registers");
    remove();
    return stop::breakpoint;
}

void tracee::kill() {
    if (alive_) {
        ::kill(pid_, SIGKILL);
        while (::waitpid(pid_, &status_, __WALL) == pid_ && WIFSTOPPED(status_)) {
        }
        alive_ = false;
    }
}

}  // namespace eventlog::test
