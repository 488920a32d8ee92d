// SPDX-License-Identifier: MIT
#include "kmod/device_subscription.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include <fmt/core.h>

#include "base/poll_for.hpp"
#include "base/user_error.hpp"
#include "platform/error_text.hpp"
#include "ring/clock.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;

// The kernel allocates memory for the part in use.
constexpr std::uint64_t module_schemas_size = std::uint64_t{16} << 20U;
// Bytes of one read: many of the largest records.
constexpr std::size_t device_read_size = std::size_t{1} << 20U;

// Bound for programs that start again and again.
constexpr std::size_t provider_diagnostics_max = 20;

bool is_missing_device(int error) noexcept {
    return error == ENOENT || error == ENXIO || error == ENODEV;
}

[[noreturn]] void throw_open_error(int error) {
    if (error == EACCES || error == EPERM) {
        throw user_error("{} is not permitted to you: be root, or in the group that it belongs to "
                         "(see ls -l {}).",
                         EVENTLOG_DEVICE_PATH, EVENTLOG_DEVICE_PATH);
    }
    if (error == EMFILE) {
        throw user_error(
            "{} has as many open files as it allows this user, or this process has: see "
            "files_per_user and files_max in {}, and ulimit -n.",
            EVENTLOG_DEVICE_PATH, module_parameters);
    }
    throw_if_not_loaded(EVENTLOG_DEVICE_PATH, error);
    if (is_missing_device(error)) {
        throw user_error("The kernel module eventlog is loaded, and {} is not here ({}), as in "
                         "containers. Listen outside, or via memory.",
                         EVENTLOG_DEVICE_PATH, std::strerror(error));
    }
    throw user_error("{} cannot be opened ({}). Try again, or listen via memory.",
                     EVENTLOG_DEVICE_PATH, std::strerror(error));
}

