// SPDX-License-Identifier: MIT
#include "platform/process.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace {

using namespace eventlog::core;

TEST(process, identifies_itself) {
    const process_identity self = current_process();
    EXPECT_EQ(self.pid, static_cast<std::uint32_t>(::getpid()));
    EXPECT_EQ(self.uid, ::geteuid());
    EXPECT_NE(self.start_time, 0U);
    EXPECT_NE(self.name[0], '\0');
    EXPECT_TRUE(is_alive(self.pid, self.start_time, self.pid_namespace));
}

TEST(process, with_same_pid_and_other_start_time_differs) {
    const process_identity self = current_process();
    // A tick is the rounding error between time namespaces.
    EXPECT_TRUE(is_alive(self.pid, self.start_time + 1, self.pid_namespace));
    EXPECT_FALSE(is_alive(self.pid, self.start_time + 2, self.pid_namespace));
    EXPECT_FALSE(is_alive(self.pid, self.start_time - 2, self.pid_namespace));
}

// Its number, 1, is that of another process in the /proc that it keeps.
TEST(process, in_inner_pid_namespace_is_identified_with_outer_proc) {
    const process_identity self = current_process();
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        // Root needs no user namespace, which a process with a thread of a sanitizer cannot enter.
        if (::unshare(CLONE_NEWPID) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) {
            ::_exit(77);
        }
        const pid_t first = ::fork();
        if (first == 0) {
            const process_identity inner = current_process();
            const bool is_right = inner.pid == 1 && inner.start_time >= self.start_time &&
                                  is_alive(inner.pid, inner.start_time, inner.pid_namespace) &&
                                  !is_alive(4000000, 0, inner.pid_namespace);
            ::_exit(is_right ? 0 : 1);
        }
        int status = 0;
        ::_exit(::waitpid(first, &status, 0) == first && status == 0 ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) {
        GTEST_SKIP() << "no pid namespace can be created here";
    }
    EXPECT_EQ(status, 0);
}

TEST(process, zombie_is_not_alive) {
    const process_identity self = current_process();
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::_exit(0);
    }
    siginfo_t info{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
    EXPECT_FALSE(is_alive(static_cast<std::uint32_t>(child), 0, self.pid_namespace));
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    EXPECT_FALSE(is_alive(static_cast<std::uint32_t>(child), 0, self.pid_namespace));
}

TEST(process, with_ended_main_thread_is_alive) {
    const process_identity self = current_process();
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        std::thread([to = ready[1]] {
            std::string state;
            while (state.find(" Z ") == std::string::npos) {
                std::getline(std::ifstream("/proc/self/stat"), state);
            }
            static_cast<void>(!::write(to, "r", 1));
            ::pause();
        }).detach();
        ::syscall(SYS_exit, 0);  // ends this thread only, without unwinding
    }
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    EXPECT_TRUE(is_alive(static_cast<std::uint32_t>(child), 0, self.pid_namespace));
    ASSERT_EQ(::kill(child, SIGKILL), 0);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    EXPECT_FALSE(is_alive(static_cast<std::uint32_t>(child), 0, self.pid_namespace));
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST(process, of_other_pid_namespace_is_assumed_alive) {
    EXPECT_TRUE(is_alive(999999999, 1, current_process().pid_namespace + 1));
}

TEST(process, with_invalid_pid_is_dead) {
    const std::uint64_t here = current_process().pid_namespace;
    EXPECT_FALSE(is_alive(0, 0, here));
    EXPECT_FALSE(is_alive(UINT32_MAX, 0, here));
}

TEST(process, thread_id_matches_gettid) {
    EXPECT_EQ(thread_id(), static_cast<std::uint32_t>(::gettid()));
}

}  // namespace
