// SPDX-License-Identifier: MIT
#include "memory/unattached_losses.hpp"

#include <fcntl.h>
#include <linux/eventlog.h>
#include <sys/stat.h>

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "platform/error_text.hpp"
#include "schema/schema.hpp"

namespace elog {

namespace core = eventlog::core;

namespace {

// Most descriptors held. Programs beyond it are read while they run.
constexpr std::size_t files_max = 512;
// Bounds memory: hostile files may name any number of providers.
constexpr std::size_t losses_max = EVENTLOG_PROVIDERS_MAX;
constexpr int tries_max = 100;

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
                                     std::uint64_t serial)
    : where_(where), slot_(slot), serial_(serial) {}

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
    read_counts(*known->second);
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
    find_processes();
    std::set<std::string> present;
    core::folder_listing names(where_.processes);
    core::error_text ignored;
    while (const char* name = names.next()) {
        present.emplace(name);
        core::process_file other;
        if (!is_open(name) && other.open(where_, name, ignored)) {
            read_counts(other);
        }
    }
    // The counts of a file without a name are final.
    std::erase_if(files_, [&](const auto& each) {
        read_counts(*each.second);
        return !present.contains(each.first);
    });
}

std::uint64_t unattached_losses::count_of(const core::process_file& file,
                                          const core::published_provider& provider) const {
    std::uint32_t early = provider.entry().early[slot_];
    for (int tries = 0; tries < tries_max; ++tries) {
        eventlog_counters_page page{};
        if (!provider.read_counters(page)) {
            return 0;
        }
        const std::uint64_t word = page.unattached[slot_];
        const std::uint64_t count =
            word >> EVENTLOG_UNATTACHED_COUNT_BITS == EVENTLOG_UNATTACHED_TAG(serial_)
                ? word & EVENTLOG_UNATTACHED_COUNT_MASK
                : 0;
        // The process moves the early ones to the word above when it has mapped the gate.
        std::uint32_t now = 0;
        if (provider.read_early(slot_, now) && now == early) {
            early &= ~EVENTLOG_EARLY_LISTENS;
            return early != 0 && file.read_slot_serial(slot_) == serial_ ? count + early : count;
        }
        early = now;
    }
    return 0;  // it changes all the time; the next call finds it
}

void unattached_losses::read_counts(core::process_file& file) {
    for (core::published_provider provider(file); provider.next();) {
        const std::uint64_t count = count_of(file, provider);
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
        if (included_.size() >= losses_max && !included_.contains(entry)) {
            continue;
        }
        unattached_loss& loss = losses_[who];
        loss.provider = std::move(name);
        loss.process = static_cast<const char*>(process.process);
        loss.pid = process.pid;
        loss.start_time = process.start_time;
        std::uint64_t& included = included_[entry];
        if (count > included) {
            loss.count += count - included;
            included = count;
        }
    }
}

}  // namespace elog