core::unique_fd open_device() {
    core::unique_fd file(
        ::open(EVENTLOG_DEVICE_PATH, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (!file) {
        throw_open_error(errno);
    }
    return file;
}

[[noreturn]] void throw_subscribe_error(int error) {
    if (error == EMFILE || error == ENOMEM) {
        throw user_error(
            "The kernel module has no room for these buffers, or for one more recording "
            "({}). Ask for less with --buffer-size, or see subscriptions_per_user and "
            "ring_pages_per_user in {}.",
            std::strerror(error), module_parameters);
    }
    throw user_error(
        "{} takes no subscription ({}): it is of another version of the kernel module. "
        "Load the one that belongs to this elog.",
        EVENTLOG_DEVICE_PATH, std::strerror(error));
}

}  // namespace

void throw_if_not_loaded(const char* path, int error) {
    if (is_missing_device(error) && ::access(module_parameters, F_OK) != 0) {
        throw user_error("{} cannot be opened ({}): the kernel module eventlog is not loaded. Load "
                         "it, as root, with: modprobe eventlog. Or listen via memory.",
                         path, std::strerror(error));
    }
}

device_subscription::device_subscription(const subscription_options& options)
    : request_(effective_patterns(options)), file_(open_device()), bytes_(device_read_size) {
    subscribe(request_of(options));
    map();
}

device_subscription::device_subscription(const subscription_options& options, int relay)
    : request_(effective_patterns(options)), file_(open_device()), bytes_(device_read_size) {
    eventlog_subscription_request wanted = request_of(options);
    // The rings get no memory; overwriting is an option of the channel.
    wanted.features = 0;
    wanted.buffer_count = 2;
    wanted.buffer_size = EVENTLOG_BUFFER_SIZE_MIN;
    wanted.flags |= EVENTLOG_TO_RELAY;
    wanted.relay = relay;
    subscribe(wanted);
    map();
}

device_subscription::~device_subscription() {
    if (tables_ != nullptr) {
        static_cast<void>(::munmap(tables_, tables_size_));
    }
}

eventlog_subscription_request device_subscription::request_of(
    const subscription_options& options) const {
    eventlog_subscription_request wanted{};
    wanted.size = sizeof wanted;
    wanted.features = options.overwrite ? EVENTLOG_FEATURE_OVERWRITE : 0;
    wanted.clock = EVENTLOG_CLOCK_MONOTONIC;
    wanted.buffer_count = options.buffers_per_cpu;
    wanted.buffer_size = static_cast<std::uint32_t>(buffer_size_of(options));
    wanted.rule_count = static_cast<std::uint32_t>(request_.rules.size());
    wanted.rules = reinterpret_cast<std::uintptr_t>(request_.rules.data());
    wanted.session_count = static_cast<std::uint32_t>(request_.sessions.size());
    wanted.sessions = reinterpret_cast<std::uintptr_t>(request_.sessions.data());
    wanted.process_count = static_cast<std::uint32_t>(request_.processes.size());
    wanted.processes = reinterpret_cast<std::uintptr_t>(request_.processes.data());
    wanted.schemas_size = module_schemas_size;
    wanted.flags = EVENTLOG_WAKE_AT_SWITCH | (options.exclude_self ? EVENTLOG_EXCLUDE_READER : 0U);
    return wanted;
}

void device_subscription::subscribe(eventlog_subscription_request wanted) {
    if (::ioctl(file_.get(), EVENTLOG_SUBSCRIBE, &wanted) != 0) {
        throw_subscribe_error(errno);
    }
    total_size_ = wanted.total_size;
}

/// Maps only the tables in front of the buffers, which are read with read(2).
void device_subscription::map() {
    core::error_text error;
    void* const head = ::mmap(nullptr, sizeof header_, PROT_READ, MAP_SHARED, file_.get(), 0);
    if (head == MAP_FAILED) {
        throw_subscribe_error(errno);
    }
    std::memcpy(&header_, head, sizeof header_);
    static_cast<void>(::munmap(head, sizeof header_));
    if (!core::check_region(header_, total_size_, geometry_, error)) {
        throw user_error("What the kernel module has made is no subscription of this version: {}",
                         error.text().c_str());
    }
    tables_size_ = static_cast<std::size_t>(geometry_.buffers_offset);
    void* const tables = ::mmap(nullptr, tables_size_, PROT_READ, MAP_SHARED, file_.get(), 0);
    if (tables == MAP_FAILED) {
        throw_subscribe_error(errno);
    }
    tables_ = tables;
}

std::span<const std::uint8_t> device_subscription::read() {
    while (true) {
        const ssize_t got = ::read(file_.get(), bytes_.data(), bytes_.size());
        if (got >= 0) {
            return {bytes_.data(), static_cast<std::size_t>(got)};
        }
        if (errno == EAGAIN) {
            return {};
        }
        if (errno != EINTR) {
            throw user_error("{} cannot be read ({}). Start the recording again.",
                             EVENTLOG_DEVICE_PATH, std::strerror(errno));
        }
    }
}

void device_subscription::end() noexcept {
    // The result does not matter: recorded data can be read in any case.
    static_cast<void>(::ioctl(file_.get(), EVENTLOG_STOP));
}

eventlog_statistics device_subscription::count(std::uint32_t ring) const {
    eventlog_statistics counts{};
    int result = 0;
    do {
        counts = {};
        counts.size = sizeof counts;
        counts.ring = ring;
        result = ::ioctl(file_.get(), EVENTLOG_STATISTICS, &counts);
    } while (result != 0 && errno == EINTR);
    if (result != 0) {
        throw user_error("{} does not report its losses ({}). Start the recording again.",
                         EVENTLOG_DEVICE_PATH, std::strerror(errno));
    }
    return counts;
}

std::vector<eventlog_statistics> device_subscription::counts() const {
    std::vector<eventlog_statistics> counts;
    for (std::uint32_t ring = 0; ring + 1 < geometry_.ring_count; ++ring) {
        counts.push_back(count(ring));
    }
    return counts;
}

bool device_subscription::wait(std::chrono::nanoseconds at_most) {
    pollfd wanted{file_.get(), POLLIN, 0};
    return poll_for({&wanted, 1}, at_most) > 0;
}

void device_subscription::take_provider_at(std::uint32_t index, const provider_handler& take) {
    eventlog_provider_entry entry{};
    const std::uint64_t place = geometry_.providers_offset + std::uint64_t{index} * sizeof entry;
    std::memcpy(&entry, at(place), sizeof entry);
    std::string process(&entry.process[0], ::strnlen(&entry.process[0], sizeof entry.process));
    try {
        if (entry.schema_offset < geometry_.schemas_offset ||
            entry.schema_offset > geometry_.buffers_offset ||
            geometry_.buffers_offset - entry.schema_offset < entry.schema_size) {
            throw user_error("it is not where schemas are");
        }
        take({static_cast<std::uint32_t>(index), entry.pid, entry.uid, process,
              provider_schema::parse({at(entry.schema_offset), entry.schema_size}),
              entry.start_time, entry.parent, entry.event_base});
    } catch (const user_error& mistake) {
        add_diagnostic(fmt::format(
            "The schema of a provider of {} (process {}) makes no sense, so its events are shown "
            "without names: {}",
            process, entry.pid, mistake.what()));
    }
}

void device_subscription::add_diagnostic(std::string sentence) {
    if (diagnostic_count_ < provider_diagnostics_max) {
        diagnostics_.push_back(std::move(sentence));
    } else if (diagnostic_count_ == provider_diagnostics_max) {
        diagnostics_.emplace_back("More schemas are invalid and not reported.");
    }
    diagnostic_count_ += diagnostic_count_ <= provider_diagnostics_max ? 1 : 0;
}

void device_subscription::read_new_providers(const provider_handler& take) {
    auto* const region = static_cast<eventlog_region*>(tables_);
    auto* const entries =
        reinterpret_cast<eventlog_provider_entry*>(at(geometry_.providers_offset));
    const std::uint32_t count = std::min<std::uint32_t>(
        core::shared(region->provider_count).load(std::memory_order_acquire),
        EVENTLOG_PROVIDERS_MAX);
    for (; providers_seen_ < count; ++providers_seen_) {
        // Acquire: the rest of the entry is complete when this state is read.
        if (core::shared(entries[providers_seen_].state).load(std::memory_order_acquire) !=
            EVENTLOG_PROVIDER_READY) {
            return;
        }
        take_provider_at(providers_seen_, take);
    }
}

std::uint32_t device_subscription::providers_refused() const noexcept {
    auto* const region = static_cast<eventlog_region*>(tables_);
    return core::shared(region->providers_refused).load(std::memory_order_relaxed);
}

}  // namespace elog
