// SPDX-License-Identifier: MIT
#include "import/input_recording.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include "base/user_error.hpp"
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

namespace {

/// Prefers other folders to /tmp, which may be in memory.
std::string folder_for_large_files() {
    const char* const wanted = std::getenv("TMPDIR");
    if (wanted != nullptr && *wanted != '\0') {
        return wanted;
    }
    return ::access("/var/tmp", W_OK) == 0 ? "/var/tmp" : "/tmp";
}

}  // namespace

input_recording::input_recording(std::string name, kernel_trace_registry::read_published published)
    : input_recording(name, detect_recorder(name), std::move(published)) {}

input_recording::input_recording(std::string name, recorder by,
                                 kernel_trace_registry::read_published published)
    : name_(std::move(name)), path_(name_) {
    if (by != recorder::elog) {
        import_recording(by, std::move(published));
    }
}

/// For file systems without O_TMPFILE.
void input_recording::open_and_remove() {
    std::string path = folder_ + "/elog-XXXXXX";
    unnamed_ = eventlog::core::unique_fd(::mkostemp(path.data(), O_CLOEXEC));
    if (unnamed_ && ::unlink(path.c_str()) != 0) {
        throw user_error("The file {} cannot be removed ({}), and would stay. Remove it, and set "
                         "TMPDIR to another folder.",
                         path, std::strerror(errno));
    }
}

void input_recording::open_unnamed() {
    folder_ = folder_for_large_files();
    constexpr mode_t ours = 0600;
    unnamed_ =
        eventlog::core::unique_fd(::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, ours));
    if (!unnamed_) {
        open_and_remove();
    }
    if (!unnamed_) {
        throw user_error(
            "To read {}, elog makes an .elog file of it, and cannot make one in {} ({}). "
            "Set TMPDIR to a folder where it may.",
            name_, folder_, std::strerror(errno));
    }
    path_ = fmt::format("/proc/self/fd/{}", unnamed_.get());
    if (::access(path_.c_str(), R_OK | W_OK) != 0) {
        throw user_error("To read {}, elog needs /proc, which is not there. Mount it.", name_);
    }
}

void input_recording::import_recording(recorder by,
                                       kernel_trace_registry::read_published published) {
    open_unnamed();
    const auto no_schemas = [] { return std::vector<provider_schema>(); };
    kernel_trace_registry::read_published known = published ? std::move(published) : no_schemas;
    import_details_ = convert_tracefs_errors([&] {
        const tracefs::recorded_file from(name_);
        return by == recorder::perf ? import_perf(from, path_, std::move(known))
                                    : import_trace_dat(from, path_, std::move(known));
    });
}

}  // namespace elog
