// SPDX-License-Identifier: MIT
#include "shm/kernel_losses.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstddef>
#include <utility>

#include "shm/exact_io.hpp"

namespace eventlog::core {
namespace {

unique_fd open_folder(const directory& where) noexcept {
    return unique_fd(::openat(where.processes.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// Locks of open file descriptions: asking for one does not take it, so that programs do not disturb
// each other or a reader.
struct flock whole_folder(short type) noexcept {
    struct flock lock {};
    lock.l_type = type;
    lock.l_whence = SEEK_SET;
    return lock;
}

}  // namespace

kernel_loss_reader::kernel_loss_reader(const directory& where) noexcept {
    unique_fd folder = open_folder(where);
    struct flock lock = whole_folder(F_RDLCK);
    if (folder && ::fcntl(folder.get(), F_OFD_SETLK, &lock) == 0) {
        lock_ = std::move(folder);
    }
}

/// A forked child may have a copy of the descriptor.
kernel_loss_reader::~kernel_loss_reader() {
    struct flock lock = whole_folder(F_UNLCK);
    if (lock_) {
        static_cast<void>(::fcntl(lock_.get(), F_OFD_SETLK, &lock));
    }
}

bool has_kernel_loss_reader(const directory& where) noexcept {
    const unique_fd folder = open_folder(where);
    struct flock lock = whole_folder(F_WRLCK);
    return !folder || ::fcntl(folder.get(), F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

bool has_kernel_losses(const unique_fd& file, std::uint64_t gate_offset) noexcept {
    eventlog_route_counters route{};
    const std::uint64_t offset = gate_offset + EVENTLOG_GATE_SIZE +
                                 offsetof(eventlog_counters_page, routes) +
                                 EVENTLOG_COUNTERS_USER_EVENTS * sizeof(eventlog_route_counters);
    return !file || !read_exactly(file, &route, sizeof route, offset) || has_losses(route);
}

}  // namespace eventlog::core
