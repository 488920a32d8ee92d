// SPDX-License-Identifier: MIT
#include "capture/program_losses.hpp"

#include <fcntl.h>
#include <linux/eventlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/saturating.hpp"
#include "base/user_error.hpp"
#include "platform/error_text.hpp"
#include "provider/counters.hpp"
#include "record/ring_records.hpp"
#include "ring/clock.hpp"
#include "schema/provider_schema.hpp"
#include "shm/subscription_file.hpp"

namespace elog {

namespace core = eventlog::core;

namespace {

constexpr std::uint64_t look_interval = 1'000'000'000;  // nanoseconds
// Most descriptors held. The files of further programs are opened for each look.
constexpr std::size_t files_max = 128;
// Bounds memory: hostile files may name any number of providers.
constexpr std::size_t entries_max = EVENTLOG_PROVIDERS_MAX;
// The last provider numbers of a recording. Those of its providers end below.
constexpr std::uint32_t numbers_max = 4096;
constexpr std::uint32_t last_number = record_provider_max;

std::uint64_t now() {
    return core::read_clock(EVENTLOG_CLOCK_MONOTONIC);
}

std::uint64_t count_cpus() {
    return static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_CONF)));
}

}  // namespace

program_losses::program_losses(const event_patterns& patterns, process_filter is_wanted)
    : patterns_(patterns), is_wanted_(std::move(is_wanted)), cpus_(count_cpus()), begin_(now()) {
    core::directory where;
    core::error_text ignored;  // without a directory, no program is published in it
    static const core::directory_path path = core::current_directory();  // messages refer to it
    if (where.create(path, ignored)) {
        where_ = std::move(where);
        lock_.emplace(*where_);
        may_be_incomplete_ = !lock_->held();
    }
    read_files();
    is_first_ = false;
    next_look_ = begin_ + look_interval;
}

/// Removes the files that have stayed for this recording, unless there is another one.
program_losses::~program_losses() {
    lock_.reset();
    if (!where_) {
        return;
    }
    // Without waiting: the next program or command that has the lock removes them otherwise.
    if (const core::directory_lock lock(*where_); lock.held()) {
        core::remove_dead_processes(*where_);
    }
}

bool program_losses::look() {
    const std::uint64_t present = now();
    if (present < next_look_) {
        return false;
    }
    read_files();
    next_look_ = present + look_interval;
    return true;
}

void program_losses::end() {
    read_files();
}

