// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>

/// The main function of a program with random trials: PROGRAM [COUNT [SEED]]. Prints exceptions of
/// `run`.
template <class Run>
int run_trials(int argc, char** argv, std::uint64_t usual_count, const Run& run) {
    const std::uint64_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : usual_count;
    const auto seed = static_cast<std::uint32_t>(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
    try {
        return run(count, seed);
    } catch (const std::exception& problem) {
        std::printf("%s\n", problem.what());
        return 1;
    }
}
