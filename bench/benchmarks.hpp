// SPDX-License-Identifier: MIT
//
// What is measured, by name. Google Benchmark runs it; ratio_table.cpp compares it.
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

/// A run's counter: how much longer it took than its peer's run right in front of it or behind it.
inline constexpr const char* ratio_of_pair = "ratio_of_pair";

}  // namespace bench::name

namespace bench {

/// One after the other without a pause: what does not write anything.
void register_loops();

/// In bursts, with pauses in which a listener can catch up: what writes records.
void register_bursts();

/// Touches all memory that the bursts write to, on the CPU on which they will; some of it if quick.
void warm_up_bursts(bool quick);

/// The processes that listen to the enabled and the dropped emit, from before the first benchmark
/// to behind the last.
class listeners {
  public:
    /// Returns when both listen. Throws failure.
    listeners(const options& chosen, const std::filesystem::path& directory);

    struct outcome {
        listener_summary enabled;
        listener_summary dropped;
    };
    /// Throws failure if elog has not heard, or counted as lost, each event that was emitted.
    [[nodiscard]] outcome stop();

  private:
    listener enabled_;
    listener dropped_;
};

}  // namespace bench
