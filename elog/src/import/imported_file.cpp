// SPDX-License-Identifier: MIT
#include "import/imported_file.hpp"

#include <algorithm>

namespace elog {
namespace {

// Used if a file does not state the number of CPUs; higher CPUs share a ring.
constexpr std::uint32_t cpus_usual = 256;

host_block host_of(const recorded_host& from) {
    host_block host{};
    host.clock = EVENTLOG_CLOCK_MONOTONIC;
    host.ring_count = from.ring_count();
    copy_text(host.host_name, from.name);
    copy_text(host.kernel, from.kernel);
    copy_text(host.machine, from.machine);
    host.recording = generate_identity();
    host.version = file_version;
    return host;
}

}  // namespace

std::uint32_t recorded_host::ring_count() const noexcept {
    return std::min<std::uint32_t>(cpus == 0 ? cpus_usual : cpus, EVENTLOG_RINGS_MAX - 1) + 1;
}

imported_file::imported_file(const std::string& path, const recorded_host& host)
    : writer_(path, host_of(host)), coalescer_(host.ring_count()) {}

void imported_file::take_run(const record_run& run) {
    coalescer_.add(run, {}, [this](const record_run& batch) { writer_.write_run(batch); });
}

void imported_file::flush() {
    coalescer_.flush(run_coalescer::clock::time_point::max(),
                     [this](const record_run& batch) { writer_.write_run(batch); });
}

void imported_file::take_loss(const loss_block& loss) {
    flush();
    writer_.write_loss(loss);
}

void imported_file::finish() {
    flush();
    writer_.write_end();
}

}  // namespace elog
