// SPDX-License-Identifier: MIT
#include "scratch.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace eventlog::test {
namespace {

class scratch {
  public:
    scratch() : owner_(::getpid()) {
        if (::mkdtemp(path_) == nullptr ||
            ::setenv("EVENTLOG_DIR", (std::string(path_) + "/eventlog").c_str(), 1) != 0) {
            std::abort();  // no test can run
        }
    }
    ~scratch() {
        if (::getpid() == owner_) {
            std::error_code ignored;
            std::filesystem::remove_all(path_, ignored);
        }
    }
    scratch(const scratch&) = delete;
    scratch& operator=(const scratch&) = delete;

    [[nodiscard]] const char* path() const { return path_; }

  private:
    pid_t owner_;
    char path_[32] = "/dev/shm/eventlog-test-XXXXXX";
};

// Constructed before all objects without a priority, including providers.
[[gnu::init_priority(1000)]] const scratch instance;

}  // namespace

std::string scratch_directory() {
    return instance.path();
}

std::string eventlog_directory() {
    return scratch_directory() + "/eventlog";
}

}  // namespace eventlog::test
