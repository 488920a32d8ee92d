// SPDX-License-Identifier: MIT
//
// Runs code of this process with an action after each instruction, as if another thread ran then.
// The trap flag of x86-64 raises SIGTRAP, which this library never blocks. Restartable sequences
// would be restarted for ever: an action must end the steps before one of them.
#pragma once

#ifdef __x86_64__

#include <ucontext.h>

#include <csignal>
#include <cstdint>

#include <gtest/gtest.h>

namespace eventlog::test {

/// The registers of the code between two instructions.
using step_action = void (*)(gregset_t& registers);

inline constexpr greg_t trap_flag = 0x100;
inline step_action current_action = nullptr;

/// Called by an action: the rest runs without steps.
inline void end_steps(gregset_t& registers) {
    registers[REG_EFL] &= ~trap_flag;
}

inline void set_trap_flag(bool wanted) {
    const std::uint64_t others = ~static_cast<std::uint64_t>(trap_flag);
    const std::uint64_t flag = wanted ? trap_flag : 0;
    // Below the red zone.
    asm volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq %0, (%%rsp)\n\torq %1, (%%rsp)\n\t"
                 "popfq\n\tlea 128(%%rsp), %%rsp"
                 :
                 : "r"(others), "r"(flag)
                 : "memory", "cc");
}

/// The action itself runs without steps.
template <class Work>
void run_in_steps(step_action action, const Work& work) {
    current_action = action;
    struct sigaction handling {};
    handling.sa_sigaction = [](int, siginfo_t*, void* context) {
        current_action(static_cast<ucontext_t*>(context)->uc_mcontext.gregs);
    };
    handling.sa_flags = SA_SIGINFO;
    ASSERT_EQ(::sigaction(SIGTRAP, &handling, nullptr), 0);
    set_trap_flag(true);
    work();
    set_trap_flag(false);
}

}  // namespace eventlog::test

#endif
