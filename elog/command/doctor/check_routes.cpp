// SPDX-License-Identifier: MIT
//
// Checks of other routes through the kernel: the kernel module, perf and BPF.
#include <fcntl.h>
#include <linux/eventlog_device.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/core.h>

#include "bpf/bpf_counter.hpp"
#include "doctor/check.hpp"
#include "platform/unique_fd.hpp"

namespace elog::doctor {

/// The rules of the module are in eventlog(4).
check_result check_module(const machine_facts& /*machine*/) {
    const eventlog::core::unique_fd device(
        ::open(EVENTLOG_DEVICE_PATH, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    const int error = errno;
    if (device && has_perfmon()) {
        return {good, EVENTLOG_DEVICE_PATH ", for all programs"};
    }
    if (device) {
        return {limited, EVENTLOG_DEVICE_PATH ", for your own programs",
                "To record all programs with elog record --via device, be root."};
    }
    if (error == EACCES || error == EPERM) {
        return {missing, EVENTLOG_DEVICE_PATH ", closed to you",
                "Be in the group that owns " EVENTLOG_DEVICE_PATH "; see eventlog(4)."};
    }
    return {missing, "the module eventlog is not loaded",
            "As root: modprobe eventlog. To build it, see eventlog(4)."};
}

check_result check_perf(const machine_facts& machine) {
    const std::optional<int> level = perf_event_paranoid();
    if (!level) {
        return {
            {limited, "The kernel has no perf events, for elog record --via perf."},
            {missing, "the kernel has no perf events", "Use a kernel with CONFIG_PERF_EVENTS."}};
    }
    const std::string shown = fmt::format("perf_event_paranoid is {}", *level);
    if (!may_read_through_perf(*level)) {
        return {{limited,
                 fmt::format("You may not record via perf: {}, and you lack CAP_PERFMON.", shown),
                 "sysctl -w kernel.perf_event_paranoid=-1", true},
                {*level > 2 ? missing : limited, shown + ", without CAP_PERFMON",
                 "For raw trace events of all programs, as root: sysctl -w "
                 "kernel.perf_event_paranoid=-1"}};
    }
    finding feature{limited, shown + ", but tracefs is closed to you",
                    "tracefs lists the events: elog doctor names the commands that open it."};
    if (machine.tracefs.empty()) {
        return {{limited,
                 "You may record via perf when tracefs is mounted, which lists the events.",
                 fmt::format("mount -t tracefs tracefs {}", usual_tracefs), true},
                std::move(feature)};
    }
    if (!may_read_events(machine.tracefs)) {
        return {{limited, "You may record via perf, but not list the events in tracefs.",
                 fmt::format("chmod o+x {0} && chmod -R o+rX {0}/events", machine.tracefs), true},
                std::move(feature)};
    }
    return {{good, "You may record via perf: elog record --via perf."},
            {good, has_perfmon() ? shown + ", and you have CAP_PERFMON" : shown}};
}

check_result check_bpf(const machine_facts& /*machine*/) {
    using support = eventlog::tracefs::bpf_support;
    switch (eventlog::tracefs::find_bpf_support()) {
        case support::yes:
            return {good, "aggregates eventlog:* in the kernel"};
        case support::too_old:
            return {missing, "does not count missed events (before Linux 6.7)",
                    "Use Linux 6.7 or later. Until then elog agg counts what the kernel's "
                    "histograms cannot."};
        case support::not_permitted:
            return {missing, "needs CAP_BPF and CAP_PERFMON, which you lack",
                    "Run elog agg as root. Otherwise it counts by itself, with the same result."};
        case support::none:
            return {missing, "the kernel has no BPF for trace events",
                    "Use a kernel with CONFIG_BPF_SYSCALL and CONFIG_BPF_EVENTS. Until then elog "
                    "agg counts by itself, with the same result."};
        case support::unclear:
            break;
    }
    return {missing, fmt::format("not available now: {}", std::strerror(errno)),
            "Try again later. Until then elog agg counts by itself, with the same result."};
}

}  // namespace elog::doctor
