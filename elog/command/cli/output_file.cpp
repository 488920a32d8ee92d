// SPDX-License-Identifier: MIT
#include "cli/output_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <system_error>

#include "base/output.hpp"
#include "base/user_error.hpp"
#include "base/zstd_frames.hpp"
#include "cli/stop_signal.hpp"

namespace elog {
namespace {

using eventlog::core::unique_fd;

constexpr const char* standard_output = "standard output";

bool is_fifo_or_device(const struct stat& status) noexcept {
    return S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode);
}

/// Another user could read what is written to a FIFO that it has put there.
void check_own_stream(const struct stat& status, const std::string& path) {
    if (status.st_uid != ::geteuid() && is_in_shared_folder(path)) {
        throw user_error("{} belongs to user {}, who could read what is written there. Give "
                         "another name with -o.",
                         path, status.st_uid);
    }
}

}  // namespace

command_option add_output_options(subcommand& command, output_arguments& output,
                                  const char* description) {
    const command_option path = command.add_option("-o,--output FILE", output.path, description)
                                    .completes_as(value_kind::new_file);
    command.add_flag("--force", output.force, "Replace an existing file");
    return path;
}

void add_compress_option(subcommand& command, int& level) {
    command
        .add_option("--compress [LEVEL]", level,
                    "Compress the file with zstd, at level 1 to 19; 1 without a number")
        .value_or(compression_level_default)
        .range(compression_level_min, compression_level_max);
}

std::optional<int> descriptor_of(const std::string& path) {
    if (path == "-" || path == "/dev/stdout") {
        return STDOUT_FILENO;
    }
    if (path == "/dev/stderr") {
        return STDERR_FILENO;
    }
    for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
        if (!path.starts_with(folder)) {
            continue;
        }
        int number = -1;
        const char* const end = path.data() + path.size();
        const auto [rest, error] = std::from_chars(path.data() + folder.size(), end, number);
        if (error == std::errc() && rest == end && number >= 0) {
            return number;
        }
    }
    return std::nullopt;
}

void check_descriptor(int descriptor, const std::string& path) {
    if (descriptor <= STDERR_FILENO) {
        return;  // writing reports that one is closed
    }
    // An inherited descriptor has no FD_CLOEXEC. All descriptors that elog opens have it, and one
    // of these must not be written because the command line guesses its number.
    const int flags = ::fcntl(descriptor, F_GETFD);
    if (flags < 0 || (flags & FD_CLOEXEC) != 0) {
        throw user_error("{} is not open. Redirect it, or give the name of a file with -o.", path);
    }
    if ((::fcntl(descriptor, F_GETFL) & O_ACCMODE) == O_RDONLY) {
        throw user_error("{} is open for reading only. Give another name with -o.", path);
    }
}

bool is_stream(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || !is_fifo_or_device(status)) {
        return false;
    }
    return ::lstat(follow_links(path).c_str(), &status) == 0 && is_fifo_or_device(status);
}

unique_fd open_stream(const std::string& path) {
    const std::string name = follow_links(path);
    struct stat status {};
    if (::lstat(name.c_str(), &status) == 0) {
        check_own_stream(status, name);  // before the wait for a reader
    }
    unique_fd stream(::open(name.c_str(), O_WRONLY | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC));
    if (!stream || ::fstat(stream.get(), &status) != 0) {
        throw user_error("{} cannot be opened for writing ({}). Give another name with -o.", path,
                         std::strerror(errno));
    }
    if (!is_fifo_or_device(status)) {
        throw user_error("{} was replaced by something else while it was opened. Run the command "
                         "again.",
                         path);
    }
    check_own_stream(status, name);
    return stream;
}

void add_mode_option(subcommand& command, std::optional<std::string>& mode) {
    command.add_option("--mode MODE", mode,
                       "Permissions of the file in octal digits; 600 without this option");
}

file_mode mode_or(const std::optional<std::string>& mode, file_mode other) {
    constexpr unsigned bits_max = 0777;
    if (!mode) {
        return other;
    }
    unsigned bits = 0;
    const char* const end = mode->data() + mode->size();
    const auto [rest, error] = std::from_chars(mode->data(), end, bits, 8);
    if (error != std::errc() || rest != end || bits > bits_max) {
        throw usage_error("'{}' is no mode: write octal digits, for example --mode 640.", *mode);
    }
    return {bits, true};
}

