// SPDX-License-Identifier: MIT
#include "memory/unattached_losses.hpp"

#include <fcntl.h>
#include <linux/eventlog.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/saturating.hpp"
#include "base/test_override.hpp"
#include "platform/error_text.hpp"
#include "record/loss.hpp"
#include "ring/clock.hpp"
#include "schema/schema.hpp"
#include "shm/subscription_file.hpp"

namespace elog {

namespace core = eventlog::core;

namespace {

// Most descriptors held. Programs beyond it are read while they run.
constexpr std::size_t files_max = 512;
// Bounds memory: hostile files may name any number of providers.
constexpr std::uint64_t losses_max = EVENTLOG_PROVIDERS_MAX;

/// Empty if the provider has been withdrawn.
std::string published_name(const core::published_provider& provider) {
    std::vector<std::uint8_t> bytes(provider.entry().schema_size);
    core::schema_reader schema;
    core::error_text ignored;
    return provider.read_schema(bytes) && schema.open(bytes, ignored)
               ? std::string(schema.provider())
               : std::string();
}

}  // namespace

unattached_losses::unattached_losses(const core::directory& where, unsigned slot,
                                     const eventlog_region& header)
    : losses_max_(test_override("EVENTLOG_TEST_LOSSES_MAX", losses_max, 1, losses_max)),
      where_(where),
      slot_(slot),
      serial_(header.serial),
      none_(header.clock_start.monotonic, header.ring_count),
      others_(none_) {}

/// The last possible value of a count that was read after the time `before`. A lower one is no
/// other value: the process has withdrawn the provider, or is moving early events to the counters.
std::uint64_t unattached_losses::accept(count_limit& limit, std::uint64_t count,
                                        std::uint64_t before) {
    const std::uint64_t after = core::read_clock_ordered(EVENTLOG_CLOCK_MONOTONIC);
    has_impossible_counts_ =
        !limit.take(std::max(count, limit.count()), before, after) || has_impossible_counts_;
    return limit.count();
}

/// Whether the file of that name is held open. A program that another one has executed in the same
/// process leaves it name and file behind, whose counts are final.
bool unattached_losses::is_open(const char* name) {
    const auto known = files_.find(name);
    if (known == files_.end()) {
        return false;
    }
    struct stat status {};
    if (::fstatat(where_.processes.get(), name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        status.st_ino == known->second->inode()) {
        return true;  // without a name, read() closes it
    }
    add_saturating(final_others_, read_counts(*known->second));
    files_.erase(known);
    return false;
}

void unattached_losses::find_processes() {
    core::folder_listing names(where_.processes);
    core::error_text ignored;
    while (const char* name = names.next()) {
        if (files_.size() == files_max) {
            return;
        }
        if (is_open(name)) {
            continue;
        }
        auto file = std::make_unique<core::process_file>();
        if (file->open(where_, name, ignored)) {
            files_.emplace(name, std::move(file));
        }
    }
}

void unattached_losses::read() {
    const std::uint64_t before = core::read_clock(EVENTLOG_CLOCK_MONOTONIC);
    find_processes();
    std::uint64_t others = 0;
    std::set<std::string> present;
    core::folder_listing names(where_.processes);
    core::error_text ignored;
    while (const char* name = names.next()) {
        present.emplace(name);
        core::process_file other;
        if (!is_open(name) && other.open(where_, name, ignored)) {
            add_saturating(others, read_counts(other));
        }
    }
    // The counts of a file without a name are final.
    std::erase_if(files_, [&](const auto& each) {
        const bool is_final = !present.contains(each.first);
        add_saturating(is_final ? final_others_ : others, read_counts(*each.second));
        return is_final;
    });
    add_to_others(saturating_sum(final_others_, others), before);
    may_be_incomplete_ = may_be_incomplete_ || present.size() >= core::unread_files_max;
}

/// A count falls when a file is removed, but what was lost stays lost.
void unattached_losses::add_to_others(std::uint64_t count, std::uint64_t before) {
    if (const std::uint64_t possible = accept(others_, count, before); possible != 0) {
        unattached_loss& loss = losses_[key()];
        loss.process = other_processes;
        loss.count = possible;
    }
}

/// Returns the events of entries without a place of their own.
std::uint64_t unattached_losses::read_counts(core::process_file& file) {
    std::uint64_t others = 0;
    for (core::published_provider provider(file, core::published_provider::which::with_counted);
         provider.next();) {
        const std::uint64_t before = core::read_clock(EVENTLOG_CLOCK_MONOTONIC);
        const std::uint64_t count = provider.read_unattached(slot_, serial_);
        if (count == 0) {
            continue;
        }
        const eventlog_process_file& process = provider.process();
        std::string name = published_name(provider);
        if (name.empty()) {
            continue;
        }
        const key who(process.pid, process.start_time, name);
        const auto entry =
            std::tuple(file.inode(), provider.entry_offset(), provider.entry().generation);
        if (included_.size() >= losses_max_ && !included_.contains(entry)) {
            add_saturating(others, count);
            continue;
        }
        count_limit& limit = included_.try_emplace(entry, none_).first->second;
        const std::uint64_t included = limit.count();
        const std::uint64_t possible = accept(limit, count, before);
        if (possible == included) {
            continue;
        }
        unattached_loss& loss = losses_[who];
        loss.provider = std::move(name);
        loss.process = static_cast<const char*>(process.process);
        loss.pid = process.pid;
        loss.start_time = process.start_time;
        loss.count += possible - included;
    }
    return others;
}

}  // namespace elog
