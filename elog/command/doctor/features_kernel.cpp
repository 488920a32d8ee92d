// SPDX-License-Identifier: MIT
//
// What the kernel has for events that other tools are to hear: tracefs, user_events, our module,
// perf.
#include <fcntl.h>
#include <linux/eventlog_device.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>

#include <fmt/core.h>

#include "bpf/bpf_counter.hpp"
#include "discovery/machine.hpp"
#include "doctor/features.hpp"
#include "kernel/user_events_abi.hpp"
#include "kernel/user_events_device.hpp"
#include "platform/unique_fd.hpp"

namespace elog {
namespace {

namespace core = eventlog::core;

feature find_tracefs_feature(const std::string& place) {
    if (place.empty()) {
        const std::string kinds =
            read_if_possible("/proc/filesystems", std::size_t{1} << 16U).value_or("");
        if (kinds.find("\ttracefs\n") == std::string::npos) {
            return {"tracefs", availability::no, "the kernel has none",
                    "Take a kernel with CONFIG_TRACING."};
        }
        return {"tracefs", availability::no, "not mounted",
                fmt::format("As root: mount -t tracefs tracefs {}", usual_tracefs)};
    }
    if (!is_accessible(place, X_OK)) {
        return {"tracefs", availability::limited, place + ", closed to you",
                "elog doctor has the commands that open it."};
    }
    return {"tracefs", availability::yes, place, {}};
}

feature find_user_events(const core::user_events_device& device, const char* why) {
    if (device.file) {
        if (device.has_status_page) {
            return {"user_events", availability::limited, "page of status bits (before Linux 6.4)",
                    "Take Linux 6.4 or later: there emits that nobody hears cost nothing more."};
        }
        return {"user_events", availability::yes, "words of programs, by ioctl (Linux 6.4)", {}};
    }
    if (device.status == EVENTLOG_NO_KERNEL_SUPPORT) {
        return {"user_events", availability::no, "none that can be used", why};
    }
    return {"user_events", availability::no,
            device.is_support_unknown ? "not to be seen, if there are any" : "closed to you", why};
}

bool reports_enable_words(const core::user_events_device& device) {
    return static_cast<bool>(device.file) && !device.has_status_page;
}

feature find_multi_format(const core::user_events_device& device) {
    if (!reports_enable_words(device)) {
        return {"multi_format", availability::no, "takes user_events of Linux 6.4",
                "See user_events."};
    }
    if (!core::supports_flag(device.file.get(), core::user_events_multi_format)) {
        return {"multi_format", availability::no, "an event has the fields that came first",
                "Take a newer kernel, such as Linux 6.12. Until then programs with other fields "
                "are not heard."};
    }
    return {"multi_format", availability::yes, "versions of an event side by side", {}};
}

feature find_persistence(const core::user_events_device& device) {
    if (!reports_enable_words(device)) {
        return {"persist", availability::no, "takes user_events of Linux 6.4", "See user_events."};
    }
    if (!core::supports_flag(device.file.get(), core::user_events_persist)) {
        return {"persist", availability::no, "events go with their programs",
                "Take Linux 6.7 or later for elog register."};
    }
    if (!has_perfmon()) {
        return {"persist", availability::limited, "takes CAP_PERFMON, which you lack",
                "Run elog register as root."};
    }
    return {"persist", availability::yes, "events may stay without a program", {}};
}

/// As the module judges: see eventlog(4), Who may listen to whom.
feature find_module() {
    const core::unique_fd device(
        ::open(EVENTLOG_DEVICE_PATH, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    const int error = errno;
    if (device && has_perfmon()) {
        return {"module", availability::yes, EVENTLOG_DEVICE_PATH ", for all programs", {}};
    }
    if (device) {
        return {"module", availability::limited, EVENTLOG_DEVICE_PATH ", for your own programs",
                "To hear all programs with elog record --via device, be root."};
    }
    if (error == EACCES || error == EPERM) {
        return {"module", availability::no, EVENTLOG_DEVICE_PATH ", closed to you",
                "Be in the group that owns " EVENTLOG_DEVICE_PATH "; see eventlog(4)."};
    }
    return {"module", availability::no, "the module eventlog is not loaded",
            "As root: modprobe eventlog. To build it, see eventlog(4)."};
}

feature find_perf(const std::string& tracefs) {
    const std::optional<int> level = perf_event_paranoid();
    if (!level) {
        return {"perf", availability::no, "the kernel has no perf events",
                "Take a kernel with CONFIG_PERF_EVENTS."};
    }
    const std::string shown = fmt::format("perf_event_paranoid is {}", *level);
    if (!may_read_through_perf(*level)) {
        return {"perf", *level > 2 ? availability::no : availability::limited,
                shown + ", without CAP_PERFMON",
                "For raw trace events of all programs, as root: sysctl -w "
                "kernel.perf_event_paranoid=-1"};
    }
    if (!may_read_events(tracefs)) {
        return {"perf", availability::limited, shown + ", but tracefs is closed to you",
                "It says which events there are: elog doctor has the commands that open it."};
    }
    return {"perf",
            availability::yes,
            has_perfmon() ? shown + ", and you have CAP_PERFMON" : shown,
            {}};
}

feature find_bpf() {
    using support = eventlog::tracefs::bpf_support;
    switch (eventlog::tracefs::find_bpf_support()) {
        case support::yes:
            return {"bpf", availability::yes, "counts eventlog:* where they happen", {}};
        case support::too_old:
            return {"bpf", availability::no, "does not count what it misses (before Linux 6.7)",
                    "Take Linux 6.7 or later. Until then elog agg counts what histograms of the "
                    "kernel's cannot."};
        case support::not_permitted:
            return {"bpf", availability::no, "takes CAP_BPF and CAP_PERFMON, which you lack",
                    "Run elog agg as root. Otherwise it counts by itself, with the same result."};
        case support::none:
            return {"bpf", availability::no, "the kernel takes no programs",
                    "Take a kernel with CONFIG_BPF_SYSCALL and CONFIG_BPF_EVENTS. Until then elog "
                    "agg counts by itself, with the same result."};
        case support::unclear:
            break;
    }
    return {"bpf", availability::no, fmt::format("not to be had now: {}", std::strerror(errno)),
            "Try again later. Until then elog agg counts by itself, with the same result."};
}

}  // namespace

void find_kernel_features(std::vector<feature>& features) {
    core::error_text why;
    const core::user_events_device device = core::open_user_events(why);
    const std::string tracefs = find_tracefs();
    features.push_back(find_tracefs_feature(tracefs));
    features.push_back(find_user_events(device, why.text()));
    features.push_back(find_multi_format(device));
    features.push_back(find_persistence(device));
    features.push_back(find_module());
    features.push_back(find_perf(tracefs));
    features.push_back(find_bpf());
}

}  // namespace elog
