// SPDX-License-Identifier: MIT
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace eventlog::test {

/// Runs `work` in a child and returns the child's exit status; -1 if it did not exit.
template <class Work>
int run_in_child(Work&& work) {
    const pid_t child = ::fork();
    EXPECT_GE(child, 0);
    if (child == 0) {
        ::_exit(work());
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace eventlog::test
