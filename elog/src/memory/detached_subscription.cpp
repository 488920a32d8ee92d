// SPDX-License-Identifier: MIT
#include "memory/detached_subscription.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/user_error.hpp"
#include "memory/open_gates.hpp"
#include "memory/pause_log.hpp"
#include "memory/timed_directory_lock.hpp"
#include "platform/process.hpp"
#include "ring/clock.hpp"

namespace elog {

namespace core = eventlog::core;

detached_subscription::detached_subscription(const std::string& name) : name_(name) {
    struct stat status {};
    const core::directory_path path = core::current_directory();
    core::error_text error;
    const bool is_there =
        !core::is_absolute(path) || ::lstat(path.text.data(), &status) == 0 || errno != ENOENT;
    if (is_there && !directory_.open(path, core::if_missing::fail, error)) {
        core::explain_other_use(path, error);
        throw user_error("{}", error.text().c_str());
    }
    for (; is_there && slot_ < EVENTLOG_SUBSCRIPTIONS_MAX; ++slot_) {
        // open() has checked that the name is terminated.
        if (found_.open(directory_, slot_, error) == core::subscription_file::found::usable &&
            core::is_detached(found_.header()) && &found_.header().name[0] == name) {
            return;
        }
    }
    throw user_error(
        "There is no flight recorder '{}'. List those that exist with: elog flight status", name);
}

bool detached_subscription::still_exists() const noexcept {
    core::subscription_file now;
    core::error_text ignored;
    // Another subscription may have been given the slot since then.
    return now.open(directory_, slot_, ignored) == core::subscription_file::found::usable &&
           now.header().serial == found_.header().serial && core::is_detached(now.header());
}

void detached_subscription::check_existence() const {
    if (!still_exists()) {
        throw user_error("Another process has just ended the flight recorder '{}'.", name_);
    }
}

void detached_subscription::check_not_ended() const {
    check_existence();
    if (found_.has_ended()) {
        throw user_error("'{0}' has ended and receives no more events. Write those that it has "
                         "with: elog flight stop {0} -o FILE",
                         name_);
    }
}

void detached_subscription::pause() {
    const timed_directory_lock lock(directory_);
    lock.throw_unless_held();
    check_not_ended();
    const bool was_paused = found_.is_paused();
    if (!was_paused) {
        // Read before the state changes: every dropped event is later.
        begin_pause(found_.file(), core::read_clock_ordered(found_.header().clock));
        core::mark_paused(found_.file());
    }
    // Again for one that is paused: a process may have been killed while it paused it.
    core::clear_gates(directory_, slot_);
    if (was_paused) {
        throw user_error("'{0}' is already paused. Resume it with: elog flight resume {0}", name_);
    }
}

void detached_subscription::resume() {
    const timed_directory_lock lock(directory_);
    lock.throw_unless_held();
    check_not_ended();
    if (!found_.is_paused() && !read_pauses(found_.file()).goes_on()) {
        throw user_error("'{0}' is not paused. Pause it with: elog flight pause {0}", name_);
    }
    core::mark_live(found_.file());
    // check_region() has checked the size.
    const eventlog_region& header = found_.header();
    const std::string_view filter(header.filter, header.filter_size);
    open_gates(directory_, {slot_, header.serial, filter}, filter);
    end_pause(found_.file(), core::read_clock_ordered(header.clock));
}

void detached_subscription::end() {
    const timed_directory_lock lock(directory_);
    lock.throw_unless_held();
    check_existence();
    // The log has it also after the state has changed: a process may have been killed there.
    const bool was_paused = found_.is_paused() || read_pauses(found_.file()).goes_on();
    core::mark_ended(found_.file());
    core::clear_gates(directory_, slot_);
    if (was_paused) {
        core::request_unmapping(directory_);
    }
    end_pause(found_.file(), core::read_clock_ordered(found_.header().clock));
}

bool detached_subscription::remove() {
    const timed_directory_lock lock(directory_);
    lock.throw_unless_held();
    if (!still_exists()) {
        return false;
    }
    // If this process is killed before the rest is done, the next process that removes dead
    // subscriptions does it.
    core::claim_ownership(found_.file(), found_.header(), core::current_process());
    static_cast<void>(
        ::unlinkat(directory_.subscriptions.get(), core::slot_file_name(slot_).data(), 0));
    core::release_memory(found_.file(), found_.geometry());
    core::remove_dead_processes(directory_);
    return true;
}

}  // namespace elog
