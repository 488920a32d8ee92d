// SPDX-License-Identifier: MIT
#include "import/seekable_input.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include "base/user_error.hpp"
#include "file/block_file.hpp"
#include "file/file_format.hpp"
#include "file/read_observer.hpp"
#include "files/perf_file.hpp"
#include "files/tracing_data.hpp"

namespace elog {
namespace {

namespace tracefs = eventlog::tracefs;

constexpr std::uint64_t decisive_bytes = sizeof(file_header) + sizeof(block_header);

/// Whether a recording of any kind may begin like this. A damaged header of an .elog file is
/// accepted, as block_file accepts it.
bool may_be_recording(std::span<const std::uint8_t> start) {
    std::uint64_t magic = 0;
    std::uint32_t first_block = 0;
    if (start.size() >= sizeof magic) {
        std::memcpy(&magic, start.data(), sizeof magic);
    }
    if (start.size() >= decisive_bytes) {
        std::memcpy(&first_block, start.data() + sizeof(file_header), sizeof first_block);
    }
    return magic == file_magic || magic == __builtin_bswap64(file_magic) ||
           first_block == block_magic || tracefs::is_perf_data(start) ||
           tracefs::is_tracing_data(start);
}

bool is_fifo(const struct stat& status) noexcept {
    return S_ISFIFO(status.st_mode);
}

/// Whether the path, such as /dev/stdin, leads to the same file as standard input.
bool is_standard_input(const std::string& path) {
    struct stat named {};
    struct stat own {};
    return ::stat(path.c_str(), &named) == 0 && ::fstat(STDIN_FILENO, &own) == 0 &&
           named.st_dev == own.st_dev && named.st_ino == own.st_ino;
}

}  // namespace

bool is_pipe(const std::string& name) {
    struct stat status {};
    return name == "-" || (::stat(name.c_str(), &status) == 0 && is_fifo(status));
}

seekable_input::seekable_input(std::string name) : name_(std::move(name)), path_(name_) {
    if (name_ == "-") {
        use_standard_input();
        return;
    }
    if (!is_pipe(name_)) {
        return;
    }
    // A FIFO whose writer has ended cannot be opened again.
    if (is_standard_input(name_)) {
        copy(STDIN_FILENO);
        return;
    }
    const eventlog::core::unique_fd pipe(::open(name_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!pipe) {
        throw user_error("The pipe {} cannot be opened ({}). Check its name and permissions.",
                         name_, std::strerror(errno));
    }
    copy(pipe.get());
}

void seekable_input::use_standard_input() {
    name_ = "standard input";
    if (::isatty(STDIN_FILENO) == 1) {
        throw user_error("Standard input is a terminal. Connect it to a recording, for example "
                         "with: elog print - < run.elog");
    }
    struct stat status {};
    const bool is_file = ::fstat(STDIN_FILENO, &status) == 0 && S_ISREG(status.st_mode) &&
                         ::lseek(STDIN_FILENO, 0, SEEK_CUR) == 0;
    constexpr const char* own_path = "/proc/self/fd/0";
    if (is_file && ::access(own_path, R_OK) == 0) {
        path_ = own_path;
        check_readable();
        return;
    }
    copy(STDIN_FILENO);
}

void seekable_input::copy(int descriptor) {
    copy_.emplace("To read " + name_);
    std::uint64_t total = 0;
    bool is_checked = false;
    copy_->append_from(descriptor, [&](std::uint64_t bytes) {
        total += bytes;
        notify_read(bytes);
        // Endless output of another program must not fill the disk.
        if (!is_checked && total >= decisive_bytes) {
            check_content();
            is_checked = true;
        }
    });
    if (!is_checked) {
        check_content();
    }
    check_readable();
}

/// Reports errors of the beginning of an .elog file with the name that the user knows.
void seekable_input::check_readable() const {
    std::uint64_t magic = 0;
    const eventlog::core::unique_fd file(::open(path().c_str(), O_RDONLY | O_CLOEXEC));
    if (!file || ::pread(file.get(), &magic, sizeof magic, 0) != sizeof magic ||
        (magic != file_magic && magic != __builtin_bswap64(file_magic))) {
        return;  // of another program, or damaged: its reader reports that
    }
    try {
        static_cast<void>(block_file(path()));
    } catch (const user_error& error) {
        std::string text = error.what();
        const std::size_t at = text.find(path());
        if (at != std::string::npos) {
            text.replace(at, path().size(), name_);
        }
        throw user_error("{}", text);
    }
}

void seekable_input::check_content() const {
    std::array<std::uint8_t, decisive_bytes> start{};
    const ssize_t size = ::pread(copy_->descriptor(), start.data(), start.size(), 0);
    const auto bytes = std::span(start).first(size < 0 ? 0 : static_cast<std::size_t>(size));
    if (!may_be_recording(bytes)) {
        throw user_error("What {} delivers is not an .elog file. Connect it to the output of, for "
                         "example, elog cut -o -.",
                         name_);
    }
}

}  // namespace elog
