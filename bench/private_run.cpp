// SPDX-License-Identifier: MIT
#include "private_run.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>

#include "failure.hpp"

namespace bench {
namespace {

constexpr const char* directory_variable = "EVENTLOG_BENCH_DIRECTORY";

/// A directory in tmpfs that only this user can read. It is removed with its content.
class temporary_directory {
  public:
    temporary_directory() {
        if (::mkdtemp(path_.data()) == nullptr) {
            throw failure("No directory can be made in /dev/shm ({}). Mount a tmpfs there.",
                          std::strerror(errno));
        }
    }
    ~temporary_directory() {
        // A listener that is being killed may still create a file there.
        for (int attempt = 0; attempt < 100; ++attempt) {
            std::error_code error;
            std::filesystem::remove_all(path_, error);
            if (!error) {
                return;
            }
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        }
    }
    temporary_directory(const temporary_directory&) = delete;
    temporary_directory& operator=(const temporary_directory&) = delete;

    [[nodiscard]] const char* path() const noexcept { return path_.c_str(); }

  private:
    std::string path_ = "/dev/shm/eventlog_bench.XXXXXX";
};

/// Waits for the program, and forwards signals to it.
int wait_for(pid_t child, const sigset_t& awaited) {
    while (true) {
        int signal = 0;
        if (::sigwait(&awaited, &signal) == 0 && signal != SIGCHLD) {
            static_cast<void>(::kill(child, SIGTERM));
        }
        int status = 0;
        if (::waitpid(child, &status, WNOHANG) == child) {
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
    }
}

}  // namespace

std::optional<std::filesystem::path> private_directory() {
    const char* path = std::getenv(directory_variable);
    return path == nullptr ? std::nullopt : std::optional<std::filesystem::path>(path);
}

int run_again_in_private_directory(char** words) {
    // Signals are blocked from here on, so that the directory is removed in any case.
    sigset_t awaited;
    sigset_t before;
    sigemptyset(&awaited);
    for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) {
        sigaddset(&awaited, signal);
    }
    ::pthread_sigmask(SIG_BLOCK, &awaited, &before);

    const temporary_directory directory;
    ::setenv("EVENTLOG_DIR", directory.path(), 1);
    ::setenv(directory_variable, directory.path(), 1);

    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setsigmask(&attributes, &before);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    pid_t child = 0;
    const int result =
        ::posix_spawn(&child, "/proc/self/exe", nullptr, &attributes, words, environ);
    ::posix_spawnattr_destroy(&attributes);
    if (result != 0) {
        throw failure("This program cannot be started again ({}). Check that /proc is mounted.",
                      std::strerror(result));
    }
    return wait_for(child, awaited);
}

}  // namespace bench
