// SPDX-License-Identifier: MIT
#include "kernel/instance.hpp"

#include <fcntl.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "kernel/error.hpp"
#include "kernel/instance_name.hpp"
#include "kernel/kernel_text.hpp"
#include "kernel/libtracefs.h"
#include "platform/process.hpp"

namespace eventlog::tracefs {
namespace {

namespace fs = std::filesystem;

// The second file exists only in kernels with configurable page sizes; otherwise a page is one of
// the machine's.
constexpr const char* buffer_size_file = "buffer_size_kb";
constexpr const char* page_size_file = "buffer_subbuf_size_kb";

constexpr std::chrono::milliseconds settle_time{50};

[[noreturn]] void refuse_instance(const std::string& what, int number) {
    if (number == EACCES || number == EPERM) {
        throw error("The kernel's tracing may not be used: {} is refused. {}.", what, use_root);
    }
    if (number == ENOSPC || number == ENOMEM) {
        throw error("The kernel has no memory for {}: ask for less with --buffer-size.", what);
    }
    throw error("The kernel refuses {}: {}. See what it says about it with: dmesg", what,
                std::strerror(number));
}

tracefs_instance* make(const std::string& name) {
    static_cast<void>(find_tracefs());
    tracefs_instance* const made = eventlog_tracefs_create(name.c_str());
    if (made == nullptr) {
        refuse_instance("an instance of its own", errno);
    }
    return made;
}

/// The names in a folder, as far as it can be read.
std::vector<std::string> names_in(const std::string& folder, std::error_code& mistake) {
    std::vector<std::string> found;
    for (fs::directory_iterator each(folder, mistake), end; !mistake && each != end;
         each.increment(mistake)) {
        found.push_back(each->path().filename());
    }
    return found;
}

/// All threads of the processes, because the kernel filters by threads. A process that has exited
/// has none.
std::vector<std::string> threads_of(const std::vector<std::uint32_t>& pids) {
    std::vector<std::string> all;
    for (const std::uint32_t pid : pids) {
        std::error_code ignored;
        const std::vector<std::string> some = names_in(fmt::format("/proc/{}/task", pid), ignored);
        all.insert(all.end(), some.begin(), some.end());
    }
    std::sort(all.begin(), all.end());
    return all;
}

}  // namespace

instance::instance(const instance_options& options)
    : name_(instance_name(core::current_process())) {
    static_cast<void>(remove_dead_instances());
    handle_ = make(name_);
    try {
        page_size_ = read_page_size();
        set("trace_clock", "mono");
        set(buffer_size_file,
            std::to_string(std::max<std::uint64_t>(options.buffer_size >> 10U, 4)));
        set("options/overwrite", "1");
        if (!options.pids.empty()) {
            set_pids(options.pids);
        }
        open_cpus();
    } catch (...) {
        remove();
        throw;
    }
}

instance::~instance() {
    remove();
}

/// An instance with open files cannot be removed; the next recording removes it.
void instance::remove() noexcept {
    cpus_.clear();
    static_cast<void>(eventlog_tracefs_destroy(handle_));
}

void instance::set(const char* file, const std::string& value) {
    if (eventlog_tracefs_write(handle_, file, value.c_str()) != 0) {
        refuse_instance(fmt::format("{} in {} of its instance", value, file), errno);
    }
}

/// The kernel adds threads that are created later by known ones. A thread may be created between
/// reading the list and writing it, so the list is read again until it is complete.
void instance::set_pids(const std::vector<std::uint32_t>& pids) {
    set("options/event-fork", "1");
    std::vector<std::string> threads = threads_of(pids);
    if (threads.empty()) {
        throw error("None of these processes is running. See which are with: elog list");
    }
    for (;;) {
        set("set_event_pid", fmt::format("{} ", fmt::join(threads, " ")));
        std::vector<std::string> now = threads_of(pids);
        if (std::includes(threads.begin(), threads.end(), now.begin(), now.end())) {
            return;
        }
        threads = std::move(now);
    }
}

std::size_t instance::read_page_size() const {
    if (const std::optional<std::string> text =
            take(eventlog_tracefs_read(handle_, page_size_file))) {
        if (const std::optional<std::uint64_t> size = leading_number(*text); size && *size != 0) {
            return static_cast<std::size_t>(*size) << 10U;
        }
    }
    return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

void instance::check_pages() const {
    if (read_page_size() != page_size_) {
        throw error(
            "Another process has changed the size of the pages in {}/instances/{}; what was in "
            "them is lost. Start again.",
            find_tracefs(), name_);
    }
}

std::string instance::buffer_size() const {
    std::string text = take(eventlog_tracefs_read(handle_, buffer_size_file)).value_or("");
    text.erase(std::find(text.begin(), text.end(), '\n'), text.end());
    return text;
}

void instance::open_cpus() {
    const std::string folder = fmt::format("{}/instances/{}/per_cpu", find_tracefs(), name_);
    std::error_code mistake;
    constexpr std::string_view prefix = "cpu";
    for (const std::string& name : names_in(folder, mistake)) {
        const std::optional<std::uint64_t> cpu =
            name.starts_with(prefix) ? leading_number(name.substr(prefix.size())) : std::nullopt;
        if (!cpu || *cpu > UINT16_MAX) {
            continue;
        }
        cpus_.resize(std::max<std::size_t>(cpus_.size(), *cpu + 1));
        const std::string file = fmt::format("per_cpu/{}/trace_pipe_raw", name);
        const int opened =
            eventlog_tracefs_open(handle_, file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (opened < 0) {
            refuse_instance(file, errno);
        }
        cpus_[*cpu] = core::unique_fd(opened);
    }
    if (mistake) {
        refuse_instance(folder, mistake.value());
    }
}

void instance::enable(const event_name& event) {
    if (!enable_event(handle_, event, true)) {
        if (errno == ENOENT || errno == ENODEV) {
            throw event_gone(event.system, event.event);
        }
        refuse_instance(fmt::format("{}:{}", event.system, event.event), errno);
    }
}

bool instance::filter(const event_name& event, const std::string& condition) {
    return write_event_filter(handle_, event, condition);
}

bool instance::is_enabled(const event_name& event) const {
    return read_event_file(handle_, event, "enable").value_or("").starts_with('1');
}

bool instance::count(const event_name& event, const hist_request& asked) {
    return append_trigger(handle_, event, hist_trigger(asked));
}

bool instance::is_counted(const event_name& event) const {
    return read_event_file(handle_, event, "trigger").value_or("").starts_with("hist:");
}

void instance::pause(const event_name& event, const hist_request& asked) {
    if (!append_trigger(handle_, event, hist_trigger(asked, true))) {
        refuse_instance(fmt::format("the end of the histogram of {}:{}", event.system, event.event),
                        errno);
    }
}

hist_table instance::counts_of(const event_name& event, const hist_request& asked) const {
    const auto read = [&] {
        std::optional<std::string> text = read_event_file(handle_, event, "hist");
        if (!text) {
            refuse_instance(fmt::format("the histogram of {}:{}", event.system, event.event),
                            errno);
        }
        return *std::move(text);
    };
    return read_hist(read, asked);
}

/// Events are recorded with preemption disabled, and membarrier waits for all such sections.
/// Without it, as with nohz_full, a fixed time is waited; recording takes microseconds.
void wait_for_writers() {
    if (::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0U, 0) != 0) {
        std::this_thread::sleep_for(settle_time);
    }
}

void instance::stop() {
    set("tracing_on", "0");
}

bool instance::read_page(std::uint32_t cpu, std::vector<std::uint8_t>& page) {
    if (!cpus_[cpu]) {
        return false;
    }
    page.resize(page_size_);
    for (;;) {
        const ssize_t size = ::read(cpus_[cpu].get(), page.data(), page.size());
        if (size > 0) {
            // The page contains its filled size.
            return true;
        }
        // A CPU that has never been online has a file without a buffer.
        if (size == 0 || errno == EAGAIN || errno == ENODEV) {
            return false;
        }
        if (errno != EINTR) {
            throw error("The kernel's buffer of CPU {} cannot be read: {}. Another process has "
                        "removed the instance {}: start again.",
                        cpu, std::strerror(errno), name_);
        }
    }
}

buffer_counts instance::counts_of(std::uint32_t cpu) const {
    if (!cpus_[cpu]) {
        return {};
    }
    const std::string file = fmt::format("per_cpu/cpu{}/stats", cpu);
    const std::optional<std::string> text = take(eventlog_tracefs_read(handle_, file.c_str()));
    if (!text) {
        throw error("What the kernel has lost on CPU {} cannot be read: {}. Another process has "
                    "removed the instance {}: start again.",
                    cpu, std::strerror(errno), name_);
    }
    // "commit overrun" counts events in interrupts for which there was no page.
    return {find_number(*text, "overrun"),
            find_number(*text, "commit overrun") + find_number(*text, "dropped events")};
}

}  // namespace eventlog::tracefs
