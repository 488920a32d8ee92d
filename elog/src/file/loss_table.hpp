// SPDX-License-Identifier: MIT
//
// Losses of rings and providers, one report for each; and records that a file does not have.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "record/loss.hpp"
#include "record/records.hpp"
#include "record/ring_records.hpp"

namespace elog {

class loss_table {
  public:
    /// Adds a report, or replaces the earlier one of the same ring or provider.
    void replace(loss_report loss) {
        const auto [place, is_new] = places_.try_emplace({loss.scope, loss.index}, losses_.size());
        if (is_new) {
            losses_.push_back(std::move(loss));
        } else {
            losses_[place->second] = std::move(loss);
        }
    }

    /// Adds the counts of a ring to its report, which is returned.
    const loss_report& add(const loss_report& loss) {
        const auto known = places_.find({loss.scope, loss.index});
        if (known == places_.end()) {
            replace(loss);
            return losses_.back();
        }
        loss_report& sum = losses_[known->second];
        add_saturating(sum.full, loss.full);
        add_saturating(sum.damaged, loss.damaged);
        add_saturating(sum.overwritten, loss.overwritten);
        add_saturating(sum.unwritten, loss.unwritten);
        return sum;
    }

    [[nodiscard]] const std::vector<loss_report>& all() const noexcept { return losses_; }
    /// The number of lost events.
    [[nodiscard]] std::uint64_t lost() const noexcept {
        std::uint64_t sum = 0;
        for (const loss_report& loss : losses_) {
            add_saturating(sum, lost_count(loss));
        }
        return sum;
    }
    void clear() noexcept {
        losses_.clear();
        places_.clear();
    }

  private:
    std::vector<loss_report> losses_;  // in the order of their first reports
    std::map<std::pair<loss_scope, std::uint32_t>, std::size_t> places_;
};

/// What did not reach the file, or is gone with an earlier one.
struct unwritten_records {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
};

/// Runs that a file does not have, or would not have without its content.
struct missing_runs {
    std::vector<unwritten_records> records;  // by ring
    loss_table losses;                       // of rings: the records, and losses before them

    void add(const record_run& run) {
        loss_report loss =
            trailing_loss(run.ring, run.lost_before, run.overwritten ? run.lost_before : 0);
        loss.unwritten = run.count;
        losses.add(loss);
        records[run.ring].count += run.count;
        records[run.ring].bytes += usual_size(run);
    }

    /// Of the same number of rings.
    void add(const missing_runs& others) {
        for (const loss_report& loss : others.losses.all()) {
            losses.add(loss);
        }
        for (std::size_t ring = 0; ring < records.size(); ++ring) {
            records[ring].count += others.records[ring].count;
            records[ring].bytes += others.records[ring].bytes;
        }
    }

    [[nodiscard]] bool any() const noexcept {
        return std::any_of(records.begin(), records.end(),
                           [](const unwritten_records& ring) { return ring.count != 0; });
    }
};

}  // namespace elog
