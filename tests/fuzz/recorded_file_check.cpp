// SPDX-License-Identifier: MIT
#include "recorded_file_check.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <cstring>

#include <fmt/format.h>

#include "base/user_error.hpp"
#include "file/file_check.hpp"
#include "file/file_reader.hpp"
#include "files/recorded_file.hpp"
#include "files/tracing_data.hpp"
#include "fuzz_target.hpp"
#include "import/kernel_imports.hpp"
#include "output/json_lines_writer.hpp"
#include "platform/unique_fd.hpp"

/// Replaces the C library's function, so that runs are reproducible.
extern "C" ssize_t getrandom(void* buffer, std::size_t length, unsigned /*flags*/) {
    std::memset(buffer, 0x5a, length);
    return static_cast<ssize_t>(length);
}

namespace eventlog::test {
namespace {

std::string path_of(const core::unique_fd& file) {
    return fmt::format("/proc/self/fd/{}", file.get());
}

void read_all(const std::string& path) {
    static const core::unique_fd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    elog::file_reader file(path);
    elog::json_lines_writer lines(nowhere.get());
    file.read([&](const elog::merged_record& record) {
        lines.write(record, file.providers(), file.clock(), file.shared_ring());
    });
    lines.finish();
    check(file.damages().empty() && file.end().has_value());
}

}  // namespace

void check_recorded_file(const std::uint8_t* data, std::size_t size) {
    static const core::unique_fd from(::memfd_create("from", MFD_CLOEXEC));
    static const core::unique_fd to(::memfd_create("to", MFD_CLOEXEC));
    check(from && to && ::ftruncate(from.get(), 0) == 0);
    check(::pwrite(from.get(), data, size, 0) == static_cast<ssize_t>(size));
    const auto no_schemas = [] { return std::vector<elog::provider_schema>(); };
    try {
        const tracefs::recorded_file file(path_of(from));
        static_cast<void>(tracefs::is_tracing_data({data, size})
                              ? elog::import_trace_dat(file, path_of(to), no_schemas)
                              : elog::import_perf(file, path_of(to), no_schemas));
    } catch (const elog::user_error&) {
        return;
    }
    read_all(path_of(to));
}

}  // namespace eventlog::test
