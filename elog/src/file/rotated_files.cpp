// SPDX-License-Identifier: MIT
#include "file/rotated_files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include "base/created_file.hpp"
#include "base/read_at.hpp"
#include "base/user_error.hpp"
#include "file/file_format.hpp"
#include "platform/unique_fd.hpp"

namespace elog {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t digits_min = 6;
constexpr std::size_t digits_max = 18;
constexpr std::uint64_t number_max = 999'999'999'999'999'999;

/// The number between the common beginning and end of the names.
std::optional<std::uint64_t> number_in(std::string_view name, std::string_view begin,
                                       std::string_view end) {
    if (name.size() < begin.size() + end.size() + digits_min || !name.starts_with(begin) ||
        !name.ends_with(end)) {
        return std::nullopt;
    }
    const std::string_view digits =
        name.substr(begin.size(), name.size() - begin.size() - end.size());
    std::uint64_t number = 0;
    const auto [last, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (digits.size() > digits_max || error != std::errc() ||
        last != digits.data() + digits.size()) {
        return std::nullopt;
    }
    return number;
}

std::size_t extension_size(std::string_view path) {
    constexpr std::string_view usual = ".elog";
    return path.size() > usual.size() && path.ends_with(usual) ? usual.size() : 0;
}

/// In a folder of several users, another one can have put a recording there.
bool is_own_file(const eventlog::core::unique_fd& file, const fs::path& path) {
    struct stat status {};
    return !is_in_shared_folder(path.string()) ||
           (::fstat(file.get(), &status) == 0 && status.st_uid == ::geteuid() &&
            status.st_nlink == 1);
}

/// Only recordings may be removed, not other files with a matching name.
bool is_own_recording(const fs::path& path) {
    const eventlog::core::unique_fd file(
        ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    std::uint64_t magic = 0;
    return file && is_own_file(file, path) && read_at(file, &magic, sizeof magic, 0) &&
           magic == file_magic;
}

fs::path folder_of(const fs::path& path) {
    return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

/// The files in the folder of a path that have matching names, by number.
std::map<std::uint64_t, fs::directory_entry> numbered_files(const fs::path& beside,
                                                            std::string_view begin,
                                                            std::string_view end,
                                                            std::error_code& error) {
    std::map<std::uint64_t, fs::directory_entry> found;
    for (fs::directory_iterator entry(folder_of(beside), error), last; !error && entry != last;
         entry.increment(error)) {
        const std::string name = entry->path().filename().string();
        if (const std::optional<std::uint64_t> number = number_in(name, begin, end)) {
            found[*number] = *entry;
        }
    }
    return found;
}

}  // namespace

std::string rotation_glob(const std::string& path) {
    const std::size_t extension = extension_size(path);
    return path.substr(0, path.size() - extension) + "-*" + path.substr(path.size() - extension);
}

std::vector<std::string> later_rotated_files(const std::string& path) {
    const fs::path own(path);
    const std::string name = own.filename().string();
    const std::string end = name.substr(name.size() - extension_size(name));
    const std::string begin = name.substr(0, name.rfind('-') + 1);
    const std::optional<std::uint64_t> number = number_in(name, begin, end);
    if (begin.empty() || !number) {
        return {};
    }
    std::error_code error;
    std::vector<std::string> behind;
    for (const auto& [other, entry] : numbered_files(own, begin, end, error)) {
        if (other > *number) {
            behind.push_back((own.parent_path() / entry.path().filename()).string());
        }
    }
    return behind;
}

rotated_files::rotated_files(const std::string& path)
    : stem_(path.substr(0, path.size() - extension_size(path))),
      extension_(path.substr(stem_.size())) {
    find_existing();
}

void rotated_files::find_existing() {
    const fs::path stem(stem_);
    std::error_code error;
    for (const auto& [number, entry] :
         numbered_files(stem, stem.filename().string() + "-", extension_, error)) {
        std::error_code no_file;
        // Even if it is no recording of this user, its name is in use.
        last_number_ = number;
        if (entry.is_regular_file(no_file) && is_own_recording(entry.path())) {
            add((stem.parent_path() / entry.path().filename()).string(), entry.file_size(no_file));
        }
    }
    if (error) {
        throw user_error("The folder {} cannot be read ({}). Give another name with -o.",
                         folder_of(stem).string(), error.message());
    }
}

std::string rotated_files::next_path() {
    if (last_number_ == number_max) {
        throw user_error(
            "The file {}-{}{} has the last number there is. Remove it, or give another "
            "name with -o.",
            stem_, number_max, extension_);
    }
    return fmt::format("{}-{:0{}}{}", stem_, ++last_number_, digits_min, extension_);
}

void rotated_files::add(std::string path, std::uint64_t size) {
    total_ += size;
    parts_.push_back({std::move(path), size});
}

void rotated_files::remove_oldest() {
    const part& oldest = parts_.front();
    // The open descriptor delays freeing the blocks, so that unlink() returns quickly.
    eventlog::core::unique_fd file(
        ::open(oldest.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
    if (::unlink(oldest.path.c_str()) != 0 && errno != ENOENT) {
        throw user_error("The old file {} cannot be removed ({}). Check the folder's permissions.",
                         oldest.path, std::strerror(errno));
    }
    total_ -= oldest.size;
    parts_.pop_front();
    removed_.close(std::move(file));
}

}  // namespace elog
