// SPDX-License-Identifier: MIT
#include "ratio_table.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "failure.hpp"

namespace bench {
namespace {

// With more losses, a figure of the enabled emit includes the cost of losing events.
constexpr double tolerable_loss = 0.001;

/// The quantile `part` of the values, which are sorted and not empty.
double quantile(const std::vector<double>& sorted, double part) {
    const double place = part * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(place);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

double loss_of(const listener_summary& summary) {
    const auto attempted = static_cast<double>(summary.events + summary.lost);
    return attempted == 0 ? 0 : static_cast<double>(summary.lost) / attempted;
}

std::string describe(const listener_summary& summary) {
    return fmt::format("{} of {} ({:.3f} %)", summary.lost, summary.events + summary.lost,
                       100 * loss_of(summary));
}

}  // namespace

bool collecting_reporter::ReportContext(const Context& /*context*/) {
    return true;
}

void collecting_reporter::ReportRuns(const std::vector<Run>& runs) {
    for (const Run& run : runs) {
        if (run.run_type == Run::RT_Iteration) {
            nanoseconds_[run.run_name.function_name].push_back(run.GetAdjustedRealTime());
            if (const auto pair = run.counters.find(name::ratio_of_pair);
                pair != run.counters.end()) {
                pairs_[run.run_name.function_name].push_back(pair->second.value);
            }
        }
    }
}

ratio_table::ratio_table(const collecting_reporter& reporter, const listeners::outcome& outcome)
    : too_much_lost_(loss_of(outcome.enabled) > tolerable_loss) {
    const collecting_reporter::by_name& times = reporter.nanoseconds();
    add_row(name::branch, times, "");
    add_row(name::disabled, times, "");
    add_row(name::disabled_costly, times, "");
    add_row(name::disabled_lazy, times, "");
    add_row(name::timestamp, times, "");
    add_row(name::floor, times, "no reader");
    add_row(name::enabled, times, describe(outcome.enabled));
    add_row(name::dropped, times, describe(outcome.dropped));
    const collecting_reporter::by_name& pairs = reporter.pairs();
    add_ratio_of_pairs("disabled_vs_branch", pairs, name::disabled, 1.1);
    add_ratio_of_pairs("disabled_costly_vs_branch", pairs, name::disabled_costly, 1.1);
    add_ratio_of_pairs("disabled_lazy_vs_branch", pairs, name::disabled_lazy, 1.1);
    add_ratio_of_pairs("enabled_vs_rseq_floor", pairs, name::enabled, 1.25);
    add_ratio("rseq_floor_vs_rdtsc", name::floor, name::timestamp, 0);
    add_ratio("dropped_vs_enabled", name::dropped, name::enabled, 0);
}

void ratio_table::add_row(const char* name, const collecting_reporter::by_name& times,
                          std::string loss) {
    const auto found = times.find(name);
    if (found == times.end()) {
        return;
    }
    std::vector<double> sorted = found->second;
    std::sort(sorted.begin(), sorted.end());
    const double median = quantile(sorted, 0.5);
    const double spread = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / median;
    rows_.push_back({name, median, spread, std::move(loss)});
}

void ratio_table::add_ratio(const char* name, const char* measured, const char* peer,
                            double target) {
    const row* above = find(measured);
    const row* below = find(peer);
    if (above != nullptr && below != nullptr) {
        ratios_.push_back({name, above->median / below->median, target});
    }
}

void ratio_table::add_ratio_of_pairs(const char* name, const collecting_reporter::by_name& pairs,
                                     const char* measured, double target) {
    if (const auto found = pairs.find(measured); found != pairs.end()) {
        std::vector<double> sorted = found->second;
        std::sort(sorted.begin(), sorted.end());
        ratios_.push_back({name, quantile(sorted, 0.5), target});
    }
}

const ratio_table::row* ratio_table::find(const char* name) const {
    for (const row& candidate : rows_) {
        if (std::strcmp(candidate.name, name) == 0) {
            return &candidate;
        }
    }
    return nullptr;
}

void ratio_table::print_ratio(const ratio& result) const {
    fmt::print("{:<25} {:>9.3f}", result.name, result.value);
    if (result.target != 0) {
        fmt::print("   at most {}: {}", result.target,
                   result.value <= result.target ? "met" : "MISSED");
    }
    fmt::print("\n");
}

void ratio_table::print() const {
    fmt::print("{:<25} {:>9}   {:>6}   {}\n", "measured", "median ns", "spread", "lost");
    for (const row& measured : rows_) {
        fmt::print("{:<25} {:>9.3f}   {:>4.1f} %   {}\n", measured.name, measured.median,
                   100 * measured.spread, measured.loss);
    }
    fmt::print("\n{:<25} {:>9}   {}\n", "ratio", "", "target");
    for (const ratio& result : ratios_) {
        print_ratio(result);
    }
    if (too_much_lost_) {
        fmt::print("\n{} has LOST MORE THAN {} % of its events: the reader could not keep up, and "
                   "its ratios say little. Run again on an idle machine.\n",
                   name::enabled, 100 * tolerable_loss);
    }
}

void ratio_table::write_json(const std::string& path) const {
    nlohmann::ordered_json content = nlohmann::ordered_json::object();
    for (const ratio& result : ratios_) {
        content[result.name] = result.value;
    }
    std::ofstream file(path);
    file << content.dump(2) << '\n';
    file.close();
    if (!file) {
        throw failure("The file {} cannot be written. Name another with --json.", path);
    }
}

}  // namespace bench
