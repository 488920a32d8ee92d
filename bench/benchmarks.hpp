// SPDX-License-Identifier: MIT
//
// The benchmarks by name. Google Benchmark runs them; ratio_table.cpp compares them.
#pragma once

#include <cstdint>

#include "listener.hpp"
#include "options.hpp"

namespace bench::name {

inline constexpr const char* branch = "load_test_branch";
inline constexpr const char* timestamp = "rdtsc";
inline constexpr const char* floor = "rseq_floor";
inline constexpr const char* disabled = "emit_disabled";
inline constexpr const char* disabled_costly = "emit_disabled_costly";
inline constexpr const char* disabled_lazy = "emit_disabled_lazy";
inline constexpr const char* enabled = "emit_enabled";
inline constexpr const char* dropped = "emit_dropped";

/// A run's counter: the ratio of its time to that of its peer's run directly before or after it.
inline constexpr const char* ratio_of_pair = "ratio_of_pair";

}  // namespace bench::name

namespace bench {

/// Benchmarks that write no records, without pauses.
void register_loops();

/// Benchmarks that write records, in bursts with pauses in which a listener can catch up.
void register_bursts();

/// Touches all memory that the bursts write to, on their CPU; a part of it if `quick`.
void warm_up_bursts(bool quick);

/// The listener processes of the enabled and of the dropped emit, for the whole run.
class listeners {
  public:
    /// Returns when both are attached. Throws failure.
    listeners(const options& chosen, const std::filesystem::path& directory);

    struct outcome {
        listener_summary enabled;
        listener_summary dropped;
    };
    /// Throws failure if the events that elog recorded and counted as lost are not those emitted.
    [[nodiscard]] outcome stop();

  private:
    listener enabled_;
    listener dropped_;
};

}  // namespace bench
