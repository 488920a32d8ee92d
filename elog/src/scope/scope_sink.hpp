// SPDX-License-Identifier: MIT
//
// A record_sink in front of another one that passes only the records of a command's processes.
//
// Records and losses of undecided processes pass too, so that no event of the command is missing.
// The losses of a full ring always pass, because the ring counts them without their processes. All
// records are counted: those that arrive are those that pass and those of other processes.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "record/record_sink.hpp"
#include "record/recording_summary.hpp"
#include "scope/command_scope.hpp"

namespace elog {

class scope_sink : public record_sink {
  public:
    /// Both must outlive the sink.
    scope_sink(command_scope& scope, record_sink& next) : scope_(scope), downstream_(next) {}

    void start(const region_view& source) override;
    void take_clock(const eventlog_clock_sample& pair) override { downstream_.take_clock(pair); }
    /// The verdict about the provider's process is final. A provider of another process is passed
    /// on only if losses of it are reported.
    void take_provider(const provider_instance& provider) override;
    void take_run(const record_run& run) override;
    void take_loss(const loss_report& loss) override;
    void note_loss(const loss_report& loss) override;
    void take_mark(const recording_mark& mark) override { downstream_.take_mark(mark); }
    void advance(std::uint64_t time, std::uint64_t present) override {
        downstream_.advance(time, present);
    }
    void check() override { downstream_.check(); }
    void finish() override;

    /// Records of other processes, which did not pass.
    [[nodiscard]] std::uint64_t outside() const noexcept { return outside_; }
    /// Records that passed although it is unknown whether their processes belong to the command,
    /// and the number of these processes.
    [[nodiscard]] std::uint64_t undecided() const noexcept { return undecided_; }
    [[nodiscard]] std::size_t undecided_processes() const noexcept {
        return undecided_processes_.size();
    }
    /// Losses that other processes have counted, which did not pass.
    [[nodiscard]] std::uint64_t lost_outside() const noexcept;
    /// Removes the records of other processes, and their losses, from the summary of all records.
    void subtract_outside(recording_summary& summary) const;

  private:
    struct ring_state {
        std::uint64_t unreported = 0;  // lost before a record that did not pass
        std::uint64_t next = 0;        // number of the next record: passed and lost before it
        bool overwritten = false;      // applies to `unreported`
        std::uint64_t outside = 0;     // records
        std::uint64_t outside_bytes = 0;
    };
    struct known_provider {
        std::optional<scope_verdict> verdict;  // nothing: of the kernel, so decided by thread
        std::uint32_t pid = 0;
        std::uint64_t start_time = 0;
    };

    [[nodiscard]] bool passes(const record_view& record);
    [[nodiscard]] bool is_outside(const loss_report& loss);
    [[nodiscard]] std::optional<loss_report> passing_part(const loss_report& loss);
    void pass_provider_of(const loss_report& loss);
    void count_undecided(std::uint32_t pid, std::uint64_t start_time);
    void filter_run(record_run& run, ring_state& ring);

    command_scope& scope_;
    record_sink& downstream_;
    std::unordered_map<std::uint32_t, known_provider> providers_;
    std::unordered_map<std::uint32_t, provider_instance> outside_providers_;
    std::unordered_map<std::uint32_t, loss_report> outside_losses_;  // the last ones, by provider
    bool all_inside_ = true;  // each known provider's process
    std::vector<ring_state> rings_;
    std::vector<std::uint8_t> kept_;
    std::set<std::pair<std::uint32_t, std::uint64_t>> undecided_processes_;
    std::uint64_t outside_ = 0;
    std::uint64_t undecided_ = 0;
};

}  // namespace elog
