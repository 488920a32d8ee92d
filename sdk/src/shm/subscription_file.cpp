// SPDX-License-Identifier: MIT
#include "shm/subscription_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

#include "platform/process.hpp"
#include "ring/ring_lock.hpp"
#include "shm/exact_io.hpp"
#include "shm/kernel_losses.hpp"
#include "shm/process_file.hpp"

namespace eventlog::core {

subscription_file::found subscription_file::open(const directory& where, unsigned slot,
                                                 error_text& error) noexcept {
    const slot_name& name = slot_file_name(slot);
    file_ = unique_fd(::openat(where.subscriptions.get(), name.data(),
                               O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!file_ && errno == ENOENT) {
        return found::nothing;
    }
    if (!file_ && (errno == EISDIR || errno == ELOOP || errno == ENXIO)) {
        error.set("The file subscriptions/%s is no subscription. Remove it.", name.data());
        return found::unusable;
    }
    if (!file_) {
        error.set("The subscription %s cannot be opened (%s). Check your permissions and limits.",
                  name.data(), system_error{errno});
        return found::unreadable;
    }
    struct stat status {};
    const bool is_examined = ::fstat(file_.get(), &status) == 0;
    errno = is_examined ? 0 : errno;
    const bool is_read =
        is_examined && S_ISREG(status.st_mode) && read_exactly(file_, &header_, sizeof header_, 0);
    if (!is_read && errno != 0) {
        error.set("The subscription %s cannot be read (%s). Check the limits of the sandbox.",
                  name.data(), system_error{errno});
        return found::unreadable;
    }
    if (!is_read) {
        error.set("The file subscriptions/%s is no subscription. Remove it.", name.data());
        return found::unusable;
    }
    return check_region(header_, static_cast<std::uint64_t>(status.st_size), geometry_, error)
               ? found::usable
               : found::unusable;
}

namespace {

std::uint32_t read_state(const unique_fd& file) noexcept {
    std::uint32_t state = EVENTLOG_REGION_ENDED;
    return read_exactly(file, &state, sizeof state, offsetof(eventlog_region, state))
               ? state
               : std::uint32_t{EVENTLOG_REGION_ENDED};
}

/// Cannot fail for a file that is large enough, and a smaller file has no state.
void store_state(const unique_fd& file, std::uint32_t state) noexcept {
    write_exactly(file, &state, sizeof state, offsetof(eventlog_region, state));
}

}  // namespace

bool subscription_file::has_ended() const noexcept {
    return is_end_state(read_state(file_));
}

bool subscription_file::is_paused() const noexcept {
    return read_state(file_) == EVENTLOG_REGION_PAUSED;
}

bool subscription_file::is_removed() const noexcept {
    struct stat status {};
    return ::fstat(file_.get(), &status) == 0 && status.st_nlink == 0;
}

bool subscription_file::is_detached() const noexcept {
    std::uint32_t features = 0;
    return read_exactly(file_, &features, sizeof features, offsetof(eventlog_region, features)) &&
           (features & EVENTLOG_FEATURE_DETACHED) != 0;
}

bool subscription_file::has_owner() const noexcept {
    // This order matters: an owner may detach the subscription and end between the two checks.
    return is_alive(header_.owner_pid, header_.owner_start_time, header_.owner_pid_namespace) ||
           is_detached();
}

void mark_ended(const unique_fd& file) noexcept {
    store_state(file, EVENTLOG_REGION_ENDED);
}

void mark_paused(const unique_fd& file) noexcept {
    store_state(file, EVENTLOG_REGION_PAUSED);
}

void mark_live(const unique_fd& file) noexcept {
    store_state(file, EVENTLOG_REGION_LIVE);
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

void mark_detached(const unique_fd& file, const eventlog_region& header) noexcept {
    const std::uint32_t features = header.features | EVENTLOG_FEATURE_DETACHED;
    write_exactly(file, &features, sizeof features, offsetof(eventlog_region, features));
}

void claim_ownership(const unique_fd& file, const eventlog_region& header,
                     const process_identity& owner) noexcept {
    struct {
        std::uint32_t pid;
        std::uint32_t uid;
        std::uint64_t start_time;
        std::uint64_t pid_namespace;
    } const fields{owner.pid, owner.uid, owner.start_time, owner.pid_namespace};
    static_assert(offsetof(eventlog_region, clock_start) - offsetof(eventlog_region, owner_pid) ==
                  sizeof fields);
    write_exactly(file, &fields, sizeof fields, offsetof(eventlog_region, owner_pid));
    const std::uint32_t features = header.features & ~EVENTLOG_FEATURE_DETACHED;
    write_exactly(file, &features, sizeof features, offsetof(eventlog_region, features));
}

namespace {

template <class Visitor>
void for_each_provider(const directory& where, Visitor&& visit) noexcept {
    folder_listing names(where.processes);
    error_text ignored;
    while (const char* name = names.next()) {
        process_file process;
        if (!process.open(where, name, ignored)) {
            continue;
        }
        for (published_provider provider(process); provider.next();) {
            visit(provider);
        }
    }
}

}  // namespace

void clear_gates(const directory& where, unsigned slot) noexcept {
    for_each_provider(where, [slot](published_provider& provider) {
        provider.detach_slot(slot);
        provider.notify();
    });
}

void request_unmapping(const directory& where) noexcept {
    for_each_provider(where, [](published_provider& provider) { provider.request_unmapping(); });
}

void release_memory(const unique_fd& file, const region_geometry& geometry) noexcept {
    // A writer that holds the shared ring's lock may have seen the live state and be about to write
    // to the ring's buffers, unless it has died. A writer that takes the lock later, also from a
    // dead holder, checks the state again behind a fence that pairs with this one. Writers of other
    // rings check the state inside their sequence.
    const std::uint32_t shared_ring = geometry.ring_count - 1;
    std::uint64_t lock = 0;
    std::atomic_thread_fence(std::memory_order_seq_cst);
    const bool is_free =
        read_exactly(file, &lock, sizeof lock,
                     geometry.ring_offset(shared_ring) + offsetof(eventlog_ring, lock)) &&
        (lock == 0 || has_holder_died(lock));
    const std::uint64_t end =
        is_free ? geometry.total_size : geometry.buffer_offset(shared_ring, 0);
    static_cast<void>(::fallocate(file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                  static_cast<off_t>(geometry.schemas_offset),
                                  static_cast<off_t>(end - geometry.schemas_offset)));
}

directory_lock::directory_lock(const directory& where) noexcept
    : file_(::openat(where.subscriptions.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    if (file_ && ::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
        is_taken_ = errno == EWOULDBLOCK;
        file_ = unique_fd{};
    }
}

void remove_dead_subscriptions(const directory& where) noexcept {
    for (unsigned slot = 0; slot < EVENTLOG_SUBSCRIPTIONS_MAX; ++slot) {
        subscription_file subscription;
        error_text ignored;
        if (subscription.open(where, slot, ignored) == subscription_file::found::usable &&
            !subscription.has_owner()) {
            mark_ended(subscription.file());
            clear_gates(where, slot);
            // While it was paused, no gate had its bit, so that no program looks for its end. Its
            // state does not say so: the owner may have died over a resume, with some bits set.
            request_unmapping(where);
            static_cast<void>(
                ::unlinkat(where.subscriptions.get(), slot_file_name(slot).data(), 0));
            release_memory(subscription.file(), subscription.geometry());
        }
    }
}

bool may_have_unread_losses(const directory& where, const published_provider& provider) noexcept {
    for (unsigned slot = 0; slot < EVENTLOG_SUBSCRIPTIONS_MAX; ++slot) {
        const std::uint64_t serial = provider.slot_serial(slot);
        if (serial == 0 || provider.read_unattached(slot, serial) == 0) {
            continue;
        }
        subscription_file subscription;
        error_text ignored;
        if (subscription.open(where, slot, ignored) == subscription_file::found::usable &&
            subscription.header().serial == serial) {
            return true;
        }
    }
    return provider.has_kernel_losses() && has_kernel_loss_reader(where);
}

namespace {

/// Of a dead process, whose providers then stay for the readers of their counters only.
bool has_unread_losses(const directory& where, process_file& process) noexcept {
    bool found = false;
    for (published_provider provider(process, published_provider::which::with_counted);
         !found && provider.next();) {
        found = may_have_unread_losses(where, provider);
    }
    if (found) {
        for (published_provider provider(process); provider.next();) {
            provider.keep_counters();
        }
    }
    return found;
}

}  // namespace

void remove_dead_processes(const directory& where) noexcept {
    folder_listing names(where.processes);
    error_text ignored;
    unsigned kept = 0;
    while (const char* name = names.next()) {
        process_file process;
        if (!process.open(where, name, ignored) || process.is_alive()) {
            continue;
        }
        if (kept < unread_files_max && has_unread_losses(where, process)) {
            ++kept;
        } else {
            static_cast<void>(::unlinkat(where.processes.get(), name, 0));
        }
    }
}

}  // namespace eventlog::core
