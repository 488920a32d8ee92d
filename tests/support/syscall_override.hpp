// SPDX-License-Identifier: MIT
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <functional>
#include <thread>
#include <utility>

namespace eventlog::test {

/// From now on the system call has no effect in this process and fails with this error; with 0 it
/// reports success.
inline bool override_syscall(unsigned number, unsigned error) {
    std::array<sock_filter, 4> program{{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    }};
    const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/// From now on the system call fails with EPERM in this process, as in some sandboxes.
inline bool deny_syscall(unsigned number) {
    return override_syscall(number, EPERM);
}

/// From now on another thread calls visit() before each such system call of the calling thread,
/// which waits for it. Until the end of the process. False if the kernel cannot do that.
inline bool watch_syscall(unsigned number, std::function<void()> visit) {
    static std::atomic<int> requests{0};
    // Begins before the filter is there, which it would inherit.
    std::thread([visit = std::move(visit)] {
        requests.wait(0);
        for (;;) {
            seccomp_notif request{};
            if (::ioctl(requests, SECCOMP_IOCTL_NOTIF_RECV, &request) != 0) {
                continue;
            }
            visit();
            seccomp_notif_resp answer{};
            answer.id = request.id;
            answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
            static_cast<void>(::ioctl(requests, SECCOMP_IOCTL_NOTIF_SEND, &answer));
        }
    }).detach();
    std::array<sock_filter, 4> program{{
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    }};
    const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
        return false;
    }
    const long file =
        ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &filter);
    if (file <= 0) {
        return false;
    }
    requests = static_cast<int>(file);
    requests.notify_one();
    return true;
}

}  // namespace eventlog::test
