// SPDX-License-Identifier: MIT
//
// Losses of rings and providers, one report for each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "record/loss.hpp"

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

    /// Adds the counts of a ring to its report.
    void add(const loss_report& loss) {
        const auto known = places_.find({loss.scope, loss.index});
        if (known == places_.end()) {
            replace(loss);
            return;
        }
        loss_report& sum = losses_[known->second];
        add_saturating(sum.full, loss.full);
        add_saturating(sum.damaged, loss.damaged);
        add_saturating(sum.overwritten, loss.overwritten);
        add_saturating(sum.unwritten, loss.unwritten);
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

}  // namespace elog
