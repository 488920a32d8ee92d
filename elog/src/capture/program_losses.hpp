// SPDX-License-Identifier: MIT
//
// The events that programs lost on their way to the kernel: too large, rejected, or emitted before
// the program was attached to the kernel's tracing.
//
// - No buffer of the kernel has a trace of them. The counts are in the process files of programs,
//   in the directory of this user, one for all listeners in the kernel together. Those of a
//   provider are included if the patterns select one of its events: there are never too few.
// - Programs that end meanwhile leave their files (kernel_loss_reader). Files are also held open,
//   up to a limit, for the last counts of a program that deletes or replaces its own.
// - Files are untrusted: counts that are not possible keep their last possible values, see
//   count_limit.hpp, and are reported. Only providers with counts have entries.
// - One thread uses it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "memory/count_limit.hpp"
#include "record/loss.hpp"
#include "record/record_sink.hpp"
#include "record/recording_summary.hpp"
#include "schema/patterns.hpp"
#include "shm/directory.hpp"
#include "shm/kernel_losses.hpp"
#include "shm/process_file.hpp"

namespace elog {

class program_losses {
  public:
    using process_filter = std::function<bool(std::uint32_t pid, const std::string& name)>;

    /// What programs have lost until now belongs to earlier recordings. The patterns outlive this
    /// object; an empty filter selects all processes.
    program_losses(const event_patterns& patterns, process_filter is_wanted);
    ~program_losses();
    program_losses(const program_losses&) = delete;
    program_losses& operator=(const program_losses&) = delete;

    /// Finds programs that have started, and reads all counts; at most once a second. Returns
    /// whether it has done so.
    bool look();
    /// Reads the counts for the last time.
    void end();

    /// One for each provider and process that has lost events; of the last ones the sum, as that of
    /// other processes. Each keeps its number. The numbers are none of kernel_trace_run_builder.
    [[nodiscard]] std::vector<loss_report> reports() const;
    /// Adds them to the counts of the kernel's buffers. With `is_end`, also by provider.
    void add_to(recording_summary& summary, bool is_end) const;

  private:
    // In the order of the members of loss_report: too large, busy, unattached, refused.
    using counts = std::array<std::uint64_t, 4>;
    struct entry {
        bool is_wanted = false;
        counts before{};                  // the recording
        std::vector<count_limit> limits;  // of each count, as of the last look
        std::uint32_t number = 0;
        std::string provider;
        std::string process;
        std::uint32_t pid = 0;
        std::uint64_t start_time = 0;
    };
    /// Start time, inode, offset and generation: a provider may be published several times, and
    /// each time counts from 0.
    using entry_key = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t>;

    void read_files();
    [[nodiscard]] bool is_open(const char* name);
    void read_file(eventlog::core::process_file& file);
    void read_entry(eventlog::core::process_file& file,
                    const eventlog::core::published_provider& provider);
    [[nodiscard]] entry make_entry(const eventlog::core::published_provider& provider) const;
    [[nodiscard]] static counts lost_by(const entry& each);

    const event_patterns& patterns_;
    process_filter is_wanted_;
    std::optional<eventlog::core::directory> where_;  // none if it cannot be used
    std::optional<eventlog::core::kernel_loss_reader> lock_;
    std::map<std::string, std::unique_ptr<eventlog::core::process_file>> files_;  // by name
    std::map<entry_key, entry> entries_;
    std::uint32_t numbers_used_ = 0;
    bool is_first_ = true;
    bool may_be_incomplete_ = false;
    bool has_impossible_counts_ = false;
    std::uint64_t cpus_;
    std::uint64_t begin_;  // on CLOCK_MONOTONIC, as the next one
    std::uint64_t next_look_ = 0;
};

/// Passes on what it receives, and the losses of programs at the end.
class program_loss_sink final : public record_sink {
  public:
    /// All three outlive this object's calls.
    program_loss_sink(record_sink& next, program_losses& losses) : next_(next), losses_(losses) {}

    void start(const region_view& source) override { next_.start(source); }
    void take_clock(const eventlog_clock_sample& pair) override { next_.take_clock(pair); }
    void take_provider(const provider_instance& provider) override {
        next_.take_provider(provider);
    }
    void take_run(const record_run& run) override { next_.take_run(run); }
    void take_loss(const loss_report& loss) override { next_.take_loss(loss); }
    void note_loss(const loss_report& loss) override { next_.note_loss(loss); }
    void take_mark(const recording_mark& mark) override { next_.take_mark(mark); }
    void advance(std::uint64_t time, std::uint64_t present) override {
        next_.advance(time, present);
    }
    void check() override { next_.check(); }
    void finish() override;

  private:
    record_sink& next_;
    program_losses& losses_;
};

}  // namespace elog
