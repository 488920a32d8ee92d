// SPDX-License-Identifier: MIT
#pragma once

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include <gtest/gtest.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

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

/// Puts the later children of this process into a new time namespace with these offsets, in the
/// format of /proc/PID/timens_offsets. False if that is not possible here.
inline bool make_time_namespace(const char* offsets) {
    if (::unshare(CLONE_NEWTIME) != 0) {
        return false;
    }
    std::ofstream file("/proc/self/timens_offsets");
    return static_cast<bool>(file << offsets << std::flush);
}

}  // namespace eventlog::test
