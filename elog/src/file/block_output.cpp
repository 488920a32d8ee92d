// SPDX-License-Identifier: MIT
#include "file/block_output.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <exception>
#include <optional>
#include <utility>

#include "base/unnamed_file.hpp"

namespace elog {
namespace {

// More than is needed is allocated at a time, to save system calls.
constexpr std::uint64_t allocation_step = std::uint64_t{256} << 10U;

bool is_disk_full(int error) noexcept {
    return error == ENOSPC || error == EDQUOT || error == EFBIG;
}

std::uint64_t file_size_limit() noexcept {
    rlimit limit{};
    const bool is_known = ::getrlimit(RLIMIT_FSIZE, &limit) == 0;
    return is_known && limit.rlim_cur != RLIM_INFINITY ? limit.rlim_cur : UINT64_MAX;
}

[[noreturn]] void throw_write_error(const std::string& path, int error) {
    if (const std::optional<std::string> folder = folder_of_unnamed_file(path)) {
        throw user_error("A temporary file in {} cannot be written any further ({}). Set TMPDIR to "
                         "a folder with more space.",
                         *folder, std::strerror(error));
    }
    constexpr const char* text =
        "The file {} cannot be written any further ({}). Free some space, or write it elsewhere.";
    if (error == EFBIG) {
        throw file_too_large("The file {} cannot be written any further ({}). Raise the limit with "
                             "ulimit -f, or write it elsewhere.",
                             path, std::strerror(error));
    }
    if (is_disk_full(error)) {
        throw disk_full(text, path, std::strerror(error));
    }
    throw user_error(text, path, std::strerror(error));
}

}  // namespace

block_output::block_output(output_options options) : options_(std::move(options)) {
    if (options_.descriptor < 0) {
        open();
    } else {
        open_descriptor();
    }
}

/// A lock belongs to the open file, which other processes may keep open if the caller opened it.
block_output::~block_output() {
    release_reserve();
    if (file_ && options_.descriptor >= 0) {
        static_cast<void>(::flock(file_.get(), LOCK_UN));
    }
}

void block_output::open() {
    const std::string& path = options_.path;
    file_ = open_created_file(path, options_.existing, options_.mode, options_.replaced);
    if (!file_ && may_retry(errno)) {
        file_ = open_created_file(path, options_.existing, options_.mode, options_.replaced);
    }
    if (!file_ && errno == EEXIST) {
        throw file_exists(
            "The file {} exists. Give another name with -o, or replace it with --force.", path);
    }
    if (!file_ && is_disk_full(errno)) {
        throw disk_full("The file {} cannot be made ({}). Free some space, or write it elsewhere.",
                        path, std::strerror(errno));
    }
    struct stat status {};
    if (!file_ || ::fstat(file_.get(), &status) != 0) {
        throw user_error("The file {} cannot be made ({}). Give another name with -o.", path,
                         std::strerror(errno));
    }
    // Opening a pipe or socket without O_NONBLOCK would block; a terminal cannot hold gapless
    // blocks.
    if (!S_ISREG(status.st_mode)) {
        throw user_error("{} is not a file. Give another name with -o.", path);
    }
    lock();
    if (::ftruncate(file_.get(), 0) != 0) {
        throw user_error("The file {} cannot be emptied ({}). Give another name with -o.", path,
                         std::strerror(errno));
    }
}

void block_output::open_descriptor() {
    file_ = eventlog::core::unique_fd(::fcntl(options_.descriptor, F_DUPFD_CLOEXEC, 0));
    struct stat status {};
    if (!file_ || ::fstat(file_.get(), &status) != 0) {
        throw user_error("The file {} cannot be written ({}). Give a name with -o.", options_.path,
                         std::strerror(errno));
    }
    is_regular_ = S_ISREG(status.st_mode);
    if (!is_regular_) {
        return;
    }
    // Positions in an index count from the beginning of the file.
    if (status.st_size != 0) {
        throw user_error("The file {} is not empty, and a recording cannot follow other data. "
                         "Redirect to another file, or give a name with -o.",
                         options_.path);
    }
    lock();
}

void block_output::discard() noexcept {
    if (options_.descriptor >= 0 || options_.existing == existing_file::reuse) {
        return;
    }
    try {
        const std::string path = options_.existing == existing_file::replace
                                     ? follow_links(options_.path)
                                     : options_.path;
        if (is_open_as(file_.get(), path)) {
            static_cast<void>(::unlink(path.c_str()));
        }
    } catch (const std::exception&) {
        return;  // a link was changed meanwhile: the file is somewhere else
    }
}

/// Readers test this lock to learn whether the file is still being written.
void block_output::lock() {
    if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        throw user_error(
            "The file {} is being written by another recording. Give another name with "
            "-o.",
            options_.path);
    }
}

void block_output::sync() {
    // Pipes and file systems without fsync report EINVAL or ENOSYS.
    if (::fsync(file_.get()) != 0 && errno != EINVAL && errno != ENOSYS) {
        throw user_error("The file {} could not be written to its end ({}). Write it elsewhere.",
                         options_.path, std::strerror(errno));
    }
}

