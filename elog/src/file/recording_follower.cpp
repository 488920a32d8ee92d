// SPDX-License-Identifier: MIT
#include "file/recording_follower.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "file/block_contents.hpp"
#include "file/rotated_files.hpp"

namespace elog {
namespace {

// Polling interval for a growing file.
constexpr std::chrono::milliseconds follower_look_interval{50};
// Most polls in a row for a file that is still empty: a live recorder fills it soon.
constexpr int waits_max = 20;

/// Reads only the beginning of the file, unless that is damaged.
std::optional<recording_host> read_host(const std::string& path) {
    try {
        block_file file(path);
        return find_recording_host(file);
    } catch (const user_error&) {  // removed meanwhile, or another kind of file
        return std::nullopt;
    }
}

bool is_later_part(const recording_host& later, const recording_host& of) {
    return later.recording == of.recording && later.part > of.part &&
           later.ring_count == of.ring_count && later.clock == of.clock;
}

}  // namespace

recording_follower::recording_follower(const std::string& path)
    : recording_follower(path, {}, {}) {}

recording_follower::recording_follower(const std::string& path, std::function<void()> grow,
                                       growth_check is_growing)
    : grow_(std::move(grow)), merger_(0, [this](std::uint32_t ring) { return fetch(ring); }) {
    files_.push_back(
        {path, std::make_unique<file_reader>(path, time_range(), std::move(is_growing))});
    file_indexes_.assign(file().host().ring_count, 0);
    merger_.add_rings(file().host().ring_count);
    collect_metadata();
}

/// Opens the next file of the recording. The recorder holds a file's lock until it has created the
/// next one, so when the lock is free, the next file exists, or a later one if that was removed.
recording_follower::successor recording_follower::open_next() {
    const recording_host& host = file().host();
    if (grow_ || host.part == 0) {
        return successor::none;  // a recording without parts has no next file
    }
    bool may_come = false;
    for (const std::string& later : later_rotated_files(path())) {
        std::error_code error;
        const std::uintmax_t size = std::filesystem::file_size(later, error);
        if (error || size == 0) {
            // Testing the lock of a file that its recorder has not locked yet would make the
            // recorder fail.
            may_come = may_come || !error;
            continue;
        }
        const std::optional<recording_host> other = read_host(later);
        if (!other || !is_later_part(*other, host)) {
            continue;
        }
        try {
            files_.push_back({later, std::make_unique<file_reader>(later)});
        } catch (const user_error&) {  // removed meanwhile; a later file exists then
            may_come = true;
            continue;
        }
        missed_ += other->part - host.part - 1;
        marks_of_last_file_ = std::exchange(marks_of_file_, {});
        collect_metadata();
        return successor::opened;
    }
    return may_come ? successor::not_yet : successor::none;
}

void recording_follower::collect_metadata() {
    open_file& newest = files_.back();
    const provider_map& found = newest.reader->providers();
    if (found.size() != newest.providers_seen) {
        newest.providers_seen = found.size();
        for (const auto& [id, provider] : found) {
            providers_.try_emplace(id, provider);
        }
    }
    collect_marks();
}

/// Of a merged recording, the numbers of pauses do not rise with time.
void recording_follower::collect_marks() {
    for (const recording_mark& mark : files_.back().reader->take_marks()) {
        const bool is_first = file().host().part == 0 || marks_of_file_.insert(mark).second;
        if (is_first && !marks_of_last_file_.contains(mark)) {
            marks_.push_back(mark);
        }
    }
}

recording_follower::open_file& recording_follower::file_of(std::uint32_t ring) {
    return files_[file_indexes_[ring] - dropped_];
}

/// The next run of a ring. Its records in one file precede those in the next.
std::optional<owned_run> recording_follower::fetch(std::uint32_t ring) {
    while (true) {
        std::optional<owned_run> run = file_of(ring).reader->next_run(ring);
        if (run || file_indexes_[ring] + 1 == dropped_ + files_.size()) {
            return run;
        }
        ++file_indexes_[ring];
    }
}

bool recording_follower::merge(std::uint64_t limit, const take_record& take,
                               const std::function<bool()>& is_done) {
    merger_.begin(limit, UINT64_MAX);
    while (const std::optional<merged_record> record = merger_.next()) {
        take(*record, file_of(record->ring).reader->clock());
        if (is_done && is_done()) {
            return false;
        }
    }
    return true;
}

/// Without this, memory would grow with a recording that runs for days.
void recording_follower::drop_consumed_files() {
    const std::uint64_t first = *std::min_element(file_indexes_.begin(), file_indexes_.end());
    for (; dropped_ < first; ++dropped_) {
        for (const std::string& damage : files_.front().reader->damages()) {
            damages_.push_back(fmt::format("{}: {}", files_.front().path, damage));
        }
        files_.pop_front();
    }
    for (open_file& each : files_) {
        each.reader->discard_consumed_locations();
    }
}

void recording_follower::wait() {
    if (grow_) {
        grow_();
    } else {
        std::this_thread::sleep_for(follower_look_interval);
    }
}

void recording_follower::follow(const take_record& take, const std::function<void()>& idle,
                                const std::function<bool()>& stop,
                                const std::function<bool()>& is_done) {
    int waits = 0;
    while (!stop()) {
        if (!file().is_being_written()) {
            const successor next = open_next();
            waits = next == successor::not_yet ? waits + 1 : 0;
            if (next == successor::none || waits > waits_max) {
                break;
            }
        }
        // An earlier record of another ring may still follow after the watermark.
        if (!merge(file().watermark(), take, is_done)) {
            idle();
            return;
        }
        drop_consumed_files();
        idle();
        if (file().is_being_written() || waits != 0) {
            wait();
            files_.back().reader->refresh();
            collect_metadata();
        }
    }
    const bool is_everything = merge(UINT64_MAX, take, is_done);
    if (grow_ && is_everything) {
        files_.back().reader->compare_with_end_block();
    }
    drop_consumed_files();
    idle();
}

}  // namespace elog
