// SPDX-License-Identifier: MIT
#include "recorder/recording_output.hpp"

#include <unistd.h>

#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "base/created_file.hpp"
#include "terminal/diagnostics.hpp"

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

const char* name_of(output_state state) {
    return state == output_state::moved     ? "moved"
           : state == output_state::removed ? "removed"
                                            : "truncated";
}

/// Removes the new file, unless one that it has replaced gets its name back.
std::function<void()> make_undo(const std::string& path, bool may_replace,
                                replaced_file& replaced) {
    return [&replaced, name = may_replace ? follow_links(path) : path] {
        if (!replaced.restore()) {
            static_cast<void>(::unlink(name.c_str()));
        }
    };
}

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
    if (arguments.is_reopened()) {
        options.on_reopen = [&file, path = options.path](output_state state, std::uint64_t events) {
            const bool is_moved = state == output_state::moved;
            file.moved += is_moved ? events : 0;
            print_diagnostic(
                "elog: {} was {}; the recording continues in a new file of that name.{}", path,
                name_of(state),
                is_moved || events == 0
                    ? std::string()
                    : fmt::format(" The old file's {} events are lost.", events));
        };
    }
    if (has_command) {
        options.replaced = &file.replaced;
        file.on_command_start = [&file] { file.removed.close(file.replaced.remove()); };
        options.wait_for_space = [&file] { return file.removed.wait(); };
    }
    if (arguments.split_by) {
        if (has_command) {
            file.undo = [&file, remove = make_undo(split_rest_path(arguments), arguments.force,
                                                   file.replaced)] {
                remove();
                file.split->remove_directory();
            };
        }
        file.split.emplace(arguments, std::move(options), [&file] { file.should_end = true; });
        return file.split->make_sink();
    }
    if (has_command && !is_rotated && !arguments.descriptor()) {
        file.undo = make_undo(options.path, arguments.force, file.replaced);
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
