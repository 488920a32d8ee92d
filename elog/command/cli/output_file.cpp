// SPDX-License-Identifier: MIT
#include "cli/output_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/output.hpp"
#include "base/user_error.hpp"
#include "base/zstd_frames.hpp"

namespace elog {
namespace {

constexpr const char* standard_output = "standard output";

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
                    "Compress the file with zstd, at level 1 to 19; 3 without a number")
        .value_or(compression_level_default)
        .range(compression_level_min, compression_level_max);
}

void check_may_replace(const output_arguments& output) {
    struct stat status {};
    if (output.force || output.is_standard_output() || ::lstat(output.path.c_str(), &status) != 0) {
        return;
    }
    throw user_error("The file {} exists. Give another name with -o, or replace it with --force.",
                     output.path);
}

output_file::output_file(const output_arguments& output, mode_t mode)
    : name_(output.is_standard_output() ? standard_output : output.path) {
    if (!output.is_standard_output()) {
        check_may_replace(output);
        named_.emplace(
            output.path,
            output.force ? atomic_file::if_exists::replace : atomic_file::if_exists::reject, mode);
        return;
    }
    if (::isatty(STDOUT_FILENO) == 1) {
        throw user_error("Standard output is a terminal, which cannot show an .elog file. Redirect "
                         "it to a command or file, or give a name with -o.");
    }
    spool_.emplace("To write to standard output");
}

void output_file::finish() {
    if (named_) {
        named_->finish();
    } else {
        spool_->write_to(STDOUT_FILENO);
    }
}

text_output::text_output(const output_arguments& output, mode_t mode) {
    if (output.path.empty() || output.is_standard_output()) {
        return;
    }
    named_.emplace(output, mode);
    file_ = eventlog::core::unique_fd(
        ::open(named_->path().c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!file_) {
        throw user_error("The file {} cannot be created ({}). Give another name with -o.",
                         output.path, std::strerror(errno));
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
        file_ = eventlog::core::unique_fd();
        named_->finish();
    }
}

void write_text_output(const output_arguments& output, std::string_view content) {
    constexpr mode_t mode_of_texts = 0666;
    text_output file(output, mode_of_texts);
    write_all(file.descriptor(), content);
    file.finish();
}

}  // namespace elog
