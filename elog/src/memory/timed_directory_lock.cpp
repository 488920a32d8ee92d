// SPDX-License-Identifier: MIT
#include "memory/timed_directory_lock.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>

#include "base/user_error.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;
using std::chrono::steady_clock;

constexpr std::chrono::seconds directory_lock_timeout{20};
constexpr long first_pause = 100'000;  // nanoseconds; each pause is twice as long as the one before
constexpr long last_pause = 10'000'000;

/// 0 if unknown, for example because the holder is in another pid namespace.
pid_t find_holder(int directory) {
    struct stat wanted {};
    if (::fstat(directory, &wanted) != 0) {
        return 0;
    }
    std::ifstream locks("/proc/locks");
    for (std::string line; std::getline(locks, line);) {
        unsigned major = 0;
        unsigned minor = 0;
        unsigned long inode = 0;
        int holder = 0;
        if (std::sscanf(line.c_str(), "%*u: FLOCK %*s WRITE %d %x:%x:%lu", &holder, &major, &minor,
                        &inode) == 4 &&
            inode == wanted.st_ino && major == ::major(wanted.st_dev) &&
            minor == ::minor(wanted.st_dev)) {
            return std::max(holder, 0);
        }
    }
    return 0;
}

}  // namespace

timed_directory_lock::timed_directory_lock(const core::directory& where) noexcept : where_(where) {
    const steady_clock::time_point end = steady_clock::now() + directory_lock_timeout;
    timespec pause{0, first_pause};
    lock_.emplace(where);
    bool is_interrupted = false;
    while (lock_->is_taken() && !is_interrupted && steady_clock::now() < end) {
        is_interrupted = ::nanosleep(&pause, nullptr) != 0;
        pause.tv_nsec = std::min(2 * pause.tv_nsec, last_pause);
        lock_.emplace(where);
    }
}

void timed_directory_lock::throw_unless_held() const {
    if (held()) {
        return;
    }
    const core::directory_path path = core::current_directory();
    const char* const name = path.text.data();
    if (!lock_->is_taken()) {
        throw user_error("The directory {} cannot be locked. Raise the limit on open files.", name);
    }
    const pid_t holder = find_holder(where_.subscriptions.get());
    if (holder == 0) {
        throw user_error(
            "The directory {} is locked, by a process that cannot be seen from here. End "
            "what is stopped there, and try again.",
            name);
    }
    throw user_error(
        "The directory {} is locked by process {}, which does not let go of it. Let that "
        "go on, as with kill -CONT {}, or end it, and try again.",
        name, holder, holder);
}

}  // namespace elog
