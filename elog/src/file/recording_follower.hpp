// SPDX-License-Identifier: MIT
//
// Follows a recording while it is made: the records in its file, those appended later, and those in
// the files that follow it after rotation; or in the growing copy of a pipe. One thread uses a
// follower.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "file/file_reader.hpp"
#include "record/clock_converter.hpp"
#include "record/recording_mark.hpp"
#include "record/time_merger.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

class recording_follower {
  public:
    /// A record, and the clock that converts its time.
    using take_record = std::function<void(const merged_record&, const clock_converter&)>;

    /// Starts with the first record of that file. Throws user_error if it cannot be opened or is no
    /// .elog file.
    explicit recording_follower(const std::string& path);
    /// Of one file only. `grow` waits a short time for more of it, as long as it is growing.
    recording_follower(const std::string& path, std::function<void()> grow,
                       growth_check is_growing);

    /// Passes every readable record to `take` in the order of time, and waits for more until the
    /// recorder has finished, or until `stop` (polled often) or `is_done` (called after each
    /// record) returns true. `idle` is called when no record is available.
    void follow(const take_record& take, const std::function<void()>& idle,
                const std::function<bool()>& stop, const std::function<bool()>& is_done = {});

    /// The providers of all files so far. A provider's number is the same in all files of a
    /// recording.
    [[nodiscard]] const provider_map& providers() const noexcept { return providers_; }
    /// Moves out the begins and ends of pauses that were found since the last call, in order: those
    /// before a record are found before it.
    [[nodiscard]] std::vector<recording_mark> take_marks() { return std::exchange(marks_, {}); }
    [[nodiscard]] std::uint32_t shared_ring() const noexcept { return file().shared_ring(); }

    /// The newest file; after follow(), the last one.
    [[nodiscard]] const file_reader& file() const noexcept { return *files_.back().reader; }
    [[nodiscard]] const std::string& path() const noexcept { return files_.back().path; }
    /// Messages about unreadable data of the files before it: see file_reader::damages.
    [[nodiscard]] const std::vector<std::string>& damages() const noexcept { return damages_; }
    /// No earlier part of a single file will be read.
    [[nodiscard]] std::uint64_t first_unread() const noexcept { return file().first_unread(); }
    /// Number of files that were removed before they could be read.
    [[nodiscard]] std::uint64_t missed() const noexcept { return missed_; }

  private:
    struct open_file {
        std::string path;
        std::unique_ptr<file_reader> reader;
        std::size_t providers_seen = 0;
    };
    enum class successor { none, not_yet, opened };

    [[nodiscard]] successor open_next();
    void wait();
    void collect_metadata();
    void collect_marks();
    [[nodiscard]] open_file& file_of(std::uint32_t ring);
    [[nodiscard]] std::optional<owned_run> fetch(std::uint32_t ring);
    [[nodiscard]] bool merge(std::uint64_t limit, const take_record& take,
                             const std::function<bool()>& is_done);
    void drop_consumed_files();

    std::function<void()> grow_;   // for one file only
    std::deque<open_file> files_;  // from the oldest file that a ring still reads to the newest
    std::uint64_t dropped_ = 0;    // files removed from the front
    std::vector<std::uint64_t>
        file_indexes_;  // by ring: in which file, of all that have been opened
    time_merger merger_;
    provider_map providers_;
    std::vector<recording_mark> marks_;
    // With parts: each repeats the begin of a pause that goes on since the one before it.
    std::set<recording_mark> marks_of_file_;
    std::set<recording_mark> marks_of_last_file_;
    std::vector<std::string> damages_;
    std::uint64_t missed_ = 0;
};

}  // namespace elog