void check_may_replace(const output_arguments& output) {
    struct stat status {};
    if (output.force || output.descriptor() || ::lstat(output.path.c_str(), &status) != 0) {
        return;
    }
    if (S_ISDIR(status.st_mode)) {
        throw user_error("{} is a directory. Name a file with -o.", output.path);
    }
    throw user_error("The file {} exists. Give another name with -o, or replace it with --force.",
                     output.path);
}

output_file::output_file(const output_arguments& output, file_mode mode)
    : name_(output.is_standard_output() ? standard_output : output.path) {
    const std::optional<int> descriptor = output.descriptor();
    if (!descriptor && !is_stream(output.path)) {
        open_named(output, mode);
        return;
    }
    if (output.mode) {
        throw usage_error("{} is no new file and keeps its mode: leave --mode out.", name_);
    }
    if (descriptor) {
        descriptor_ = *descriptor;
        check_descriptor(descriptor_, name_);
    } else {
        stream_ = open_stream(output.path);
        descriptor_ = stream_.get();
    }
    if (::isatty(descriptor_) == 1) {
        throw user_error("{} is a terminal, which cannot show an .elog file. Redirect it to a "
                         "command or file, or give a name with -o.",
                         output.is_standard_output() ? "Standard output" : name_);
    }
    spool_.emplace("To write to " + name_);
}

void output_file::open_named(const output_arguments& output, file_mode mode) {
    const file_mode wanted = mode_or(output.mode, mode);
    check_may_replace(output);
    remove_files_on_stop_signals();
    const delayed_stop_signals until_listed;
    named_.emplace(output.path,
                   output.force ? atomic_file::if_exists::replace : atomic_file::if_exists::reject,
                   wanted, output.reserved);
    unfinished_.emplace(named_->temporary_path(), named_->descriptor());
}

bool output_file::is_open_as(int descriptor) const noexcept {
    struct stat created {};
    struct stat opened {};
    return ::fstat(named_->descriptor(), &created) == 0 && ::fstat(descriptor, &opened) == 0 &&
           created.st_dev == opened.st_dev && created.st_ino == opened.st_ino;
}

void output_file::finish() {
    if (named_) {
        named_->finish();
        unfinished_.reset();
    } else {
        spool_->write_to(descriptor_);
    }
}

text_output::text_output(const output_arguments& output, file_mode mode) {
    const bool is_open = output.path.empty() || output.descriptor();
    if (!is_open && !is_stream(output.path)) {
        open_named(output, mode);
        return;
    }
    if (output.mode) {
        throw usage_error("--mode is for files: add -o FILE.");
    }
    if (is_open) {
        descriptor_ = output.descriptor().value_or(STDOUT_FILENO);
        check_descriptor(descriptor_, output.path);
        return;
    }
    file_ = open_stream(output.path);
    descriptor_ = file_.get();
}

void text_output::open_named(const output_arguments& output, file_mode mode) {
    named_.emplace(output, mode);
    constexpr int flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    file_ = unique_fd(::open(named_->path().c_str(), flags));
    if (!file_) {
        throw user_error("The file {} cannot be created ({}). Give another name with -o.",
                         output.path, std::strerror(errno));
    }
    if (!named_->is_open_as(file_.get())) {
        throw user_error("The new file {} was replaced by another program, whose file is left as "
                         "it is. Give a name in a folder of your own with -o.",
                         named_->path());
    }
    // atomic_file tests this lock. The file is emptied after that, as another command may write it.
    if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        throw user_error("The file {} is being written by another command. Give another name with "
                         "-o.",
                         output.path);
    }
    if (::ftruncate(file_.get(), 0) != 0) {
        throw user_error("The file {} cannot be emptied ({}). Give another name with -o.",
                         output.path, std::strerror(errno));
    }
    descriptor_ = file_.get();
}

void text_output::finish() {
    if (named_) {
        file_ = unique_fd();
        named_->finish();
    }
}

void write_text_output(const output_arguments& output, std::string_view content) {
    text_output file(output, text_mode);
    write_all(file.descriptor(), content);
    file.finish();
}

}  // namespace elog
