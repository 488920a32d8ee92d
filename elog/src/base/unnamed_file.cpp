// SPDX-License-Identifier: MIT
#include "base/unnamed_file.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "base/output.hpp"
#include "base/user_error.hpp"

namespace elog {
namespace {

constexpr std::string_view own_descriptors = "/proc/self/fd/";
// How the kernel marks a file without a name.
constexpr std::string_view removed_mark = " (deleted)";

constexpr std::size_t part_size = std::size_t{256} << 10U;

// Most that append_available() appends at a time, and least that release() frees.
constexpr std::uint64_t step_size = std::uint64_t{1} << 20U;

/// Half of the free space of the file's file system.
std::uint64_t half_of_free_space(int file) noexcept {
    struct statvfs status {};
    return ::fstatvfs(file, &status) == 0 ? std::uint64_t{status.f_bavail} * status.f_frsize / 2
                                          : UINT64_MAX;
}

bool is_readable(int descriptor, std::chrono::milliseconds patience) noexcept {
    pollfd input{descriptor, POLLIN, 0};
    return ::poll(&input, 1, static_cast<int>(patience.count())) > 0;
}

/// Prefers other folders to /tmp, which may be in memory.
std::string folder_for_large_files() {
    const char* const wanted = std::getenv("TMPDIR");
    if (wanted != nullptr && *wanted != '\0') {
        return wanted;
    }
    return ::access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp";
}

/// The number of bytes read, 0 at the end. Waits for a descriptor that does not block. Throws
/// user_error.
std::size_t read_part(int descriptor, std::vector<char>& part, const std::string& purpose) {
    while (true) {
        const ssize_t got = ::read(descriptor, part.data(), part.size());
        if (got >= 0) {
            return static_cast<std::size_t>(got);
        }
        if (errno == EAGAIN) {
            pollfd input{descriptor, POLLIN, 0};
            static_cast<void>(::poll(&input, 1, -1));
        } else if (errno != EINTR) {
            throw user_error("{}, elog has to read the input, which fails ({}).", purpose,
                             std::strerror(errno));
        }
    }
}

}  // namespace

unnamed_file::unnamed_file(std::string purpose)
    : purpose_(std::move(purpose)), folder_(folder_for_large_files()) {
    create();
    if (!file_) {
        throw user_error("{}, elog needs a temporary file, and cannot create one in {} ({}). Set "
                         "TMPDIR to a folder where it can.",
                         purpose_, folder_, std::strerror(errno));
    }
    size_max_ = half_of_free_space(file_.get());
    path_ = fmt::format("{}{}", own_descriptors, file_.get());
    if (::access(path_.c_str(), R_OK | W_OK) != 0) {
        throw user_error("{}, elog needs /proc, which is missing. Mount it.", purpose_);
    }
}

void unnamed_file::create() {
    constexpr mode_t ours = 0600;
    file_ =
        eventlog::core::unique_fd(::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, ours));
    if (!file_) {
        create_and_unlink();
    }
}

/// For file systems without O_TMPFILE.
void unnamed_file::create_and_unlink() {
    std::string path = folder_ + "/elog-XXXXXX";
    file_ = eventlog::core::unique_fd(::mkostemp(path.data(), O_CLOEXEC));
    if (file_ && ::unlink(path.c_str()) != 0) {
        throw user_error("The file {} cannot be removed ({}), and would stay. Remove it, and set "
                         "TMPDIR to another folder.",
                         path, std::strerror(errno));
    }
}

void unnamed_file::append(std::string_view part) {
    while (!part.empty()) {
        const ssize_t written = ::write(file_.get(), part.data(), part.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written < 0) {
            throw user_error("{}, elog copies the input to a temporary file in {}, which cannot be "
                             "written any further ({}). Set TMPDIR to a folder with more space.",
                             purpose_, folder_, std::strerror(errno));
        }
        part.remove_prefix(static_cast<std::size_t>(written));
    }
}

void unnamed_file::append_from(int descriptor, const note_bytes& note) {
    std::vector<char> part(part_size);
    while (append_part(descriptor, part, note) != 0) {
    }
}

bool unnamed_file::append_available(int descriptor, std::chrono::milliseconds patience,
                                    const note_bytes& note) {
    std::vector<char> part(part_size);
    std::uint64_t total = 0;
    while (total < step_size && is_readable(descriptor, patience)) {
        const std::size_t size = append_part(descriptor, part, note);
        if (size == 0) {
            return false;
        }
        total += size;
        patience = std::chrono::milliseconds(0);
    }
    return true;
}

void unnamed_file::release(std::uint64_t size) noexcept {
    if (size < released_ + step_size) {
        return;
    }
    // Only whole blocks of a file system are freed; others would be overwritten with zeros.
    const std::uint64_t end = size / step_size * step_size;
    const int mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    if (::fallocate(file_.get(), mode, static_cast<off_t>(released_),
                    static_cast<off_t>(end - released_)) == 0) {
        released_ = end;
    }
}

/// Returns the number of bytes, 0 at the end of the input.
std::size_t unnamed_file::append_part(int descriptor, std::vector<char>& part,
                                      const note_bytes& note) {
    const std::size_t size = read_part(descriptor, part, purpose_);
    copied_ += size;
    if (copied_ - released_ > size_max_) {
        throw user_error("{}, elog copies the input to a temporary file in {}, and stops at half "
                         "of the free space there, {} bytes. Set TMPDIR to a folder with more "
                         "space, or write the input to a file.",
                         purpose_, folder_, size_max_);
    }
    append(std::string_view(part.data(), size));
    if (note && size != 0) {
        note(size);
    }
    return size;
}

void unnamed_file::write_to(int descriptor) const {
    std::vector<char> part(part_size);
    off_t offset = 0;
    while (true) {
        const ssize_t got = ::pread(file_.get(), part.data(), part.size(), offset);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            throw user_error("{}, elog has to read its temporary file in {}, which fails ({}).",
                             purpose_, folder_, std::strerror(errno));
        }
        if (got == 0) {
            return;
        }
        write_all(descriptor, std::string_view(part.data(), static_cast<std::size_t>(got)));
        offset += got;
    }
}

std::optional<std::string> folder_of_unnamed_file(const std::string& path) {
    std::array<char, PATH_MAX> target{};
    const ssize_t size = path.starts_with(own_descriptors)
                             ? ::readlink(path.c_str(), target.data(), target.size())
                             : -1;
    const std::string_view name(target.data(), size < 0 ? 0 : static_cast<std::size_t>(size));
    const std::size_t folder_end = name.rfind('/');
    if (!name.ends_with(removed_mark) || folder_end == std::string_view::npos) {
        return std::nullopt;
    }
    return std::string(name.substr(0, std::max<std::size_t>(folder_end, 1)));
}

}  // namespace elog
