// SPDX-License-Identifier: MIT
#include "base/unfinished_files.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>

namespace elog {
namespace {

enum class entry_state { empty, incomplete, used };

/// The state is set last, and tested first: a signal handler reads complete entries only.
struct listed_file {
    std::atomic<entry_state> state{entry_state::empty};
    dev_t device = 0;
    ino_t number = 0;
    std::array<char, PATH_MAX> path{};
};
static_assert(std::atomic<entry_state>::is_always_lock_free);

// A command writes one file at a time.
std::array<listed_file, 4> listed_files;

/// The number of files in the list if all entries are used.
std::size_t take_entry() noexcept {
    std::size_t entry = 0;
    for (; entry < listed_files.size(); ++entry) {
        entry_state expected = entry_state::empty;
        if (listed_files[entry].state.compare_exchange_strong(expected, entry_state::incomplete,
                                                              std::memory_order_acquire)) {
            break;
        }
    }
    return entry;
}

}  // namespace

unfinished_file::unfinished_file(const std::string& path, int descriptor) noexcept
    : entry_(listed_files.size()) {
    struct stat status {};
    if (path.size() >= PATH_MAX || ::fstat(descriptor, &status) != 0) {
        return;
    }
    entry_ = take_entry();
    if (entry_ == listed_files.size()) {
        return;
    }
    listed_file& file = listed_files[entry_];
    file.device = status.st_dev;
    file.number = status.st_ino;
    std::memcpy(file.path.data(), path.c_str(), path.size() + 1);
    file.state.store(entry_state::used, std::memory_order_release);
}

unfinished_file::~unfinished_file() {
    if (entry_ < listed_files.size()) {
        listed_files[entry_].state.store(entry_state::empty, std::memory_order_release);
    }
}

void remove_unfinished_files() noexcept {
    const int error = errno;
    for (listed_file& file : listed_files) {
        struct stat status {};
        if (file.state.load(std::memory_order_acquire) == entry_state::used &&
            ::lstat(file.path.data(), &status) == 0 && status.st_dev == file.device &&
            status.st_ino == file.number) {
            static_cast<void>(::unlink(file.path.data()));
        }
    }
    errno = error;
}

}  // namespace elog
