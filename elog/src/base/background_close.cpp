// SPDX-License-Identifier: MIT
#include "base/background_close.hpp"

#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <system_error>
#include <utility>

namespace elog {
namespace {

/// Blocks all signals in this thread during its lifetime, and permanently in threads started
/// meanwhile: signals must interrupt the thread that records.
class no_signals {
  public:
    no_signals() noexcept {
        sigset_t all{};
        static_cast<void>(::sigfillset(&all));
        static_cast<void>(::pthread_sigmask(SIG_SETMASK, &all, &before_));
    }
    ~no_signals() { static_cast<void>(::pthread_sigmask(SIG_SETMASK, &before_, nullptr)); }
    no_signals(const no_signals&) = delete;
    no_signals& operator=(const no_signals&) = delete;

  private:
    sigset_t before_{};
};

}  // namespace

background_close::~background_close() {
    static_cast<void>(wait());
}

void background_close::close(eventlog::core::unique_fd file) {
    static_cast<void>(wait());
    if (!file) {
        return;
    }
    const no_signals guard;
    try {
        thread_ = std::thread([fd = file.get()] { static_cast<void>(::close(fd)); });
        static_cast<void>(file.release());
    } catch (const std::system_error&) {
        return;  // the destructor of `file` closes it
    }
}

bool background_close::wait() {
    const bool is_closing = thread_.joinable();
    if (is_closing) {
        thread_.join();
    }
    return is_closing;
}

}  // namespace elog
