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
            return {"tracefs", offer::no, "the kernel has none",
                    "Take a kernel with CONFIG_TRACING."};
        }
        return {"tracefs", offer::no, "not mounted",
                fmt::format("As root: mount -t tracefs tracefs {}", usual_tracefs)};
    }
    if (!may(place, X_OK)) {
        return {"tracefs", offer::limited, place + ", closed to you",
                "elog doctor has the commands that open it."};
    }
    return {"tracefs", offer::yes, place, {}};
}

feature find_user_events(const core::user_events_device& device, const char* why) {
    if (device.file) {
        if (device.has_page) {
            return {"user_events", offer::limited, "page of status bits (before Linux 6.4)",
                    "Take Linux 6.4 or later: there emits that nobody hears cost nothing more."};
        }
        return {"user_events", offer::yes, "words of programs, by ioctl (Linux 6.4)", {}};
    }
    if (device.status == EVENTLOG_NO_KERNEL_SUPPORT) {
        return {"user_events", offer::no, "none that can be used", why};
    }
    return {"user_events", offer::no,
            device.is_unclear ? "not to be seen, if there are any" : "closed to you", why};
}

bool has_words(const core::user_events_device& device) {
    return static_cast<bool>(device.file) && !device.has_page;
}

feature find_several_formats(const core::user_events_device& device) {
    if (!has_words(device)) {
        return {"multi_format", offer::no, "takes user_events of Linux 6.4", "See user_events."};
    }
    if (!core::knows_flag(device.file.get(), core::user_events_multi_format)) {
        return {"multi_format", offer::no, "an event has the fields that came first",
                "Take a newer kernel, such as Linux 6.12. Until then programs with other fields "
                "are not heard."};
    }
    return {"multi_format", offer::yes, "versions of an event side by side", {}};
}

feature find_persistence(const core::user_events_device& device) {
    if (!has_words(device)) {
        return {"persist", offer::no, "takes user_events of Linux 6.4", "See user_events."};
    }
    if (!core::knows_flag(device.file.get(), core::user_events_persist)) {
        return {"persist", offer::no, "events go with their programs",
                "Take Linux 6.7 or later for elog register."};
    }
    if (!may_monitor()) {
        return {"persist", offer::limited, "takes CAP_PERFMON, which you lack",
                "Run elog register as root."};
    }
    return {"persist", offer::yes, "events may stay without a program", {}};
}

/// As the module judges: see eventlog(4), Who may listen to whom.
feature find_module() {
    const core::unique_fd device(
        ::open(EVENTLOG_DEVICE_PATH, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    const int error = errno;
    if (device && may_monitor()) {
        return {"module", offer::yes, EVENTLOG_DEVICE_PATH ", for all programs", {}};
    }
    if (device) {
        return {"module", offer::limited, EVENTLOG_DEVICE_PATH ", for your own programs",
                "To hear all programs with elog record --via device, be root."};
    }
    if (error == EACCES || error == EPERM) {
        return {"module", offer::no, EVENTLOG_DEVICE_PATH ", closed to you",
                "Be in the group that owns " EVENTLOG_DEVICE_PATH "; see eventlog(4)."};
    }
    return {"module", offer::no, "the module eventlog is not loaded",
            "As root: modprobe eventlog. To build it, see eventlog(4)."};
}

feature find_perf(const std::string& tracefs) {
    const std::optional<int> level = perf_event_paranoid();
    if (!level) {
        return {"perf", offer::no, "the kernel has no perf events",
                "Take a kernel with CONFIG_PERF_EVENTS."};
    }
    const std::string shown = fmt::format("perf_event_paranoid is {}", *level);
    if (!may_read_through_perf(*level)) {
        return {"perf", *level > 2 ? offer::no : offer::limited, shown + ", without CAP_PERFMON",
                "For raw trace events of all programs, as root: sysctl -w "
                "kernel.perf_event_paranoid=-1"};
    }
    if (!may_read_events(tracefs)) {
        return {"perf", offer::limited, shown + ", but tracefs is closed to you",
                "It says which events there are: elog doctor has the commands that open it."};
    }
    return {"perf", offer::yes, may_monitor() ? shown + ", and you have CAP_PERFMON" : shown, {}};
}

feature find_bpf() {
    using support = eventlog::tracefs::bpf_support;
    switch (eventlog::tracefs::find_bpf_support()) {
        case support::yes:
            return {"bpf", offer::yes, "counts eventlog:* where they happen", {}};
        case support::too_old:
            return {"bpf", offer::no, "does not count what it misses (before Linux 6.7)",
                    "Take Linux 6.7 or later. Until then elog agg counts what histograms of the "
                    "kernel's cannot."};
        case support::not_permitted:
            return {"bpf", offer::no, "takes CAP_BPF and CAP_PERFMON, which you lack",
                    "Run elog agg as root. Otherwise it counts by itself, with the same result."};
        case support::none:
            return {"bpf", offer::no, "the kernel takes no programs",
                    "Take a kernel with CONFIG_BPF_SYSCALL and CONFIG_BPF_EVENTS. Until then elog "
                    "agg counts by itself, with the same result."};
        case support::unclear:
            break;
    }
    return {"bpf", offer::no, fmt::format("not to be had now: {}", std::strerror(errno)),
            "Try again later. Until then elog agg counts by itself, with the same result."};
}

}  // namespace

void find_kernel_features(std::vector<feature>& features) {
    core::error_text why;
    const core::user_events_device device = core::open_user_events(why);
    const std::string tracefs = find_tracefs();
    features.push_back(find_tracefs_feature(tracefs));
    features.push_back(find_user_events(device, why.text()));
    features.push_back(find_several_formats(device));
    features.push_back(find_persistence(device));
    features.push_back(find_module());
    features.push_back(find_perf(tracefs));
    features.push_back(find_bpf());
}

}  // namespace elog
