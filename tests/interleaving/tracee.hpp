// SPDX-License-Identifier: MIT
//
// A forked child that its parent traces: at any time it stands still, and the parent can look at
// it, or it runs, and the parent waits for it.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>

namespace eventlog::test {

/// Why the child stands still.
enum class stop {
    breakpoint,  // the one that has been planted; the instruction there has not run
    step,        // one instruction has run
    ready,       // the child's own trap: it has done what it was told
    ended,       // it is no more
};

class tracee {
  public:
    /// Forks. The child calls work(context), which does not return, and stands still at its first
    /// trap. Throws std::runtime_error if something is wrong here.
    tracee(void (*work)(void* context), void* context);
    /// Kills it.
    ~tracee();
    tracee(const tracee&) = delete;
    tracee& operator=(const tracee&) = delete;

    /// Whether processes may trace their children here.
    [[nodiscard]] static bool is_permitted();

    [[nodiscard]] pid_t pid() const { return pid_; }

    /// Puts a trap in place of the instruction there. At most one at a time.
    void plant(std::uint64_t address);
    /// Puts the instruction back.
    void remove();

    /// Lets it run with that signal, 0 for none, until it stands still again.
    [[nodiscard]] stop run(int signal = 0);
    /// The same for one instruction.
    [[nodiscard]] stop step();

    /// What the child ended with: a status as of waitpid.
    [[nodiscard]] int status() const { return status_; }

    [[nodiscard]] std::uint64_t instruction() const;
    [[nodiscard]] std::uint64_t stack() const;
    [[nodiscard]] std::uint64_t read(std::uint64_t address) const;
    void write(std::uint64_t address, std::uint64_t word) const;

    /// SIGKILL, wherever it stands; waits until it is no more.
    void kill();

  private:
    [[nodiscard]] user_regs_struct registers() const;
    [[nodiscard]] stop resume(int request, int signal);
    [[nodiscard]] stop take_trap();

    pid_t pid_ = -1;
    int status_ = 0;
    bool alive_ = false;
    std::uint64_t planted_ = 0;   // 0: nowhere
    std::uint64_t replaced_ = 0;  // what stood there
};

}  // namespace eventlog::test
