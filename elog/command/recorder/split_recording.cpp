// SPDX-License-Identifier: MIT
#include "recorder/split_recording.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "base/created_file.hpp"
#include "base/user_error.hpp"
#include "cli/usage_error.hpp"
#include "live/where.hpp"
#include "output/value_file_name.hpp"
#include "platform/unique_fd.hpp"
#include "terminal/diagnostics.hpp"

namespace elog {
namespace {

namespace fs = std::filesystem;

constexpr const char* rest_name = "other.elog";

// All files stay open until the recording ends.
constexpr std::size_t files_max = 256;
constexpr std::size_t other_descriptors = 64;

/// Fewer files if this process may not have so many descriptors.
std::size_t values_max() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
        return files_max;
    }
    const auto allowed = static_cast<std::size_t>(limit.rlim_cur);
    const std::size_t room = allowed > other_descriptors ? (allowed - other_descriptors) / 2 : 0;
    return std::clamp<std::size_t>(room, 1, files_max);
}

bool is_identifier(const std::string& name) {
    const auto is_letter = [](char each) {
        return (each >= 'a' && each <= 'z') || (each >= 'A' && each <= 'Z') || each == '_';
    };
    return !name.empty() && is_letter(name.front()) &&
           std::all_of(name.begin(), name.end(), [&](char each) {
               return is_letter(each) || (each >= '0' && each <= '9') || each == '.';
           });
}

/// Schemas have underscores in place of points.
std::string name_in_schema(std::string name) {
    std::replace(name.begin(), name.end(), '.', '_');
    return name;
}

/// The directory without slashes at its end.
std::string folder_of(const std::string& path) {
    const std::size_t last = path.find_last_not_of('/');
    return last == std::string::npos ? "/" : path.substr(0, last + 1);
}

bool is_empty(const std::string& folder) {
    std::error_code error;
    const bool found = fs::is_empty(folder, error);
    if (error) {
        throw user_error("The directory {} cannot be read ({}). Give another one with -o.", folder,
                         error.message());
    }
    return found;
}

/// Readers of the files can search the directory.
mode_t directory_mode(file_mode files) noexcept {
    return 0700 | files.bits | (files.bits & 0444U) >> 2U;
}

/// Does not follow a link that has got the name meanwhile.
void set_directory_mode(const std::string& place, mode_t mode) {
    const eventlog::core::unique_fd directory(
        ::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!directory || ::fchmod(directory.get(), mode) != 0) {
        throw user_error("The directory {} cannot have the mode {:o} ({}). Give another name with "
                         "-o.",
                         place, mode, std::strerror(errno));
    }
}

/// The owner of a directory can read, replace and remove what is in it.
void check_is_own_directory(const std::string& place) {
    const fs::path name = fs::path(place).filename();
    if (name == "." || name == ".." || !is_in_shared_folder(place)) {
        return;  // no name that another user can have taken
    }
    struct stat status {};
    if (::lstat(place.c_str(), &status) != 0) {
        throw user_error("The directory {} cannot be read ({}). Give another one with -o.", place,
                         std::strerror(errno));
    }
    if (!S_ISDIR(status.st_mode)) {
        throw user_error("{} is no directory, which --split-by needs for its files. Give another "
                         "name with -o.",
                         place);
    }
    if (status.st_uid != ::geteuid()) {
        throw user_error("The directory {} belongs to user {}, who could read and replace what is "
                         "written there. Remove it, or give another name with -o.",
                         place, status.st_uid);
    }
}

}  // namespace

