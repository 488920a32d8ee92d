// SPDX-License-Identifier: MIT
//
// A recording while it is made: what is in its file, and what comes, also in the files behind that
// one if it goes on in new ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "file/file_reader.hpp"
#include "record/clock_converter.hpp"
#include "record/time_merger.hpp"
#include "schema/provider_schema.hpp"

namespace elog {

class recording_follower {
  public:
    /// A record, and the clock that its time is to be converted with.
    using take_record = std::function<void(const merged_record&, const clock_converter&)>;

    /// Of what stands behind that file on the disk. Throws failure if it cannot be opened or is no
    /// .elog file at all.
    explicit recording_follower(const std::string& path);

    /// Gives out every readable record in the order of time, and waits for what comes, until the
    /// recorder has left or `stop`, asked often, says so; or as many as are enough, which is asked
    /// behind each. `idle` is called when there is nothing to give out for now.
    void follow(const take_record& take, const std::function<void()>& idle,
                const std::function<bool()>& stop, const std::function<bool()>& is_done = {});

    /// Of all files so far: in all files of a recording a number means the same provider.
    [[nodiscard]] const provider_map& providers() const noexcept { return providers_; }
    [[nodiscard]] std::uint32_t shared_ring() const noexcept { return file().shared_ring(); }

    /// The newest file, which is the last one behind follow().
    [[nodiscard]] const file_reader& file() const noexcept { return *files_.back().reader; }
    [[nodiscard]] const std::string& path() const noexcept { return files_.back().path; }
    /// Of the files in front of it, what could not be read: see file_reader::damages.
    [[nodiscard]] const std::vector<std::string>& damages() const noexcept { return damages_; }
    /// Files that were removed before they could be read.
    [[nodiscard]] std::uint64_t missed() const noexcept { return missed_; }

  private:
    struct open_file {
        std::string path;
        std::unique_ptr<file_reader> reader;
        std::size_t providers_seen = 0;
    };
    enum class successor { none, not_yet, opened };

    [[nodiscard]] successor open_next();
    void collect_providers();
    [[nodiscard]] open_file& file_of(std::uint32_t ring);
    [[nodiscard]] std::optional<owned_run> fetch(std::uint32_t ring);
    [[nodiscard]] bool merge(std::uint64_t limit, const take_record& take,
                             const std::function<bool()>& is_done);
    void drop_consumed_files();

    std::deque<open_file> files_;  // those that rings are still in, and the newest
    std::uint64_t dropped_ = 0;    // files in front of these
    std::vector<std::uint64_t>
        file_indexes_;  // by ring: in which file, of all that have been opened
    time_merger merger_;
    provider_map providers_;
    std::vector<std::string> damages_;
    std::uint64_t missed_ = 0;
};

}  // namespace elog
