// SPDX-License-Identifier: MIT
//
// eventlog's benchmark: the cost of an event, compared with a limit in the same run.
#include <sched.h>

#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "benchmarks.hpp"
#include "failure.hpp"
#include "options.hpp"
#include "private_run.hpp"
#include "ratio_table.hpp"

namespace bench {
namespace {

/// The measuring thread stays on one CPU, with that CPU's ring; the remaining processes have the
/// other CPUs.
void stay_on_one_cpu() {
    cpu_set_t allowed;
    if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
        return;  // the figures vary slightly more then
    }
    for (std::size_t cpu = CPU_SETSIZE; cpu-- > 0;) {
        if (CPU_ISSET(cpu, &allowed)) {
            CPU_ZERO(&allowed);
            CPU_SET(cpu, &allowed);
            static_cast<void>(::sched_setaffinity(0, sizeof allowed, &allowed));
            return;
        }
    }
}

/// Our options first, because the last of two contradicting ones applies.
void configure_google_benchmark(const options& chosen) {
    std::vector<std::string> words{"eventlog_bench", "--benchmark_enable_random_interleaving=true",
                                   chosen.quick ? "--benchmark_repetitions=9"
                                                : "--benchmark_repetitions=301"};
    words.insert(words.end(), chosen.benchmark.begin(), chosen.benchmark.end());
    std::vector<char*> arguments;
    for (std::string& word : words) {
        arguments.push_back(word.data());
    }
    arguments.push_back(nullptr);
    int count = static_cast<int>(words.size());
    benchmark::Initialize(&count, arguments.data());
    if (count > 1) {
        throw failure("Google Benchmark does not know the option '{}'.", arguments[1]);
    }
}

void measure(const options& chosen, const std::filesystem::path& directory) {
    configure_google_benchmark(chosen);
    register_loops();
    register_bursts();
    listeners audience(chosen, directory);
    stay_on_one_cpu();
    warm_up_bursts(chosen.quick);
    collecting_reporter reporter;
    if (benchmark::RunSpecifiedBenchmarks(&reporter) == 0) {
        throw failure("No benchmark has such a name. See --benchmark_list_tests.");
    }
    const ratio_table table(reporter, audience.stop());
    if (reporter.nanoseconds().empty()) {
        return;  // they were only listed
    }
    table.print();
    if (!chosen.json.empty()) {
        table.write_json(chosen.json);
    }
}

int run(int count, char** words) {
    const options chosen = parse_options(count, words);
    if (chosen.help) {
        print_usage();
        return 0;
    }
    const std::optional<std::filesystem::path> directory = private_directory();
    if (!directory) {
        return run_again_in_private_directory(words);
    }
    measure(chosen, *directory);
    return 0;
}

}  // namespace
}  // namespace bench

int main(int count, char** words) {
    try {
        return bench::run(count, words);
    } catch (const std::exception& error) {
        fmt::print(stderr, "eventlog_bench: {}\n", error.what());
    }
    return 1;
}
