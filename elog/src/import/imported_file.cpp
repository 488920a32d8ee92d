// SPDX-License-Identifier: MIT
#include "import/imported_file.hpp"

#include <algorithm>

namespace elog {
namespace {

using eventlog::tracefs::recorded_machine;

// Used if a file does not state the number of CPUs; higher CPUs share a ring.
constexpr std::uint32_t cpus_usual = 256;

recording_host host_of(const recorded_machine& from) {
    recording_host host;
    host.clock = EVENTLOG_CLOCK_MONOTONIC;
    host.ring_count = ring_count_of(from);
    host.host_name = from.host_name;
    host.kernel = from.kernel;
    host.machine = from.architecture;
    host.recording = generate_identity();
    host.origin = segment_origin::imported;
    return host;
}

}  // namespace

std::uint32_t ring_count_of(const recorded_machine& machine) noexcept {
    return std::min<std::uint32_t>(machine.cpus == 0 ? cpus_usual : machine.cpus,
                                   EVENTLOG_RINGS_MAX - 1) +
           1;
}

imported_file::imported_file(const std::string& path, const recorded_machine& machine)
    : writer_(path, host_of(machine)), coalescer_(ring_count_of(machine)) {}

void imported_file::take_run(const record_run& run) {
    coalescer_.add(run, {}, [this](const record_run& batch) { writer_.write_run(batch); });
}

void imported_file::flush() {
    coalescer_.flush(run_coalescer::clock::time_point::max(),
                     [this](const record_run& batch) { writer_.write_run(batch); });
}

void imported_file::take_loss(const loss_report& loss) {
    flush();
    writer_.write_loss(loss);
}

void imported_file::finish() {
    flush();
    writer_.write_end();
}

}  // namespace elog
