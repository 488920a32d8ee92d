// SPDX-License-Identifier: MIT
#include "ready_timer.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/user_error.hpp"

namespace elog::library {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

/// A time of 0 would stop the timer; one in the past expires at once. steady_clock is
/// CLOCK_MONOTONIC.
void set_timer(int descriptor, nanoseconds time) noexcept {
    time = std::max(time, nanoseconds(1));
    const auto whole = std::chrono::duration_cast<seconds>(time);
    itimerspec wanted{};
    wanted.it_value.tv_sec = static_cast<std::time_t>(whole.count());
    wanted.it_value.tv_nsec = static_cast<long>((time - whole).count());
    static_cast<void>(::timerfd_settime(descriptor, TFD_TIMER_ABSTIME, &wanted, nullptr));
}

}  // namespace

ready_timer::~ready_timer() {
    if (is_open()) {
        ::close(descriptor_);
    }
}

int ready_timer::open() {
    if (!is_open()) {
        const int created = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
        if (created < 0) {
            throw user_error("A source cannot have a descriptor to poll ({}). Close descriptors, "
                             "or raise the limit of the process: ulimit -n.",
                             std::strerror(errno));
        }
        set_timer(created, {});
        descriptor_ = created;
    }
    return descriptor_;
}

void ready_timer::set(std::chrono::steady_clock::time_point due) noexcept {
    if (is_open()) {
        set_timer(descriptor_, due.time_since_epoch());
    }
}

void ready_timer::set_now() noexcept {
    const int saved = errno;  // of the code that a signal handler interrupts
    if (is_open()) {
        set_timer(descriptor_, {});
    }
    errno = saved;
}

}  // namespace elog::library