/// Whether the file of that name is held open. A program that publishes again, or that another one
/// executes in its process, gives the name to a new file; the counts of the old one are final.
bool program_losses::is_open(const char* name) {
    const auto known = files_.find(name);
    if (known == files_.end()) {
        return false;
    }
    struct stat status {};
    if (::fstatat(where_->processes.get(), name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        status.st_ino == known->second->inode()) {
        return true;
    }
    read_file(*known->second);
    files_.erase(known);
    return false;
}

void program_losses::read_files() {
    if (!where_) {
        return;
    }
    std::set<std::string> present;
    core::folder_listing names(where_->processes);
    core::error_text ignored;
    while (const char* name = names.next()) {
        present.emplace(name);
        if (is_open(name)) {
            continue;
        }
        auto file = std::make_unique<core::process_file>();
        if (!file->open(*where_, name, ignored)) {
            continue;  // removed meanwhile, or not a process file
        }
        if (files_.size() < files_max) {
            files_.emplace(name, std::move(file));
        } else {
            read_file(*file);
        }
    }
    // The counts of a file without a name are final.
    std::erase_if(files_, [&](const auto& each) {
        read_file(*each.second);
        return !present.contains(each.first);
    });
    may_be_incomplete_ = may_be_incomplete_ || present.size() >= core::unread_files_max;
}

void program_losses::read_file(core::process_file& file) {
    for (core::published_provider provider(file, core::published_provider::which::with_counted);
         provider.next();) {
        read_entry(file, provider);
    }
}

void program_losses::read_entry(core::process_file& file,
                                const core::published_provider& provider) {
    const std::uint64_t before = now();
    eventlog_counters_page page{};
    if (!provider.read_counters(page)) {
        return;  // withdrawn: its counts are those of the look before
    }
    const std::uint64_t after = core::read_clock_ordered(EVENTLOG_CLOCK_MONOTONIC);
    const eventlog_route_counters found = core::sum_counters(page, EVENTLOG_COUNTERS_USER_EVENTS);
    const counts present{found.lost_too_large, found.lost_busy, found.lost_unattached,
                         found.lost_refused};
    const entry_key key(provider.process().start_time, file.inode(), provider.entry_offset(),
                        provider.entry().generation);
    auto known = entries_.find(key);
    if (known == entries_.end()) {
        if (present == counts{}) {
            return;
        }
        if (entries_.size() == entries_max) {
            may_be_incomplete_ = true;
            return;
        }
        known = entries_.emplace(key, make_entry(provider)).first;
        known->second.before = is_first_ ? present : counts{};
        for (const std::uint64_t count : known->second.before) {
            known->second.limits.emplace_back(begin_, cpus_, count);
        }
        if (known->second.is_wanted) {
            known->second.number = last_number - std::min(numbers_used_, numbers_max - 1);
            ++numbers_used_;
        }
    }
    for (std::size_t i = 0; i < present.size(); ++i) {
        count_limit& limit = known->second.limits[i];
        // A lower count is that of a provider that was withdrawn while it was read.
        const bool is_possible = limit.take(std::max(limit.count(), present[i]), before, after);
        has_impossible_counts_ =
            has_impossible_counts_ || (known->second.is_wanted && !is_possible);
    }
}

program_losses::entry program_losses::make_entry(const core::published_provider& provider) const {
    entry made;
    std::vector<std::uint8_t> bytes(provider.entry().schema_size);
    const eventlog_process_file& process = provider.process();
    made.process = static_cast<const char*>(process.process);
    made.pid = process.pid;
    made.start_time = process.start_time;
    try {
        if (!provider.read_schema(bytes) || (is_wanted_ && !is_wanted_(made.pid, made.process))) {
            return made;
        }
        const provider_schema schema = provider_schema::parse(bytes);
        made.provider = schema.name;
        made.is_wanted =
            std::any_of(schema.events.begin(), schema.events.end(), [&](const event_schema& event) {
                return patterns_.matches(schema, event);
            });
    } catch (const user_error&) {  // a damaged schema
    }
    return made;
}

program_losses::counts program_losses::lost_by(const entry& each) {
    counts lost{};
    for (std::size_t i = 0; each.is_wanted && i < lost.size(); ++i) {
        lost[i] = each.limits[i].count() - each.before[i];
    }
    return lost;
}

std::vector<loss_report> program_losses::reports() const {
    std::vector<loss_report> reports;
    loss_report others = provider_loss(last_number - (numbers_max - 1), 0, 0, 0);
    others.process = other_processes;
    for (const auto& [key, each] : entries_) {
        const auto [too_large, busy, unattached, refused] = lost_by(each);
        loss_report loss = provider_loss(each.number, 0, too_large, busy);
        loss.unattached = unattached;
        loss.refused = refused;
        if (lost_count(loss) == 0) {
            continue;
        }
        if (loss.index == others.index) {
            add_saturating(others.too_large, too_large);
            add_saturating(others.busy, busy);
            add_saturating(others.unattached, unattached);
            add_saturating(others.refused, refused);
            continue;
        }
        loss.provider = each.provider;
        loss.process = each.process;
        loss.pid = each.pid;
        loss.start_time = each.start_time;
        reports.push_back(std::move(loss));
    }
    if (lost_count(others) != 0) {
        reports.push_back(std::move(others));
    }
    return reports;
}

void program_losses::add_to(recording_summary& summary, bool is_end) const {
    for (const loss_report& loss : reports()) {
        add_saturating(summary.too_large, loss.too_large);
        add_saturating(summary.busy, loss.busy);
        add_saturating(summary.unattached, loss.unattached);
        add_saturating(summary.refused, loss.refused);
        add_saturating(summary.lost, lost_count(loss));
        if (is_end) {
            provider_losses lost;
            lost.too_large = loss.too_large;
            lost.busy = loss.busy;
            lost.unattached = loss.unattached;
            lost.refused = loss.refused;
            summary.lossy_providers.push_back({loss.provider, loss.process, loss.pid, lost});
        }
    }
    summary.has_unread_losses = summary.has_unread_losses || may_be_incomplete_;
    summary.has_impossible_counts = summary.has_impossible_counts || has_impossible_counts_;
}

void program_loss_sink::finish() {
    losses_.end();
    for (const loss_report& loss : losses_.reports()) {
        next_.take_loss(loss);
    }
    next_.finish();
}

}  // namespace elog
