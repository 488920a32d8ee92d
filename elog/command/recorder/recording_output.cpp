// SPDX-License-Identifier: MIT
#include "recorder/recording_output.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <utility>

#include <fmt/core.h>

#include "base/created_file.hpp"
#include "file/file_writer.hpp"

namespace elog {
namespace {

/// Adds what did not reach one of the files.
void add_incomplete(std::optional<incomplete_recording>& all, incomplete_recording one) {
    if (!all) {
        all = std::move(one);
        return;
    }
    for (std::size_t ring = 0; ring < one.unwritten.size(); ++ring) {
        all->unwritten[ring].count += one.unwritten[ring].count;
        all->unwritten[ring].bytes += one.unwritten[ring].bytes;
    }
}

/// A file that a sink replaces, under a second name. Without hard links, and in a folder of several
/// users, where a file with two names is not replaced, it has none and cannot be restored.
class replaced_file {
  public:
    replaced_file(const std::string& path, bool is_replaced)
        : path_(is_replaced ? follow_links(path) : path) {
        if (!is_replaced || is_in_shared_folder(path_)) {
            return;
        }
        std::string second =
            with_suffix(path_, fmt::format(".replaced.{:016x}", generate_identity()));
        if (::link(path_.c_str(), second.c_str()) == 0) {
            second_ = std::move(second);
        }
    }
    ~replaced_file() {
        if (!second_.empty()) {
            static_cast<void>(::unlink(second_.c_str()));
        }
    }
    replaced_file(const replaced_file&) = delete;
    replaced_file& operator=(const replaced_file&) = delete;

    /// After the start of the sink, which holds the lock on the new file: the path is its own.
    void restore() noexcept {
        if (second_.empty()) {
            static_cast<void>(::unlink(path_.c_str()));
        } else if (std::rename(second_.c_str(), path_.c_str()) == 0) {
            second_.clear();
        }
    }

  private:
    std::string path_;
    std::string second_{};  // empty: none
};

}  // namespace

std::unique_ptr<record_sink> make_file_sink(const recording_file_arguments& arguments,
                                            std::string command, abort_check should_abort,
                                            file_connection& file) {
    file_sink_options options = make_file_options(arguments);
    const bool has_command = !command.empty();
    const bool is_rotated = options.rotation.is_wanted();
    options.command = std::move(command);
    options.notes = [&file] { return file.notes ? file.notes() : recording_notes(); };
    options.on_disk_full = [&file] { file.should_end = true; };
    options.on_incomplete = [&file](incomplete_recording incomplete) {
        add_incomplete(file.incomplete, std::move(incomplete));
    };
    options.should_abort = std::move(should_abort);
    if (arguments.split_by) {
        if (has_command) {
            const auto rest =
                std::make_shared<replaced_file>(split_rest_path(arguments), arguments.force);
            file.undo = [rest, &file] {
                rest->restore();
                file.split->remove_directory();
            };
        }
        file.split.emplace(arguments, std::move(options), [&file] { file.should_end = true; });
        return file.split->make_sink();
    }
    if (has_command && !is_rotated && !arguments.descriptor()) {
        const auto replaced = std::make_shared<replaced_file>(options.path, arguments.force);
        file.undo = [replaced] { replaced->restore(); };
    }
    auto sink = std::make_unique<file_sink>(std::move(options));
    if (has_command && is_rotated) {
        file.undo = [made = sink.get()] {
            static_cast<void>(::unlink(made->path().c_str()));  // the first part
        };
    }
    return sink;
}

}  // namespace elog