output_state block_output::content_state() const noexcept {
    struct stat status {};
    if (!is_regular_ || ::fstat(file_.get(), &status) != 0) {
        return output_state::intact;
    }
    const bool is_removed =
        status.st_nlink == 0 && options_.descriptor < 0 && !folder_of_unnamed_file(options_.path);
    if (is_removed) {
        return output_state::removed;
    }
    return static_cast<std::uint64_t>(status.st_size) < size_ ? output_state::truncated
                                                              : output_state::intact;
}

output_state block_output::state(const std::string& name) const noexcept {
    struct stat opened {};
    struct stat named {};
    const bool has_name =
        !is_regular_ || options_.descriptor >= 0 || folder_of_unnamed_file(options_.path) ||
        (::fstat(file_.get(), &opened) == 0 && ::stat(name.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino);
    const output_state found = content_state();
    if (has_name) {
        return found;
    }
    return found == output_state::intact ? output_state::moved : output_state::removed;
}

void block_output::check_intact() const {
    const output_state found = content_state();
    if (found == output_state::removed || found == output_state::truncated) {
        throw user_error(
            "The file {} was {} while it was written, and its content is lost. Write it again; to "
            "limit its size while it is recorded, use --rotate, and to continue in a new file, "
            "--rotate reopen.",
            options_.path, found == output_state::removed ? "removed" : "truncated");
    }
}

/// After a failed call. Waits for space.
bool block_output::may_retry(int error) {
    return is_disk_full(error) && options_.wait_for_space && options_.wait_for_space();
}

/// Returns an error number, or 0.
int block_output::allocate_to(std::uint64_t end) noexcept {
    while (::fallocate(file_.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(size_),
                       static_cast<off_t>(end - size_)) != 0) {
        if (errno != EINTR) {
            return errno;
        }
    }
    allocated_ = end;
    return 0;
}

/// fallocate() without a change of the size is not subject to the limit, which may change.
void block_output::check_limit(std::uint64_t end) const {
    if (end > file_size_limit()) {
        throw_write_error(options_.path, EFBIG);
    }
}

/// Allocates that many bytes behind the end.
void block_output::allocate(std::uint64_t size) {
    if (!options_.has_reserve || !is_regular_ || uses_reserve_) {
        return;
    }
    check_limit(size_ + size);
    if (!can_allocate_ || size_ + size <= allocated_) {
        return;
    }
    int error = allocate_to(size_ + size + allocation_step);
    if (is_disk_full(error)) {
        error = allocate_to(size_ + size);
    }
    if (may_retry(error)) {
        error = allocate_to(size_ + size);
    }
    if (is_disk_full(error)) {
        throw_write_error(options_.path, error);
    }
    can_allocate_ = error == 0;  // else this file system cannot have a reserve
}

void block_output::release_reserve() noexcept {
    if (allocated_ != 0) {
        static_cast<void>(!::ftruncate(file_.get(), static_cast<off_t>(size_)));
        allocated_ = 0;
    }
}

void block_output::append(std::span<const std::span<const std::uint8_t>> parts,
                          std::uint64_t reserve) {
    std::array<iovec, 8> vectors{};
    std::size_t count = 0;
    std::uint64_t size = 0;
    for (const std::span<const std::uint8_t> part :
         parts.first(std::min(parts.size(), vectors.size()))) {
        // iovec has no const member; writev() does not modify the bytes.
        vectors[count++] = {const_cast<std::uint8_t*>(part.data()), part.size()};
        size += part.size();
    }
    // Blocks behind a hole could not be read.
    check_intact();
    allocate(size + reserve);
    if (is_regular_) {
        std::array<iovec, 8> again = vectors;
        int error = write_parts(std::span(vectors).first(count));
        if (may_retry(error)) {
            error = write_parts(std::span(again).first(count));
        }
        if (error != 0) {
            throw_write_error(options_.path, error);
        }
    } else {
        for (const iovec& part : std::span(vectors).first(count)) {
            write_all(file_.get(), {static_cast<const char*>(part.iov_base), part.iov_len},
                      options_.should_abort);
        }
    }
    size_ += size;
}

/// Returns an error number, or 0. After an error removes the incomplete block.
int block_output::write_parts(std::span<iovec> parts) noexcept {
    std::size_t done = 0;
    while (done < parts.size()) {
        if (parts[done].iov_len == 0) {
            ++done;
            continue;
        }
        const ssize_t written =
            ::writev(file_.get(), &parts[done], static_cast<int>(parts.size() - done));
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            const int error = errno;
            static_cast<void>(!::ftruncate(file_.get(), static_cast<off_t>(size_)));
            allocated_ = 0;
            return error;
        }
        auto left = static_cast<std::size_t>(written);
        while (left != 0) {
            const std::size_t step = std::min(left, parts[done].iov_len);
            parts[done].iov_base = static_cast<std::uint8_t*>(parts[done].iov_base) + step;
            parts[done].iov_len -= step;
            left -= step;
            done += parts[done].iov_len == 0 ? 1U : 0U;
        }
    }
    return 0;
}

}  // namespace elog
