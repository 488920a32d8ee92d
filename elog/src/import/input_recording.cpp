// SPDX-License-Identifier: MIT
#include "import/input_recording.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <span>
#include <utility>

#include "files/perf_file.hpp"
#include "files/tracing_data.hpp"
#include "import/kernel_imports.hpp"
#include "tracing/kernel_trace_error.hpp"

namespace elog {
namespace {

namespace tracefs = eventlog::tracefs;

}  // namespace

recorder detect_recorder(const std::string& path) {
    std::array<std::uint8_t, 16> start{};
    const eventlog::core::unique_fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
        return recorder::elog;
    }
    const ssize_t size = ::pread(file.get(), start.data(), start.size(), 0);
    const auto bytes = std::span(start).first(size < 0 ? 0 : static_cast<std::size_t>(size));
    if (tracefs::is_perf_data(bytes)) {
        return recorder::perf;
    }
    return tracefs::is_tracing_data(bytes) ? recorder::trace_cmd : recorder::elog;
}

input_recording::input_recording(std::string name, kernel_trace_registry::read_published published,
                                 pipe_copy extent)
    : source_(std::move(name), extent) {
    import_recording(detect_recorder(source_.path()), std::move(published));
}

input_recording::input_recording(seekable_input source, recorder by,
                                 kernel_trace_registry::read_published published)
    : source_(std::move(source)) {
    import_recording(by, std::move(published));
}

void input_recording::import_recording(recorder by,
                                       kernel_trace_registry::read_published published) {
    if (by == recorder::elog) {
        return;
    }
    imported_.emplace("To read " + source_.name());
    const auto no_schemas = [] { return std::vector<provider_schema>(); };
    kernel_trace_registry::read_published known = published ? std::move(published) : no_schemas;
    import_details_ = convert_tracefs_errors([&] {
        const tracefs::recorded_file from(source_.path());
        const std::string& to = imported_->path();
        return by == recorder::perf ? import_perf(from, to, std::move(known))
                                    : import_trace_dat(from, to, std::move(known));
    });
}

}  // namespace elog
