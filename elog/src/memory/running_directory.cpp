// SPDX-License-Identifier: MIT
#include "memory/running_directory.hpp"

#include <sys/stat.h>

#include <cerrno>

#include "base/user_error.hpp"
#include "memory/timed_directory_lock.hpp"
#include "shm/subscription_file.hpp"

namespace elog {

namespace core = eventlog::core;

std::optional<core::directory> open_running_directory() {
    struct stat status {};
    // Messages about its files refer to it.
    static const core::directory_path path = core::current_directory();
    if (core::is_absolute(path) && ::lstat(path.text.data(), &status) != 0 && errno == ENOENT) {
        return std::nullopt;
    }
    core::directory where;
    core::error_text error;
    if (!where.create(path, error)) {
        throw user_error("{}", error.text().c_str());
    }
    const timed_directory_lock lock(where);
    lock.throw_unless_held();
    core::remove_dead_subscriptions(where);
    core::remove_dead_processes(where);
    return where;
}

}  // namespace elog
