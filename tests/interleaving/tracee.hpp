// SPDX-License-Identifier: MIT
//
// A forked child that its parent traces: either it is stopped, and the parent can read its state,
// or it runs, and the parent waits for it.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>

namespace eventlog::test {

/// The reason of a stop of the child.
enum class stop {
    breakpoint,  // the planted one; its instruction has not run
    step,        // one instruction has run
    ready,       // the child's own trap: it has finished its command
    ended,       // the child has ended
};

class tracee {
  public:
    /// Forks. The child calls work(context), which does not return, and stops at its first trap.
    /// Throws std::runtime_error if that fails.
    tracee(void (*work)(void* context), void* context);
    /// Kills the child.
    ~tracee();
    tracee(const tracee&) = delete;
    tracee& operator=(const tracee&) = delete;

    /// Whether processes may trace their children here.
    [[nodiscard]] static bool is_permitted();

    [[nodiscard]] pid_t pid() const { return pid_; }

    /// Replaces the instruction by a trap. At most one at a time.
    void plant(std::uint64_t address);
    /// Restores the instruction.
    void remove();

    /// Continues the child with a signal, 0 for none, until it stops.
    [[nodiscard]] stop run(int signal = 0);
    /// Runs one instruction.
    [[nodiscard]] stop step();

    /// The status of the ended child, as of waitpid.
    [[nodiscard]] int status() const { return status_; }

    [[nodiscard]] std::uint64_t instruction() const;
    /// Continues there.
    void set_instruction(std::uint64_t address) const;
    [[nodiscard]] std::uint64_t stack() const;
    [[nodiscard]] std::uint64_t read(std::uint64_t address) const;
    void write(std::uint64_t address, std::uint64_t word) const;

    /// Sends SIGKILL, and waits for the end.
    void kill();

  private:
    [[nodiscard]] user_regs_struct registers() const;
    [[nodiscard]] stop resume(int request, int signal);
    [[nodiscard]] stop handle_trap();

    pid_t pid_ = -1;
    int status_ = 0;
    bool alive_ = false;
    std::uint64_t planted_ = 0;   // 0: none
    std::uint64_t replaced_ = 0;  // the replaced word
};

}  // namespace eventlog::test
