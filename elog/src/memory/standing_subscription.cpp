// SPDX-License-Identifier: MIT
#include "memory/standing_subscription.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/failure.hpp"
#include "memory/directory_wait.hpp"
#include "platform/process.hpp"

namespace elog {

namespace core = eventlog::core;

standing_subscription::standing_subscription(const std::string& name) : name_(name) {
    struct stat status {};
    core::error_text error;
    const bool is_there =
        ::lstat(core::current_directory().text.data(), &status) == 0 || errno != ENOENT;
    if (is_there && !directory_.open(core::current_directory(), core::if_missing::fail, error)) {
        throw failure("{}", error.text());
    }
    for (; is_there && slot_ < EVENTLOG_SUBSCRIPTIONS_MAX; ++slot_) {
        // It has been checked that its name ends.
        if (found_.open(directory_, slot_, error) == core::subscription_file::found::usable &&
            core::is_standing(found_.header()) && &found_.header().name[0] == name) {
            return;
        }
    }
    throw failure("There is no subscription '{}'. See what there is with: elog status", name);
}

bool standing_subscription::is_still_there() const noexcept {
    core::subscription_file now;
    core::error_text ignored;
    // The slot may have become another's.
    return now.open(directory_, slot_, ignored) == core::subscription_file::found::usable &&
           now.header().serial == found_.header().serial && core::is_standing(now.header());
}

void standing_subscription::end() {
    const directory_wait lock(directory_);
    lock.need();
    if (!is_still_there()) {
        throw failure("Somebody else has just ended the subscription '{}'.", name_);
    }
    core::mark_ended(found_.file());
    core::clear_gates(directory_, slot_);
}

bool standing_subscription::remove() {
    const directory_wait lock(directory_);
    lock.need();
    if (!is_still_there()) {
        return false;
    }
    // If we are killed over the rest, somebody else does it.
    core::take_over(found_.file(), found_.header(), core::current_process());
    static_cast<void>(
        ::unlinkat(directory_.subscriptions.get(), core::name_of_slot(slot_).data(), 0));
    core::release_memory(found_.file(), found_.geometry());
    return true;
}

}  // namespace elog
