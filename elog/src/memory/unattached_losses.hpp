// SPDX-License-Identifier: MIT
//
// The events that programs lost because they were not attached to a subscription (yet).
//
// - The counts are in the process files of the programs, with a tag that tells subscriptions of one
//   slot apart. They belong to no ring and to no entry of the region.
// - The file of a program that has ended stays while the subscription exists, if it has such
// counts.
//   Files are also held open, up to a limit, for the last counts of a program that deletes its own.
// - Files are untrusted, as process_file describes: of more than a number of providers only the sum
//   is kept, as that of other processes, and counts are bounded, see count_limit.hpp.
// - One thread uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "memory/count_limit.hpp"
#include "shm/directory.hpp"
#include "shm/process_file.hpp"

namespace elog {

/// Of one provider of one process.
struct unattached_loss {
    std::string provider;
    std::string process;
    std::uint32_t pid = 0;
    std::uint64_t start_time = 0;
    std::uint64_t count = 0;
};

class unattached_losses {
  public:
    /// pid, start time and name of the provider.
    using key = std::tuple<std::uint32_t, std::uint64_t, std::string>;

    /// Of the subscription with that header. `where` outlives this object.
    unattached_losses(const eventlog::core::directory& where, unsigned slot,
                      const eventlog_region& header);

    /// Opens the files of processes that have started since the last call.
    void find_processes();
    /// find_processes(), and reads the counts of all. Has to be called before the end of the
    /// subscription, which clears its bits in gates, and after it.
    void read();

    [[nodiscard]] const std::map<key, unattached_loss>& all() const noexcept { return losses_; }
    /// Whether so many programs have ended with such losses that the files of some may have been
    /// removed unread.
    [[nodiscard]] bool may_be_incomplete() const noexcept { return may_be_incomplete_; }
    /// Whether a program has overwritten a count, which keeps its last possible value.
    [[nodiscard]] bool has_impossible_counts() const noexcept { return has_impossible_counts_; }

  private:
    [[nodiscard]] std::uint64_t read_counts(eventlog::core::process_file& file);
    void add_to_others(std::uint64_t count, std::uint64_t before);
    std::uint64_t accept(count_limit& limit, std::uint64_t count, std::uint64_t before);
    [[nodiscard]] bool is_open(const char* name);

    /// Providers with an entry of their own.
    std::size_t losses_max_;
    const eventlog::core::directory& where_;
    unsigned slot_;
    std::uint64_t serial_;
    std::map<std::string, std::unique_ptr<eventlog::core::process_file>> files_;  // by name
    std::map<key, unattached_loss> losses_;  // only those with a count
    count_limit none_;                       // at the begin of the subscription
    count_limit others_;
    /// What is included of each published entry, by inode, offset and generation: one provider may
    /// be published several times, and each time counts from 0.
    std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint32_t>, count_limit> included_;
    std::uint64_t final_others_ = 0;  // of entries without a place there, in files that were closed
    bool may_be_incomplete_ = false;
    bool has_impossible_counts_ = false;
};

}  // namespace elog
