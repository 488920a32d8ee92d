// SPDX-License-Identifier: MIT
//
// Converts the runs that Google Benchmark reports to medians, ratios and losses.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "benchmarks.hpp"

namespace bench {

/// Collects the times of all repetitions and prints nothing; the table follows at the end.
class collecting_reporter : public benchmark::BenchmarkReporter {
  public:
    bool ReportContext(const Context& context) override;
    void ReportRuns(const std::vector<Run>& runs) override;

    using by_name = std::map<std::string, std::vector<double>>;

    [[nodiscard]] const by_name& nanoseconds() const noexcept { return nanoseconds_; }
    /// The ratios of benchmarks that ran together with their peers, by name.
    [[nodiscard]] const by_name& pairs() const noexcept { return pairs_; }

  private:
    by_name nanoseconds_;
    by_name pairs_;
};

class ratio_table {
  public:
    ratio_table(const collecting_reporter& reporter, const listeners::outcome& outcome);

    void print() const;

    /// Throws failure.
    void write_json(const std::string& path) const;

  private:
    struct row {
        const char* name;
        double median;
        double spread;  // distance of the quartiles, relative to the median
        std::string loss;
    };
    struct ratio {
        const char* name;
        double value;
        double target;  // at most; 0: none
    };

    void add_row(const char* name, const collecting_reporter::by_name& times, std::string loss);
    void add_ratio(const char* name, const char* measured, const char* peer, double target);
    void add_ratio_of_pairs(const char* name, const collecting_reporter::by_name& pairs,
                            const char* measured, double target);
    [[nodiscard]] const row* find(const char* name) const;
    void print_ratio(const ratio& result) const;

    std::vector<row> rows_;
    std::vector<ratio> ratios_;
    bool too_much_lost_ = false;
};

}  // namespace bench