void check_split(const recording_file_arguments& arguments) {
    const std::string& name = *arguments.split_by;
    if (!is_identifier(name)) {
        throw usage_error("'{}' is no name to split by: write session or the name of a field, for "
                          "example --split-by customer.",
                          name);
    }
    if (arguments.descriptor()) {
        throw usage_error("--split-by writes several files, and {} is one: give the name of a "
                          "directory with -o.",
                          *arguments.output);
    }
    if (arguments.rotate || arguments.keep || arguments.max_total) {
        throw usage_error("--rotate, --keep and --max-total limit one sequence of files, and "
                          "--split-by writes a file for each value: leave one of them out.");
    }
    const std::string folder = folder_of(*arguments.output);
    struct stat status {};
    if (::stat(folder.c_str(), &status) == 0) {
        if (!S_ISDIR(status.st_mode)) {
            throw user_error("{} is no directory, which --split-by needs for its files. Give "
                             "another name with -o.",
                             folder);
        }
        if (!arguments.force && !is_empty(folder)) {
            throw user_error("The directory {} is not empty. Give another name with -o, or replace "
                             "files of the same names in it with --force.",
                             folder);
        }
    }
}

void check_split_name(const recording_file_arguments& arguments,
                      const std::vector<provider_instance>& found, const event_patterns& patterns) {
    split_name_check names(name_in_schema(*arguments.split_by));
    const event_choice is_chosen = matches_any_pattern(patterns);
    for (const provider_instance& provider : found) {
        for (const event_schema& event : provider.schema.events) {
            if (is_chosen(provider.schema, event)) {
                names.add(event);
            }
        }
    }
    as_usage_error([&] { names.check(); });
}

std::string split_glob(const recording_file_arguments& arguments) {
    return folder_of(*arguments.output) + "/*.elog";
}

std::string split_rest_path(const recording_file_arguments& arguments) {
    return folder_of(*arguments.output) + '/' + rest_name;
}

split_recording::split_recording(const recording_file_arguments& arguments,
                                 file_sink_options common, std::function<void()> on_failure)
    : name_(name_in_schema(*arguments.split_by)),
      folder_(folder_of(*arguments.output)),
      common_(std::move(common)),
      on_failure_(std::move(on_failure)) {
    common_.recording = generate_identity();
}

std::unique_ptr<record_sink> split_recording::make_sink() {
    auto made = std::make_unique<splitting_sink>(
        name_, values_max(),
        [this](std::optional<std::string_view> value, std::size_t number,
               const region_view& source) { return make_file(value, number, source); },
        on_failure_);
    sink_ = made.get();
    return made;
}

void split_recording::make_directory() {
    const std::string place = follow_links(folder_);
    const bool made = ::mkdir(place.c_str(), 0700) == 0;
    if (made) {
        set_directory_mode(place, directory_mode(common_.mode));
    } else if (errno == EEXIST) {
        check_is_own_directory(place);
    } else {
        throw user_error("The directory {} cannot be created ({}). Give another name with -o.",
                         folder_, std::strerror(errno));
    }
    has_made_directory_ = made;
    folder_ = place;
}

/// The file of the rest is made first, at the start.
std::unique_ptr<record_sink> split_recording::make_file(std::optional<std::string_view> value,
                                                        std::size_t number,
                                                        const region_view& source) {
    if (!value) {
        make_directory();
    }
    file_sink_options options = common_;
    options.path = folder_ + '/' + (value ? value_file_name(name_, *value, number) : rest_name);
    if (value) {
        options.replaced = nullptr;
    }
    const std::string path = options.path;
    const bool is_replaced = ::access(path.c_str(), F_OK) == 0;
    auto made = std::make_unique<file_sink>(std::move(options));
    try {
        made->start(source);
    } catch (const user_error& error) {
        if (dynamic_cast<const disk_full*>(&error) != nullptr && !is_replaced) {
            static_cast<void>(::unlink(path.c_str()));  // nothing in it can be read
        }
        if (!value) {
            remove_directory();
        }
        throw;
    }
    return made;
}

void split_recording::remove_directory() const noexcept {
    if (has_made_directory_) {
        static_cast<void>(::rmdir(folder_.c_str()));
    }
}

void split_recording::report() const {
    if (sink_->beyond_limit() != 0) {
        print_diagnostic("elog: {} events have other values of {} than the first {}, which have a "
                         "file each: these events are in {}/{}.",
                         sink_->beyond_limit(), name_, sink_->values(), folder_, rest_name);
    }
    if (sink_->failure()) {
        throw user_error(*sink_->failure());
    }
    as_usage_error([&] { sink_->check_name(); });
}

}  // namespace elog
